"""How a kernel starts and ends, and that nothing of it stays."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
import venv
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from exploracoder_kernel.branch.linux import descendants, processes
from jupyter_client.asynchronous.client import AsyncKernelClient
from jupyter_client.connect import write_connection_file
from jupyter_client.manager import AsyncKernelManager
from waiting import until, wait_until

Console = Any

PLACES = "import os, tempfile; print(os.getpid(), tempfile.mkstemp()[1])"


def family(pid: int) -> set[int]:
    """A process and all that come from it."""
    return {pid, *descendants([pid])}


def alive(pids: set[int]) -> set[int]:
    return pids & {process.pid for process in processes()}


async def busy_family(console: Console) -> set[int]:
    """The pids of a kernel whose two branches run cells."""
    other = (await console.branch("fork"))["branch"]
    for branch in ("b0", other):
        cell = console.send_cell("print('on', flush=True)\nwhile True: pass", branch=branch)
        await console.until_printed(cell, "on")
    return family(console.manager.provisioner.pid)


async def test_shutting_down_ends_every_process_and_removes_the_scratch_folder(
    console: Console,
) -> None:
    scratch = (await console.run(PLACES)).stream().split()[1]
    pids = await busy_family(console)

    await console.manager.shutdown_kernel()

    assert len(pids) >= 4
    # Where Jupyter had to kill the kernel, they end a little after it.
    await until(lambda: not alive(pids) and not Path(scratch).exists())


async def test_a_restart_begins_with_a_fresh_root(console: Console) -> None:
    await console.run("x = 1")

    await console.manager.restart_kernel()
    await console.reconnect()

    assert (await console.run("x")).content["ename"] == "NameError"


async def test_a_request_to_shut_down_is_answered_before_the_process_ends(console: Console) -> None:
    pids = family(console.manager.provisioner.pid)

    message_id = console.send("shutdown_request", {"restart": True}, channel="control")

    assert await console.reply_to(message_id) == {"status": "ok", "restart": True}
    await until(lambda: not alive(pids))


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
async def test_a_signal_that_ends_the_front_ends_all_of_it(
    console: Console, number: signal.Signals
) -> None:
    pids = await busy_family(console)

    os.kill(console.manager.provisioner.pid, number)

    await until(lambda: not alive(pids))


async def test_the_kernel_works_over_sockets_in_the_file_system(
    tmp_path: Path, open_console: Any
) -> None:
    address = str(tmp_path / "socket")
    manager = AsyncKernelManager(kernel_name="exploracoder", transport="ipc", ip=address)

    async with open_console(manager) as console:
        response = await console.run("6 * 7")
        sockets = list(tmp_path.glob("socket-*"))  # noqa: ASYNC240  # nothing waits

    assert response.outputs[0]["data"]["text/plain"] == "42"
    assert len(sockets) == 5


async def test_the_banner_says_how_branches_are_made_and_kept_in_and_why(
    console: Console,
) -> None:
    info = await console.ask("kernel_info_request")
    listing = await console.branch("list", measure=False)

    for key in ("strategy", "strategy_reason", "python_version"):
        assert listing[key] in info["banner"]
    for text in listing["sandbox"].values():
        assert text in info["banner"] or text == "none"


async def test_who_starts_a_kernel_chooses_interpreter_strategy_and_sandbox(
    tmp_path: Path, open_console: Any
) -> None:
    venv.create(tmp_path / "bare", with_pip=False)
    python = str(tmp_path / "bare" / "bin" / "python")
    manager = AsyncKernelManager(kernel_name="exploracoder")

    options = {"python": python, "strategy": "replay", "sandbox": "off"}
    async with open_console(manager, **options) as console:
        listing = await console.branch("list")
        response = await console.run("import sys; print(sys.prefix); 1 / 0")

    assert (listing["strategy"], listing["sandbox"]["level"]) == ("replay", "off")
    assert response.stream().strip() == str(tmp_path / "bare")
    assert response.content["ename"] == "ZeroDivisionError"


async def test_cells_run_in_the_folder_of_the_notebook(console: Console, tmp_path: Path) -> None:
    (tmp_path / "data.csv").write_text("a,b\n")

    response = await console.run("open('data.csv').read()")

    assert response.outputs[0]["data"]["text/plain"] == r"'a,b\n'"


async def test_the_front_imports_nothing_from_the_folder_of_the_notebook(
    tmp_path: Path, open_console: Any
) -> None:
    folder, mark = tmp_path / "stranger", tmp_path / "mark"
    trap = f"open({str(mark)!r}, 'w').close()\n"
    for module in ("exploracoder_kernel/__init__.py", "pydantic/__init__.py"):
        (folder / module).parent.mkdir(parents=True)
        (folder / module).write_text(trap)
    manager = AsyncKernelManager(kernel_name="exploracoder")

    async with open_console(manager, cwd=str(folder)) as console:
        response = await console.run("6 * 7")

    assert response.outputs[0]["data"]["text/plain"] == "42"
    assert not mark.exists()


@contextlib.contextmanager
def start(*arguments: str | Path) -> Iterator[subprocess.Popen[str]]:
    """A kernel that is started by hand; it ends with the block."""
    command = [sys.executable, "-m", "exploracoder_kernel.kernel", *map(str, arguments)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as kernel:
        try:
            yield kernel
        finally:
            kernel.kill()


def connection(tmp_path: Path) -> Path:
    return Path(write_connection_file(str(tmp_path / "kernel.json"), key=b"secret")[0])


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--python", "/nowhere/python"], "No interpreter at /nowhere/python"),
        (["--python", "/bin/true"], "/bin/true"),
        (["--cwd", "/nowhere"], "/nowhere"),
    ],
)
def test_a_kernel_that_can_not_start_says_why_and_ends(
    tmp_path: Path, arguments: list[str], sentence: str
) -> None:
    with start("-f", connection(tmp_path), *arguments) as kernel:
        _out, stderr = kernel.communicate(timeout=60)

    assert kernel.returncode == 2
    assert sentence in stderr
    assert "Traceback" not in stderr


def test_a_broken_connection_file_is_named(tmp_path: Path) -> None:
    file = tmp_path / "kernel.json"
    file.write_text("{")

    with start("-f", file) as kernel:
        _out, stderr = kernel.communicate(timeout=60)

    assert kernel.returncode == 2
    assert str(file) in stderr


async def test_a_kernel_started_by_hand_writes_its_connection_file_and_removes_it_at_the_end(
    tmp_path: Path,
) -> None:
    file = tmp_path / "mine.json"
    with start("-f", file) as kernel:
        assert kernel.stderr is not None
        assert str(file) in kernel.stderr.readline()
        client = AsyncKernelClient(connection_file=str(file))
        client.load_connection_file()
        client.start_channels(hb=False)  # a kernel that is still starting has no heartbeat
        await client.wait_for_ready(timeout=60)
        client.stop_channels()
        key = json.loads(file.read_text())["key"]
        kernel.terminate()
        kernel.communicate(timeout=60)

    assert kernel.returncode == 0
    assert key
    assert not file.exists()


async def test_messages_that_are_not_signed_are_not_answered(tmp_path: Path) -> None:
    file = connection(tmp_path)
    with start("-f", file) as kernel:
        stranger = AsyncKernelClient(connection_file=str(file))
        stranger.load_connection_file()
        stranger.session.key = b"guessed"
        stranger.start_channels(hb=False)
        stranger.execute("open('owned', 'w')")
        client = AsyncKernelClient(connection_file=str(file))
        client.load_connection_file()
        client.start_channels(hb=False)  # a kernel that is still starting has no heartbeat
        await client.wait_for_ready(timeout=60)
        assert kernel.stderr is not None
        refusal = kernel.stderr.readline()
        while "was left out" not in refusal:
            assert kernel.poll() is None
            refusal += kernel.stderr.readline()
        has_reply = await stranger.shell_channel.msg_ready()
        stranger.stop_channels()
        client.stop_channels()
        kernel.terminate()
        kernel.communicate(timeout=60)

    assert not has_reply
    assert "Invalid Signature" in refusal


def test_a_kernel_whose_server_was_killed_ends(tmp_path: Path) -> None:
    file = connection(tmp_path)
    server = tmp_path / "server.py"
    server.write_text(
        "import os, subprocess, sys, time\n"
        "os.environ['JPY_PARENT_PID'] = str(os.getpid())\n"
        f"command = [sys.executable, '-m', 'exploracoder_kernel.kernel', '-f', {str(file)!r}]\n"
        "print(subprocess.Popen(command, start_new_session=True).pid, flush=True)\n"
        "time.sleep(60)\n"
    )
    with subprocess.Popen([sys.executable, server], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        kernel = int(parent.stdout.readline())
        wait_until(lambda: len(family(kernel)) >= 3)
        pids = family(kernel)
        time.sleep(0.5)

        parent.kill()

    wait_until(lambda: not alive(pids))
