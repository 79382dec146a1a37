"""Ways out that code in the sandbox takes."""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Callable, Coroutine
from pathlib import Path

from exploracoder_kernel import sandbox
from exploracoder_kernel.limits import Limits
from exploracoder_kernel.sidecar import Sidecar

from exploracoder_bench import hostile_snippets
from exploracoder_bench.hostile_files import following_processes
from exploracoder_bench.hostile_session import HostileSession
from exploracoder_bench.hostile_snippets import Variant

_BRANCHES = 50
_FOLDERS = 300
_ALLOWED_SECONDS = 10.0  # what hangs in a fork ran twice under each limit
_LIMIT_SECONDS = 5.0

# Every folder around those of a branch becomes a link to the user's.
_TURN_INTO_LINKS = """
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

_WAITING = {
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


async def renames(variant: Variant, folder: Path) -> list[str]:
    """The user's folders with the numbers of branches, once branches have been made and ended."""
    victims, task = folder / "victims", folder / "task"
    for path in (victims, task):
        path.mkdir(parents=True)
    async with _opened(variant, task) as sidecar:
        await sidecar.run(sidecar.root, f"VICTIMS = {str(victims)!r}")
        attacker = await sidecar.fork(sidecar.root)
        await sidecar.run(attacker, _TURN_INTO_LINKS)
        started = following_processes(_FOLDERS)
        numbers = range(2, _FOLDERS + 2) if variant.mechanism == "bubblewrap" else started
        for number in numbers:
            (victims / str(number)).mkdir()
        await sidecar.drop(attacker)
        for _ in range(_BRANCHES):
            branch = await sidecar.fork(sidecar.root)
            await sidecar.run(branch, _TURN_INTO_LINKS)
            await sidecar.drop(branch)
    there = sum((victims / str(number)).is_dir() for number in numbers)
    return [] if there == _FOLDERS else [f"{there} of {_FOLDERS} folders of the user's are there"]


async def time_limit(variant: Variant, folder: Path) -> list[str]:
    """A limit of some seconds, for snippets that wait in different ways."""
    task = folder / "task"
    task.mkdir(parents=True)
    found = []
    async with _opened(variant, task) as sidecar:
        for name, code in _WAITING.items():
            branch = await sidecar.fork(sidecar.root)
            started = time.monotonic()
            await sidecar.run(branch, code, Limits(wall_seconds=_LIMIT_SECONDS))
            seconds = time.monotonic() - started
            await sidecar.drop(branch)
            if seconds > _ALLOWED_SECONDS:
                found.append(f"{name}: a limit of {_LIMIT_SECONDS:.0f} s ended after {seconds:.1f}")
    return found


def snippets(*families: str) -> Callable[[Variant, Path], Coroutine[None, None, list[str]]]:
    """An escape whose attacks are the snippets of some families, and whose harm is what they do."""

    async def play(variant: Variant, folder: Path) -> list[str]:
        os.makedirs(folder)  # noqa: PTH103  # nobody waits for this program
        before, tempfile.tempdir = tempfile.tempdir, str(folder)
        found: list[str] = []
        try:
            for snippet in hostile_snippets.read(variant=variant):
                if snippet.family not in families:
                    continue
                session = HostileSession(variant)
                async with session:
                    outcome = await session.attack(snippet)
                    harm = await session.harm()
                harm += [text for text in outcome.differences if text.startswith("result ")]
                harm += [f"left behind: {name}" for name in session.left_behind]
                found += [f"{snippet.name}: {' '.join(text.split())}" for text in harm]
        finally:
            tempfile.tempdir = before
        return found

    return play


def _opened(variant: Variant, task: Path) -> Sidecar:
    chosen = sandbox.choose(
        variant.level, python=sys.executable, cwd=task, mechanisms=(variant.mechanism,)
    )
    return Sidecar(cwd=task, launcher=chosen.launcher, strategy=variant.strategy)
