"""What speaks against a fork: found in the process, said in words, and replayed instead."""

from __future__ import annotations

import shutil
import socket
import subprocess
from pathlib import Path
from typing import Any

import pytest
from exploracoder_kernel.launch_command import Command, Setup
from exploracoder_kernel.sidecar import Sidecar

# A thread that Python knows nothing of.
PTHREAD = """
import ctypes
libc = ctypes.CDLL(None)
handle = ctypes.c_ulong()
pause = ctypes.cast(libc.pause, ctypes.c_void_p)
started = libc.pthread_create(ctypes.byref(handle), None, pause, None)
"""


async def note_of_a_child(sidecar: Sidecar, code: str) -> str:
    """Why the child of a root that ran ``code`` was not forked; empty when it was."""
    observation = await sidecar.run(sidecar.root, code)
    assert observation.ran, observation.error
    child = await sidecar.fork(sidecar.root)
    info = next(info for info in sidecar.tree() if info.id == child)
    assert info.created == ("replay" if info.note else "fork")
    return info.note


@pytest.mark.parametrize(
    ("code", "is_reason"),
    [
        ("base = sqlite3.connect('x.db'); done = base.execute('create table t (n)')", True),
        ("base = sqlite3.connect('x.db')", True),
        ("base = sqlite3.connect('x.db'); base.close()", False),
        ("base = sqlite3.connect(':memory:'); done = base.execute('create table t (n)')", False),
    ],
    ids=["with-a-table", "still-empty", "closed", "in-memory"],
)
async def test_an_open_sqlite_file_is_a_reason(
    forking: Sidecar, code: str, is_reason: bool
) -> None:
    note = await note_of_a_child(forking, f"import sqlite3\n{code}")

    assert ("SQLite database is open (x.db)" in note) == is_reason


async def test_an_open_journal_is_a_reason(forking: Sidecar) -> None:
    note = await note_of_a_child(forking, "journal = open('x.db-wal', 'wb')")

    assert "SQLite database is open (x.db-wal)" in note


@pytest.mark.parametrize("mode", ["r", "w", "a", "r+"])
async def test_open_files_are_no_reason(forking: Sidecar, mode: str) -> None:
    code = (
        "from pathlib import Path\nlength = Path('f.txt').write_text('one\\ntwo\\n')\n"
        f"file = open('f.txt', {mode!r})"
    )

    assert await note_of_a_child(forking, code) == ""


async def test_a_network_connection_is_a_reason_while_it_stands(tmp_path: Path) -> None:
    # In no sandbox, since a strict one has no network.
    async with Sidecar(cwd=tmp_path) as sidecar:
        await _connect_and_fork(sidecar)


async def _connect_and_fork(sidecar: Sidecar) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        note = await note_of_a_child(
            sidecar, f"import socket\nsock = socket.create_connection(('127.0.0.1', {port}))"
        )
        assert note.startswith(f"a network connection is open (to 127.0.0.1 port {port})")

        server.accept()[0].close()
        assert await note_of_a_child(sidecar, "import time; time.sleep(0.1)") == ""


async def test_a_connection_within_the_process_is_a_reason(forking: Sidecar) -> None:
    code = (
        "import socket\nserver = socket.create_server(('127.0.0.1', 0))\n"
        "ours = socket.create_connection(server.getsockname())"
    )

    assert "network connection is open (to 127.0.0.1" in await note_of_a_child(forking, code)


class WithDevice:
    """Starts commands where the system has a device of a GPU's name."""

    needs_scratch = True
    has_network = True
    limits = None

    def launch(self, command: Command) -> subprocess.Popen[bytes]:
        setup = Setup(task=str(command.cwd), ipython=str(command.scratch))
        device = ("--dev", "/dev", "--dev-bind", "/dev/null", "/dev/nvidia0")
        return subprocess.Popen(
            ("bwrap", "--bind", "/", "/", *device, *command.arguments(setup)),
            env=dict(command.environment),
            cwd=command.cwd,
            stdout=command.stdout,
            stderr=command.stderr,
            pass_fds=command.inherited,
        )


@pytest.mark.skipif(shutil.which("bwrap") is None, reason="makes a device with bubblewrap")
async def test_an_open_device_of_a_gpu_is_a_reason(tmp_path: Path) -> None:
    async with Sidecar(cwd=tmp_path, launcher=WithDevice()) as sidecar:
        assert await note_of_a_child(sidecar, "gpu = open('/dev/nvidia0')") == (
            "the process has a GPU context, which a fork can't use"
        )
        assert await note_of_a_child(sidecar, "gpu.close()") == ""


async def test_a_default_timeout_leaves_the_branches_sockets_as_they_are(forking: Sidecar) -> None:
    assert await note_of_a_child(forking, "import socket; socket.setdefaulttimeout(0.01)") == ""

    observation = await forking.run(forking.root, "import time; time.sleep(0.1); 'still here'")
    assert observation.result == "'still here'"


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("task = asyncio.create_task(asyncio.sleep(60)); await asyncio.sleep(0)", "tasks of"),
        ("handle = asyncio.get_event_loop().call_later(60, print)", "calls are scheduled"),
        ("asyncio.get_event_loop().add_reader(ours, print)", "watches files, sockets"),
        ("loop = asyncio.new_event_loop()", "selector of the user's is open"),
    ],
)
async def test_an_event_loop_in_use_is_a_reason(forking: Sidecar, code: str, words: str) -> None:
    start = "import asyncio, socket\nours, theirs = socket.socketpair()\nawait asyncio.sleep(0)\n"

    assert words in await note_of_a_child(forking, start + code)


async def test_what_is_bound_to_an_event_loop_stays_usable_in_a_fork(forking: Sidecar) -> None:
    use = "asyncio.gather(*(hold() for _ in range(2)))"
    await forking.run(
        forking.root,
        "import asyncio\nlock = asyncio.Lock()\nasync def hold():\n"
        f"    async with lock: await asyncio.sleep(0.01)\nawait {use};",
    )
    child = await forking.fork(forking.root)
    grandchild = await forking.fork(child)

    for branch in (grandchild, child, forking.root):
        observation = await forking.run(branch, f"await {use}; 'used'")
        assert observation.result == "'used'", observation.error
    assert [info.created for info in forking.tree()] == ["root", "fork", "fork"]


async def test_parent_and_child_await_at_the_same_time_without_waking_each_other(
    forking: Sidecar,
) -> None:
    code = (
        "import asyncio, threading\nloop = asyncio.get_running_loop()\ndone = asyncio.Event()\n"
        "timer = threading.Timer({delay}, lambda: loop.call_soon_threadsafe(done.set))\n"
        "timer.start()\nawait asyncio.wait_for(done.wait(), 5)\ntimer.join()"
    )
    await forking.run(forking.root, "import asyncio; await asyncio.sleep(0)")
    child = await forking.fork(forking.root)

    for branch, delay in ((child, 0.2), (forking.root, 0.1), (child, 0.0)):
        assert (await forking.run(branch, code.format(delay=delay))).ran


async def test_a_thread_that_has_just_ended_is_no_reason(forking: Sidecar) -> None:
    code = (
        "from concurrent.futures import ThreadPoolExecutor\n"
        "with ThreadPoolExecutor(8) as pool: squares = list(pool.map(lambda n: n * n, range(99)))"
    )

    for _time in range(5):
        assert await note_of_a_child(forking, code) == ""


async def test_threads_of_python_are_named_and_others_counted(forking: Sidecar) -> None:
    code = (
        "import threading\n"
        "event = threading.Event()\n"
        "for name in ('alpha', 'beta'):\n"
        "    threading.Thread(target=event.wait, name=name, daemon=True).start()\n"
    )

    note = await note_of_a_child(forking, code + PTHREAD)

    assert note == "4 threads are alive in the process (alpha, beta, and 1 not of Python)"


async def test_a_library_that_ends_its_threads_before_a_fork_is_forked(tmp_path: Path) -> None:
    """As OpenBLAS does: a handler in C that the system calls before any fork."""
    code = PTHREAD + (
        "import os\n"
        "def end(): return libc.pthread_cancel(handle), libc.pthread_join(handle, None)\n"
        "os.register_at_fork(before=lambda: handle.value and end() and setattr(handle, 'value', 0))"
    )
    async with Sidecar(cwd=tmp_path) as sidecar:
        assert await note_of_a_child(sidecar, code) == ""


async def test_a_library_that_keeps_its_threads_is_not_forked(forking: Sidecar) -> None:
    note = await note_of_a_child(forking, PTHREAD)

    assert note == "2 threads are alive in the process (none of Python)"


async def test_memory_that_a_fork_would_share_is_a_reason(forking: Sidecar) -> None:
    note = await note_of_a_child(
        forking, "import mmap; shared = mmap.mmap(-1, 4096); shared[0] = 1"
    )

    assert note == "the process maps memory that it would share with a fork"
    assert await note_of_a_child(forking, "shared.close()") == ""


async def test_replay_that_comes_out_differently_is_an_observation(tmp_path: Path) -> None:
    async with Sidecar(cwd=tmp_path, strategy="replay") as sidecar:
        await sidecar.run(
            sidecar.root, "from pathlib import Path\nPath('once').touch(exist_ok=False)"
        )
        child = await sidecar.fork(sidecar.root)

        observation = await sidecar.run(child, "1")

        assert sidecar.strategy_reason == "replay was asked for"
        assert observation.error is not None
        assert observation.error.ename == "ReplayError"
        assert "came out differently" in observation.error.evalue


async def test_cells_that_failed_are_part_of_a_replayed_state(tmp_path: Path) -> None:
    async with Sidecar(cwd=tmp_path, strategy="replay") as sidecar:
        await sidecar.run(sidecar.root, "x = 1\nraise ValueError")
        child = await sidecar.fork(sidecar.root)

        assert (await sidecar.run(child, "x")).result == "1"


MORE_THAN_ARE_KEPT_APART = 20


@pytest.mark.levels("strict", "network", reason="only a sandbox keeps branches apart")
async def test_a_long_chain_of_forks_begins_anew_from_its_cells(forking: Sidecar) -> None:
    branch = forking.root
    for number in range(MORE_THAN_ARE_KEPT_APART):
        branch = await forking.fork(branch)
        await forking.run(branch, f"last = {number}")

    infos = forking.tree()

    assert (await forking.run(branch, "last")).result == "19"
    assert {(info.created, info.note, info.state) for info in infos[1:]} == {("fork", "", "idle")}


@pytest.mark.levels("strict", "network", reason="only a sandbox keeps branches apart")
async def test_a_chain_whose_cells_come_out_differently_is_left_as_it_is(
    forking: Sidecar, tmp_path: Path
) -> None:
    task = tmp_path / "task"
    branch = forking.root
    await forking.run(branch, f"import os; first = os.path.exists({str(task)!r})")
    await forking.run(branch, "assert not first")
    task.write_text("there now")
    for number in range(MORE_THAN_ARE_KEPT_APART):
        source, branch = branch, await forking.fork(branch)
        if forking.tree()[-1].note:
            break
        await forking.run(branch, f"last = {number}")

    note = forking.tree()[-1].note

    assert note == "it comes from as many forks in a row as the kernel keeps apart"
    assert (await forking.run(source, "first, last")).result == f"(False, {number - 1})"


@pytest.mark.levels("strict", "network", reason="only a sandbox keeps branches apart")
async def test_a_branch_that_somebody_looks_at_keeps_its_process(
    forking: Sidecar, screen: Any
) -> None:
    branch = forking.root
    for number in range(MORE_THAN_ARE_KEPT_APART):
        source, branch = branch, await forking.fork(branch)
        if forking.tree()[-1].note:
            break
        await forking.run(branch, f"last = {number}", front_end=screen)

    note = forking.tree()[-1].note

    assert note == "it comes from as many forks in a row as the kernel keeps apart"
    assert (await forking.run(source, "last")).result == str(number - 1)


async def test_a_fork_that_fails_in_the_parent_is_refused_and_the_parent_lives_on(
    forking: Sidecar,
) -> None:
    note = await note_of_a_child(
        forking,
        "import random\ndef fail():\n    raise RuntimeError('no state')\nrandom.getstate = fail",
    )

    assert "the fork failed (RuntimeError: no state)" in note
    assert (await forking.run(forking.root, "6 * 7")).result == "42"


@pytest.mark.parametrize(
    ("code", "is_reason"),
    [
        ("import subprocess\np = subprocess.Popen(['sleep', '60'])", True),
        ("import subprocess\np = subprocess.Popen(['sleep', '60'])\np.kill(); p.wait()", False),
        ("import subprocess\np = subprocess.run(['true'])", False),
        ("from multiprocessing import resource_tracker as t\nt.ensure_running()", False),
    ],
    ids=["running", "killed", "ended", "resource-tracker"],
)
async def test_a_running_child_is_a_reason(forking: Sidecar, code: str, is_reason: bool) -> None:
    note = await note_of_a_child(forking, code)

    assert ("processes that it started are running" in note) == is_reason
