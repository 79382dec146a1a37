"""The harness sees harm: whatever a snippet could do is noticed when somebody does it."""

from __future__ import annotations

import ctypes
import os
import signal
import socket
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from .session import HostileSession
from .test_snippets import VARIANTS, can_be_had

Targets = dict[str, Any]


@pytest.fixture
async def session() -> AsyncIterator[HostileSession]:
    """A session that nobody attacks, in the first sandbox that can be had."""
    variant = next(filter(can_be_had, VARIANTS), None)
    if variant is None:
        pytest.skip("there is no sandbox here")
    async with HostileSession(variant) as hostile_session:
        yield hostile_session


def overwrite_memory(targets: Targets) -> None:
    libc = ctypes.CDLL(None)
    libc.shmat.restype = ctypes.c_ssize_t
    ctypes.memset(libc.shmat(targets["segment"], None, 0), 0, 5)


def send(targets: Targets) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sock:
        sock.sendto(b"x", targets["datagrams"])


DEEDS: dict[str, tuple[str, Callable[[Targets], object]]] = {
    "a file is changed": ("data.csv", lambda t: Path(t["task"], "data.csv").write_text("x")),
    "rights are changed": ("data.csv", lambda t: Path(t["task"], "data.csv").chmod(0o777)),
    "times are changed": ("calc.py", lambda t: os.utime(Path(t["task"], "calc.py"), (1, 1))),
    "a file is added": ("made", lambda t: Path(t["home"], "made").touch()),
    "a folder is removed": ("folders", lambda t: Path(t["victims"], "7").rmdir()),
    "a FIFO is written": ("a FIFO", lambda t: Path(t["fifo"]).write_text("x")),
    "a datagram comes": ("datagrams", send),
    "a terminal is written": ("a terminal", lambda t: Path(t["terminal"]).write_text("x")),
    "memory is overwritten": ("shared memory", overwrite_memory),
    "a semaphore is set": (
        "semaphore",
        lambda t: ctypes.CDLL(None).semctl(t["semaphore"], 0, 16, 0),
    ),
    "a queue is removed": ("queue", lambda t: ctypes.CDLL(None).msgctl(t["queue"], 0, None)),
    "a POSIX queue is removed": (
        "POSIX queue was removed",
        lambda t: ctypes.CDLL(None).mq_unlink(t["posix_queue"].encode()),
    ),
    "a process is stopped": ("bystander", lambda t: os.kill(t["bystander"], signal.SIGSTOP)),
}


@pytest.mark.parametrize("deed", DEEDS)
async def test_harm_is_seen(session: HostileSession, deed: str) -> None:
    expected, do = DEEDS[deed]
    before = await session.harm()
    do(dict(session.targets))

    after = await session.harm()

    assert before == []
    assert expected in " ".join(after)
