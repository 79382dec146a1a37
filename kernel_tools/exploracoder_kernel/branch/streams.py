"""``sys.stdout`` and ``sys.stderr`` of a branch, in the order in which they were written.

Both are pipes that the owner reads all the time, so output of C code and of child processes is seen
and nothing piles up here. Three channels (two pipes, one socket) have no common order: a switch
from one to another waits until the owner has read the first.
"""

from __future__ import annotations

import contextlib
import fcntl
import io
import os
import stat
import struct
import sys
import termios
import time
from typing import Any, Optional

_PATIENCE_SECONDS = 5.0


class Channels:
    """Keeps the order between the pipes and the socket."""

    def __init__(self) -> None:
        self._spares: tuple[tuple[int, int, Optional[tuple[int, int]]], ...] = ()
        self._last: int | None = None
        self._patience = _PATIENCE_SECONDS

    def keep_ends(self) -> None:
        """Keep a second descriptor of each pipe, in case a snippet closes the first."""
        for _fd, spare, file in self._spares:
            if _file_of(spare) == file:
                os.close(spare)
        spares = [(fd, os.dup(fd)) for fd in (1, 2)]
        self._spares = tuple((fd, spare, _file_of(spare)) for fd, spare in spares)

    def reopen_ends(self) -> None:
        """Open standard output and standard error where they are closed."""
        for fd, spare, file in self._spares:
            if _file_of(fd) is None and _file_of(spare) == file:
                os.dup2(spare, fd)

    def reset(self) -> None:
        """For a new cell, or after a fork: start over, with full patience."""
        self._last, self._patience = None, _PATIENCE_SECONDS

    def enter(self, fd: int) -> None:
        """Before writing to ``fd``: wait until output on another channel has been read."""
        if self._last is not None and self._last != fd and self._patience > 0:
            start = time.monotonic()
            while _unread(self._last) and time.monotonic() - start < self._patience:
                time.sleep(0.00005)
            self._patience -= time.monotonic() - start
        self._last = fd

    def enter_socket(self, fd: int) -> None:
        """Before a frame: the owner empties the pipes when it sees one, so there is no wait."""
        self._last = fd


def _file_of(fd: int) -> Optional[tuple[int, int]]:
    try:
        status = os.fstat(fd)
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _unread(fd: int) -> int:
    """How many bytes the other end has not read yet; 0 if the system can't tell."""
    try:
        is_pipe = stat.S_ISFIFO(os.fstat(fd).st_mode)
        request = termios.FIONREAD if is_pipe else termios.TIOCOUTQ
        answer = fcntl.ioctl(fd, request, b"\0\0\0\0")
        return int(struct.unpack("i", answer)[0])
    except OSError:
        return 0


class OrderedText(io.TextIOWrapper):
    """A text stream on a descriptor: every write leaves at once, in order."""

    def __init__(self, fd: int, name: str, channels: Channels) -> None:
        raw: Any = io.FileIO(fd, "wb", closefd=False)
        raw.name = name  # as in plain Python
        super().__init__(io.BufferedWriter(raw), encoding="utf-8", errors="backslashreplace")
        self._fd = fd
        self._channels = channels

    def write(self, text: str) -> int:
        """Write and flush."""
        self._channels.enter(self._fd)
        count = super().write(text)
        self.flush()
        return count


def install(channels: Channels) -> None:
    """Install our streams, and make C's standard output line-buffered."""
    sys.stdout = sys.__stdout__ = OrderedText(1, "<stdout>", channels)  # type: ignore[misc]
    sys.stderr = sys.__stderr__ = OrderedText(2, "<stderr>", channels)  # type: ignore[misc]
    with contextlib.suppress(ImportError, OSError, AttributeError, ValueError):
        import ctypes

        from .libc import libc

        line_buffered = 1
        libc().setvbuf(ctypes.c_void_p.in_dll(libc(), "stdout"), None, line_buffered, 0)


def repair(channels: Channels) -> None:
    """Reinstall our streams if a snippet has removed or closed them."""
    channels.reopen_ends()
    if any(
        stream is None or getattr(stream, "closed", False) for stream in (sys.stdout, sys.stderr)
    ):
        install(channels)


def flush_all() -> None:
    """Flush Python's and C's buffers; a snippet may have closed or replaced the streams."""
    for stream in (sys.stdout, sys.stderr, sys.__stdout__, sys.__stderr__):
        with contextlib.suppress(Exception):  # a snippet's own stream may raise anything
            stream.flush()  # type: ignore[union-attr]  # they may be None
    with contextlib.suppress(ImportError, OSError, AttributeError):
        from .libc import libc

        libc().fflush(None)
