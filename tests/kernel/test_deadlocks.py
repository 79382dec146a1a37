"""A step that hangs because its process was forked is run again in one that was not."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

import pytest
from exploracoder_kernel import tree
from exploracoder_kernel.run_limits import Limits
from exploracoder_kernel.sidecar import Sidecar

SHORT = Limits(wall_seconds=0.6)
# What hangs has half of it, and then what runs again the rest.
TWICE = Limits(wall_seconds=3)

# What a library does that takes a lock around a fork and forgets to give it back in the child.
POOL = """
import os, threading

lock = threading.Lock()
os.register_at_fork(after_in_child=lambda: lock.acquire(blocking=False))


def work():
    with lock:
        return "worked"


def work_in_c():
    # As in C code: a wait that no signal ends.
    import ctypes

    libc = ctypes.CDLL(None)
    mutex = ctypes.create_string_buffer(64)
    if lock.locked():
        libc.pthread_mutex_lock(mutex)
    libc.pthread_mutex_lock(mutex)
    return "worked"
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "pool.py").write_text(POOL)
    return tmp_path


@pytest.mark.parametrize("call", ["work()", "work_in_c()"])
async def test_a_step_that_hangs_in_a_fork_is_run_again_after_a_replay(
    folder: Path, call: str
) -> None:
    async with Sidecar(cwd=folder) as sidecar:
        await sidecar.run(sidecar.root, "import pool\nx = 20")
        child = await sidecar.fork(sidecar.root)
        await sidecar.run(child, "x += 1")

        observation = await sidecar.run(child, f"print(x); pool.{call}", TWICE)

        assert (observation.result, observation.stdout) == ("'worked'", "21\n")
        assert "hung in a fork" in observation.note
        info = sidecar.tree()[1]
        assert (info.created, info.state, info.cells) == ("replay", "idle", 3)
        assert "hung in a fork" in info.note


async def test_a_thread_that_looks_around_from_time_to_time_hides_no_hang(folder: Path) -> None:
    async with Sidecar(cwd=folder) as sidecar:
        await sidecar.run(sidecar.root, "import pool, threading")
        child = await sidecar.fork(sidecar.root)

        observation = await sidecar.run(
            child,
            "threading.Thread(target=threading.Event().wait, args=(60,), daemon=True).start()\n"
            "pool.work()",
            TWICE,
        )

        assert observation.result == "'worked'"
        assert "hung in a fork" in observation.note


async def test_no_more_forks_are_made_of_a_state_that_hung_in_one(folder: Path) -> None:
    async with Sidecar(cwd=folder) as sidecar:
        await sidecar.run(sidecar.root, "import pool")
        child = await sidecar.fork(sidecar.root)
        await sidecar.run(child, "pool.work()", TWICE)

        for parent in (sidecar.root, child):
            other = await sidecar.fork(parent)
            start = time.monotonic()
            observation = await sidecar.run(other, "pool.work()", Limits(wall_seconds=20))

            assert observation.result == "'worked'"
            assert time.monotonic() - start < 15
            assert sidecar.tree()[-1].created == "replay"


async def test_a_step_that_waits_for_its_own_lock_times_out_and_says_so(
    forking: Sidecar,
) -> None:
    child = await forking.fork(forking.root)

    observation = await forking.run(
        child, "import threading\nlock = threading.Lock()\nlock.acquire() and lock.acquire()", SHORT
    )

    assert observation.status == "timeout"
    assert "built again" in observation.note
    assert (await forking.run(child, "1 + 1")).result == "2"
    assert (await forking.run(await forking.fork(forking.root), "2")).ran
    assert forking.tree()[-1].created == "fork"


@pytest.mark.parametrize(
    "code",
    [
        "while True: pass",
        "import time; time.sleep(60)",
        "import subprocess; subprocess.run(['sleep', '60'])",
        "import socket; a, b = socket.socketpair(); a.recv(1)",
        "import threading; threading.Event().wait(60)",
        "import signal, time\n"
        "old = signal.signal(signal.SIGINT, signal.SIG_IGN)\n"
        "while True: time.sleep(9)",
    ],
    ids=[
        "computes",
        "sleeps",
        "waits-for-a-process",
        "waits-for-a-socket",
        "waits-with-a-limit",
        "ignores-sigint",
    ],
)
async def test_a_step_that_does_not_wait_for_a_lock_is_not_run_again(
    forking: Sidecar, code: str
) -> None:
    child = await forking.fork(forking.root)

    observation = await forking.run(child, code, SHORT)

    assert observation.status == "timeout"
    assert observation.note == ""
    assert forking.tree()[1].created == "fork"


async def test_a_step_that_hangs_in_the_root_is_not_run_again(forking: Sidecar) -> None:
    code = "import threading\nlock = threading.Lock()\nlock.acquire(); lock.acquire()"

    observation = await forking.run(forking.root, code, SHORT)

    assert observation.status == "timeout"
    assert observation.note == ""


async def test_a_fork_that_hangs_is_a_replay_and_leaves_no_process(forking: Sidecar) -> None:
    await forking.run(
        forking.root,
        "import os, pathlib, threading\nx = 5\nlock = threading.Lock()\ndone = lock.acquire()\n"
        "tries = []\n"
        "os.register_at_fork(after_in_child=lock.acquire, after_in_parent=lambda: tries.append(1))",
    )
    before = await _session_mates(forking)

    one = await forking.fork(forking.root)
    tries = await forking.run(forking.root, "len(tries)")
    two = await forking.fork(forking.root)

    root, *children = forking.tree()
    assert {child.created for child in children} == {"replay"}
    assert "did not answer" in children[0].note
    assert (await forking.run(forking.root, "len(tries)")).result == tries.result
    assert int(tries.result or 0) > 0
    assert root.state == "idle"
    assert await _session_mates(forking) == before
    assert (await forking.run(one, "x")).result == "5"
    assert two != one


async def test_after_a_fork_that_hung_one_is_tried_again_later(
    forking: Sidecar, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tree, "_FIRST_PAUSE", 1.5)
    await forking.run(
        forking.root,
        "import os, threading\nis_busy = True\nlock = threading.Lock()\ndone = lock.acquire()\n"
        "os.register_at_fork(after_in_child=lambda: is_busy and lock.acquire())",
    )
    await forking.fork(forking.root)
    await forking.run(forking.root, "is_busy = False")

    await forking.fork(forking.root)
    await asyncio.sleep(1.5)
    await forking.fork(forking.root)

    assert [info.created for info in forking.tree()] == ["root", "replay", "replay", "fork"]


async def _session_mates(sidecar: Sidecar) -> str | None:
    """How many processes are in the root branch's session."""
    observation = await sidecar.run(
        sidecar.root,
        "stats = [path.read_text() for path in pathlib.Path('/proc').glob('[0-9]*/stat')]\n"
        "sum(stat.rpartition(')')[2].split()[3] == str(os.getsid(0)) for stat in stats)",
    )
    return observation.result


@pytest.mark.parametrize("call", ["work()", "work_in_c()"])
async def test_a_step_without_a_limit_of_time_is_run_again_as_well(
    folder: Path, call: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("exploracoder_kernel.deadlocks._LOOK_EVERY_SECONDS", 0.1)
    async with Sidecar(cwd=folder) as sidecar:
        await sidecar.run(sidecar.root, "import pool")
        child = await sidecar.fork(sidecar.root)
        slow = await sidecar.run(
            child, "import time; time.sleep(1.5); 'slept'", Limits(wall_seconds=None)
        )

        observation = await sidecar.run(child, f"pool.{call}", Limits(wall_seconds=None))

        assert (slow.result, slow.note) == ("'slept'", "")
        assert observation.result == "'worked'"
        assert "hung in a fork" in observation.note


async def test_a_dead_branch_whose_cells_hang_in_a_fork_is_built_afresh(folder: Path) -> None:
    async with Sidecar(cwd=folder) as sidecar:
        child = await sidecar.fork(sidecar.root)
        await sidecar.run(child, "import pool")
        await sidecar.run(child, "x = pool.work()", TWICE)
        await sidecar.run(sidecar.root, "import pool")
        other = await sidecar.fork(child)
        await sidecar.run(other, "import os; os._exit(1)")

        assert (await sidecar.run(other, "x")).result == "'worked'"


async def test_a_cell_that_was_just_in_time_is_in_time_again(tmp_path: Path) -> None:
    cell = "import os, time; time.sleep(3 if os.path.exists('seen') else 0)"
    async with Sidecar(cwd=tmp_path, strategy="replay") as sidecar:
        await sidecar.run(sidecar.root, cell, Limits(wall_seconds=2))
        (tmp_path / "seen").touch()

        child = await sidecar.fork(sidecar.root)

        assert (await sidecar.run(child, "1")).result == "1"
