"""Run a function in a process of its own, so that no program sees what another left behind."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

_MOST_BYTES = 4_000_000
_CHUNK = 1 << 16


class NoAnswerError(Exception):
    """The process gave no answer; the message says why, phrased to follow 'it'."""


def answer_apart(function: Callable[[], str], seconds: float) -> str:
    """Return what ``function`` returns in a fork of this process, which is gone afterwards.

    Args:
        function: Takes no arguments and returns text.
        seconds: How long until the fork is killed.

    Raises:
        NoAnswerError: It took too long, said too much, or ended without an answer.
    """
    read_end, write_end = os.pipe()
    process = os.fork()
    if process == 0:
        os.close(read_end)
        _answer(function, write_end)
    os.close(write_end)
    try:
        return _read(read_end, time.monotonic() + seconds, seconds).decode()
    except UnicodeDecodeError as error:
        raise NoAnswerError("gave an answer that is no text") from error
    finally:
        os.close(read_end)
        with contextlib.suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)
        with contextlib.suppress(ChildProcessError):
            os.waitpid(process, 0)


def _answer(function: Callable[[], str], write_end: int) -> NoReturn:
    """Write the answer and exit at once: nothing of the parent's may be closed or flushed here."""
    try:
        # Warnings and errors from finalizers go there too: the branch's own streams lead to its
        # owner, which would take this process's output for the branch's.
        nowhere = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 - open to the end
        sys.stdout = sys.stderr = nowhere
        rest = memoryview(function().encode())
        while rest:
            rest = rest[os.write(write_end, rest) :]
    finally:
        os._exit(0)


def _read(read_end: int, deadline: float, seconds: float) -> bytes:
    parts: list[bytes] = []
    while True:
        seconds_left = deadline - time.monotonic()
        if seconds_left <= 0 or not select.select([read_end], [], [], seconds_left)[0]:
            raise NoAnswerError(f"did not come to its end within {seconds:g} s")
        part = os.read(read_end, _CHUNK)
        if not part:
            break
        parts.append(part)
        if sum(map(len, parts)) > _MOST_BYTES:
            raise NoAnswerError("has a data flow that is too large to read")
    if not parts:
        raise NoAnswerError("ended its process before there was a result")
    return b"".join(parts)
