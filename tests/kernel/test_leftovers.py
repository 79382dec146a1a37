"""Nothing stays: no process, no temporary file, however a sidecar ends; and no secret goes in."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from exploracoder_kernel.environment import clean_environment
from exploracoder_kernel.launch_command import Launcher
from exploracoder_kernel.observation import Observation
from exploracoder_kernel.sidecar import Sidecar
from waiting import wait_until

IsAlive = Callable[[int], bool]

BUSY = "import os, subprocess, sys, time\nown = subprocess.Popen(['sleep', '60'])\n"

OWNER = """
import asyncio, sys
from exploracoder_kernel.sidecar import Sidecar

async def main():
    async with Sidecar() as sidecar:
        child = await sidecar.fork(sidecar.root)
        for branch in (sidecar.root, child):
            seen = await sidecar.run(branch, '''
import os, subprocess, tempfile
daemon = subprocess.Popen(["sh", "-c", "sleep 60 & echo $!"], stdout=-1, start_new_session=True)
print(os.getpid(), os.getppid(), daemon.stdout.readline().decode().strip())
where = tempfile.gettempdir()
where''')
            print(seen.stdout.strip(), flush=True)
        print(seen.result, flush=True)
        await sidecar.run(child, "while True: pass")

asyncio.run(main())
"""


async def test_an_owner_may_have_more_files_than_select_can_take(
    tmp_path: Path, launcher: Launcher
) -> None:
    files = [os.open(os.devnull, os.O_RDONLY) for _ in range(1100)]
    try:
        async with Sidecar(cwd=tmp_path, launcher=launcher) as sidecar:
            child = await sidecar.fork(sidecar.root)
            assert (await sidecar.run(child, "1 + 1")).result == "2"
    finally:
        for file in files:
            os.close(file)


async def test_leaving_ends_all_processes_and_removes_the_scratch_folder(
    tmp_path: Path, launcher: Launcher, pid_is_alive: IsAlive
) -> None:
    async with Sidecar(cwd=tmp_path, launcher=launcher) as sidecar:
        child = await sidecar.fork(sidecar.root)
        observation = await sidecar.run(
            child,
            f"{BUSY}import tempfile\nprint(os.getpid(), os.getppid(), own.pid)\n"
            "tempfile.mkstemp()[1]",
        )

    assert not any(pid_is_alive(int(pid)) for pid in observation.stdout.split())
    assert observation.result is not None
    assert not os.path.exists(observation.result.strip("'"))  # noqa: ASYNC240  # nothing waits


async def test_cancelling_in_the_middle_leaves_nothing(
    tmp_path: Path, launcher: Launcher, pid_is_alive: IsAlive
) -> None:
    tasks = asyncio.all_tasks()
    observation: asyncio.Future[Observation] = asyncio.get_running_loop().create_future()

    async def work() -> None:
        async with Sidecar(cwd=tmp_path, launcher=launcher) as sidecar:
            child = await sidecar.fork(sidecar.root)
            snippet = f"{BUSY}print(os.getpid(), os.getppid(), own.pid)"
            observation.set_result(await sidecar.run(child, snippet))
            await sidecar.run(child, "time.sleep(60)")

    working = asyncio.create_task(work())
    pids = (await observation).stdout.split()
    await asyncio.sleep(0.1)

    working.cancel()
    with pytest.raises(asyncio.CancelledError):
        await working

    assert not any(pid_is_alive(int(pid)) for pid in pids)
    assert asyncio.all_tasks() == tasks


@pytest.mark.parametrize("delay", [0.0, 0.01, 0.05, 0.1])
async def test_cancelling_while_it_starts_leaves_nothing(
    tmp_path: Path, launcher: Launcher, delay: float
) -> None:
    async def work() -> None:
        async with Sidecar(cwd=tmp_path, env={"MARK": str(tmp_path)}, launcher=launcher):
            await asyncio.sleep(60)

    working = asyncio.create_task(work())
    await asyncio.sleep(delay)

    working.cancel()
    with pytest.raises(asyncio.CancelledError):
        await working

    assert _marked(str(tmp_path)) == []


def _marked(mark: str) -> list[str]:
    """Processes whose environment carries the mark."""
    pids = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if f"MARK={mark}".encode() in (folder / "environ").read_bytes():
                pids.append(folder.name)
        except OSError:
            continue
    return pids


def test_killing_the_owner_ends_every_process_and_the_scratch_folder(
    tmp_path: Path, is_alive_outside: IsAlive
) -> None:
    script = tmp_path / "owner.py"
    script.write_text(OWNER)
    with subprocess.Popen([sys.executable, script], stdout=subprocess.PIPE, text=True) as owner:
        assert owner.stdout is not None
        pids = [int(word) for _ in range(2) for word in owner.stdout.readline().split()]
        scratch = Path(owner.stdout.readline().strip().strip("'"))
        assert len(pids) == 6
        assert all(is_alive_outside(pid) for pid in pids)

        os.kill(owner.pid, signal.SIGKILL)

        wait_until(lambda: not any(is_alive_outside(pid) for pid in pids))
        wait_until(lambda: not scratch.exists())


async def test_killing_the_keeper_is_survived(tmp_path: Path) -> None:
    async with Sidecar(cwd=tmp_path) as sidecar:
        await sidecar.run(sidecar.root, "x = 1")

        observation = await sidecar.run(
            sidecar.root, "import os, time; os.kill(os.getppid(), 9); time.sleep(5)"
        )

        assert observation.status == "killed"
        assert (await sidecar.run(sidecar.root, "x")).result == "1"


async def test_secrets_are_not_in_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    monkeypatch.setenv("UNRELATED", "sk-secret")
    async with Sidecar(cwd=tmp_path, env={"GITHUB_TOKEN": "sk-secret", "COLOUR": "red"}) as sidecar:
        observation = await sidecar.run(
            sidecar.root,
            "import os\nprint(os.environ)\n"
            "for pid in (os.getpid(), os.getppid()):\n"
            "    print(open(f'/proc/{pid}/environ').read())\nos.environ['COLOUR']",
        )

    assert "sk-secret" not in observation.stdout
    assert observation.result == "'red'"


def test_only_listed_variables_pass() -> None:
    surroundings = {
        "PATH": "/bin",
        "LC_ALL": "C",
        "CONDA_TOKEN": "t",
        "DISPLAY": ":0",
        "HOME": "/h",
    }

    clean = clean_environment(surroundings, {"MY_PASSWORD": "p", "OMP_NUM_THREADS": "2"})

    assert {"PATH", "LC_ALL", "HOME"} <= set(clean)
    assert not {"CONDA_TOKEN", "DISPLAY", "MY_PASSWORD"} & set(clean)
    assert clean["OMP_NUM_THREADS"] == "2"
    assert clean["OPENBLAS_NUM_THREADS"] == "1"
