"""Ways out of the sandbox, and around it, that code in it takes and that once were open."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import pytest
from exploracoder_kernel import run, sandbox
from exploracoder_kernel.run_limits import Limits
from exploracoder_kernel.sidecar import Sidecar

from .files import following_processes
from .snippet import Strategy, Variant
from .test_snippets import VARIANTS, require

BRANCHES = 50
FOLDERS = 300
ALLOWED_SECONDS = 30.0  # what hangs in a fork ran twice under each limit
LIMITS = Limits(wall_seconds=5)

# Every folder around those of a branch becomes a link to the user's.
TURN_INTO_LINKS = """
import os
named = [os.environ.get("HOME"), os.environ.get("TMPDIR"), os.getcwd(), "/dev/shm"]
for path in filter(None, named):
    folders = [path]
    while "exploracoder-" in os.path.dirname(path):
        path = os.path.dirname(path)
        folders.append(path)
    for folder in folders:
        try:
            names = os.listdir(folder)
        except OSError:
            continue
        for name in names:
            inner = os.path.join(folder, name)
            if os.path.isdir(inner) and not os.path.islink(inner):
                try:
                    os.rename(inner, inner + "-moved")
                    os.symlink(VICTIMS, inner)
                except OSError:
                    pass
"""

WAITING = {
    "it sleeps": "import time\ntime.sleep(60)",
    "it waits for a lock": (
        "import threading\nlock = threading.Lock()\nlock.acquire(), lock.acquire()"
    ),
    "it sleeps with all signals held back": (
        "import signal, time\n"
        "signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())\ntime.sleep(60)"
    ),
    "it sleeps and does not hear": (
        "import signal, time\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\n"
        "signal.signal(signal.SIGALRM, signal.SIG_IGN)\ntime.sleep(60)"
    ),
    "it waits for a child": "import subprocess\nsubprocess.run(['sleep', '60'])",
}

SAY_FINISHED = """
import gc, time
owner = next(one for one in gc.get_objects() if type(one).__name__ == "Owner")
for _ in range(100):
    owner.tell({"finished": True})
    time.sleep(0.1)
"""


def opened(variant: Variant, strategy: Strategy, task: Path) -> Sidecar:
    require(variant)
    choice = sandbox.choose(
        variant.level, python=sys.executable, cwd=task, mechanisms=(variant.mechanism,)
    )
    return Sidecar(cwd=task, launcher=choice.launcher, strategy=strategy)


@pytest.mark.parametrize("variant", VARIANTS, ids=str)
@pytest.mark.parametrize("strategy", ["fork", "replay"])
async def test_folders_with_the_numbers_of_branches_are_left_alone(
    tmp_path: Path, variant: Variant, strategy: Strategy
) -> None:
    victims, task = tmp_path / "victims", tmp_path / "task"
    victims.mkdir()
    task.mkdir()
    async with opened(variant, strategy, task) as sidecar:
        await sidecar.run(sidecar.root, f"VICTIMS = {str(victims)!r}")
        attacker = await sidecar.fork(sidecar.root)
        await sidecar.run(attacker, TURN_INTO_LINKS)
        pids = following_processes(FOLDERS)
        numbers = range(2, FOLDERS + 2) if variant.mechanism == "bubblewrap" else pids
        for number in numbers:
            (victims / str(number)).mkdir()
        await sidecar.drop(attacker)
        for _ in range(BRANCHES):
            branch = await sidecar.fork(sidecar.root)
            await sidecar.run(branch, TURN_INTO_LINKS)
            await sidecar.drop(branch)

    assert sum((victims / str(number)).is_dir() for number in numbers) == FOLDERS


@pytest.mark.parametrize("variant", VARIANTS, ids=str)
async def test_a_limit_of_time_means_what_it_says(tmp_path: Path, variant: Variant) -> None:
    durations = {}
    async with opened(variant, variant.strategy, tmp_path) as sidecar:
        for name, code in WAITING.items():
            branch = await sidecar.fork(sidecar.root)
            start = time.monotonic()
            await sidecar.run(branch, code, LIMITS)
            durations[name] = time.monotonic() - start
            await sidecar.drop(branch)

    assert {name: seconds for name, seconds in durations.items() if seconds > ALLOWED_SECONDS} == {}


async def test_a_snippet_that_says_to_have_finished_gains_time_only_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run, "_DESCRIBE_SECONDS", 1.0)
    async with opened(VARIANTS[0], VARIANTS[0].strategy, tmp_path) as sidecar:
        observation = await sidecar.run(sidecar.root, SAY_FINISHED, LIMITS)

    assert observation.status == "timeout"
