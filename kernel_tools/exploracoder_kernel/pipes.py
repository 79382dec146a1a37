"""The pipes that carry a branch's standard output and standard error."""

from __future__ import annotations

import asyncio
import os

from exploracoder_kernel.recording import Feed, StreamName

_CHUNK = 1 << 16
_MOST_CHUNKS = 32


class Pipes:
    """Reads both pipes all the time, so that no writer ever blocks for lack of a reader.

    Output that arrives while nothing is being recorded is discarded.
    """

    def __init__(self) -> None:
        self.recorder: Feed | None = None
        self._loop = asyncio.get_running_loop()
        self._read_ends: dict[StreamName, int] = {}
        self._write_ends: list[int] = []
        names: tuple[StreamName, StreamName] = ("stdout", "stderr")
        for name in names:
            read_end, write_end = os.pipe()
            os.set_blocking(read_end, False)
            self._read_ends[name] = read_end
            self._write_ends.append(write_end)
        for stream, fd in self._read_ends.items():
            self._loop.add_reader(fd, self._read, stream)

    @property
    def write_ends(self) -> tuple[int, int]:
        """The ends for the process: standard output, standard error."""
        stdout, stderr = self._write_ends
        return stdout, stderr

    def close_write_ends(self) -> None:
        """Close the ends for the process, once it has its own copies."""
        while self._write_ends:
            os.close(self._write_ends.pop())

    def pump(self) -> None:
        """Read what is available now, up to as much as the pipes can hold."""
        for stream in tuple(self._read_ends):
            for _chunk in range(_MOST_CHUNKS):
                if not self._read(stream):
                    break

    def close(self) -> None:
        """Close all ends."""
        self.close_write_ends()
        for stream in tuple(self._read_ends):
            self._close_read_end(stream)

    def _read(self, stream: StreamName) -> bool:
        fd = self._read_ends.get(stream)
        if fd is None:
            return False
        try:
            data = os.read(fd, _CHUNK)
        except BlockingIOError:
            return False
        if not data:
            self._close_read_end(stream)
            return False
        if self.recorder is not None:
            self.recorder.feed(stream, data)
        return True

    def _close_read_end(self, stream: StreamName) -> None:
        fd = self._read_ends.pop(stream)
        self._loop.remove_reader(fd)
        os.close(fd)
