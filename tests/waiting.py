"""Waiting for what comes about elsewhere, as long as a machine with other work may take."""

from __future__ import annotations

import asyncio
import contextlib
import secrets
import time
from collections.abc import Callable
from pathlib import Path

PATIENCE_S = 60.0


def wait_until(condition: Callable[[], object], timeout_s: float = PATIENCE_S) -> None:
    """Wait in this thread. Raises TimeoutError."""
    deadline = time.monotonic() + timeout_s
    while not condition():
        if time.monotonic() > deadline:
            raise TimeoutError("what was waited for did not come about")
        time.sleep(0.02)


async def until(condition: Callable[[], object]) -> None:
    """Wait while the event loop goes on. Raises TimeoutError."""
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        if time.monotonic() > deadline:
            raise TimeoutError("what was waited for did not come about")
        await asyncio.sleep(0.01)


class Sign:
    """A name that code gives its process: seen from here, whatever a sandbox keeps in."""

    def __init__(self) -> None:
        self._name = f"sign-{secrets.token_hex(4)}"
        self.code = f"__import__('ctypes').CDLL(None).prctl(15, {self._name.encode()}, 0, 0, 0);"

    def processes(self) -> list[str]:
        """The numbers of the processes that have the name."""
        pids = []
        for comm in Path("/proc").glob("[0-9]*/comm"):
            with contextlib.suppress(OSError):
                if comm.read_text().strip() == self._name:
                    pids.append(comm.parent.name)
        return pids
