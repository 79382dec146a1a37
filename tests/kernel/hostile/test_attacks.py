"""What code in a branch may try against the user's files, the sandbox, and other branches."""

from __future__ import annotations

import contextlib
import os
import resource
import socket
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from exploracoder_kernel.branch_folders import _usage
from exploracoder_kernel.observation import Observation
from exploracoder_kernel.sandbox import choose
from exploracoder_kernel.sidecar import Sidecar


@contextlib.asynccontextmanager
async def opened(folder: Path, mechanism: str) -> AsyncIterator[Sidecar]:
    choice = choose("strict", python=sys.executable, cwd=folder, mechanisms=(mechanism,))
    async with Sidecar(cwd=folder, launcher=choice.launcher, strategy="fork") as sidecar:
        yield sidecar


async def run_in(folder: Path, mechanism: str, code: str) -> Observation:
    async with opened(folder, mechanism) as sidecar:
        return await sidecar.run(await sidecar.fork(sidecar.root), code)


@pytest.mark.parametrize("mechanism", ["bubblewrap", "landlock"])
async def test_nobody_is_held_up_by_a_lease_on_a_file(tmp_path: Path, mechanism: str) -> None:
    (tmp_path / "data.txt").write_text("1")

    observation = await run_in(
        tmp_path,
        mechanism,
        "import fcntl\nfile = open('data.txt')\n"
        "for kind in (fcntl.F_RDLCK, fcntl.F_WRLCK):\n"
        "    try:\n        print(fcntl.fcntl(file, fcntl.F_SETLEASE, kind))\n"
        "    except PermissionError:\n        print('refused')\n",
    )

    assert observation.stdout.split() == ["refused", "refused"]


@pytest.mark.parametrize("mechanism", ["bubblewrap", "landlock"])
async def test_no_file_is_sealed_through_a_descriptor_that_reads(
    tmp_path: Path, mechanism: str
) -> None:
    (tmp_path / "data.txt").write_text("1")

    observation = await run_in(
        tmp_path,
        mechanism,
        "import errno, fcntl\nfile = open('data.txt')\n"
        "for command in (0x40806685, 0x800C6613, 0x4008941A):\n"
        "    try:\n        fcntl.ioctl(file, command, bytes(128))\n"
        "    except OSError as error:\n        print(errno.errorcode[error.errno])\n",
    )

    assert observation.stdout.split() == ["EPERM"] * 3


async def test_a_device_keeps_its_mode_where_the_superuser_starts_the_sandbox(
    tmp_path: Path,
) -> None:
    observation = await run_in(
        tmp_path,
        "bubblewrap",
        "import os\nos.system('echo 1 > /dev/null') or print('written')\n"
        "try:\n    os.chmod('/dev/null', 0o666)\n    print('changed')\n"
        "except OSError as error:\n    print('refused')\n",
    )

    assert observation.stdout.split() == ["written", "refused"]


@pytest.mark.parametrize("mechanism", ["bubblewrap", "landlock"])
async def test_no_module_of_the_task_is_run_before_calls_are_filtered(
    tmp_path: Path, mechanism: str
) -> None:
    with socket.socket(type=socket.SOCK_DGRAM) as receiver:
        receiver.bind(("127.0.0.1", 0))
        receiver.setblocking(False)
        port = receiver.getsockname()[1]
        (tmp_path / "resource.py").write_text(
            "import socket\n"
            "sender = socket.socket(type=socket.SOCK_DGRAM)\n"
            f"sender.sendto(b'out', ('127.0.0.1', {port}))\n"
        )

        with contextlib.suppress(Exception):  # the module is broken for who needs it
            await run_in(tmp_path, mechanism, "1")

        with pytest.raises(BlockingIOError):
            receiver.recv(9)


def test_folders_nested_too_deep_to_look_into_are_too_much(tmp_path: Path) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    top = os.open(tmp_path, os.O_RDONLY)
    folder = os.dup(top)
    for _ in range(300):
        os.mkdir("d", dir_fd=folder)
        deeper = os.open("d", os.O_RDONLY, dir_fd=folder)
        os.close(folder)
        folder = deeper
    resource.setrlimit(resource.RLIMIT_NOFILE, (200, hard))
    try:
        _size, files = _usage(top, (), 1000)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        os.close(folder)
        os.close(top)

    assert files > 1000
