"""A door in the network that a test can shut."""

from __future__ import annotations

import asyncio
import contextlib

_CHUNK_BYTES = 1 << 16


class Gate:
    """Passes connections on to a port of this machine until it is shut.

    Shut, it refuses new connections and has cut those it had: both ends notice at once, as when a
    machine goes down. Unlike a browser's offline mode this cuts open WebSockets too. Opened again,
    it listens on the same port.
    """

    def __init__(self, target_port: int) -> None:
        self._target_port = target_port
        self._server: asyncio.Server | None = None
        self._writers: set[asyncio.StreamWriter] = set()
        self.port = 0

    async def open(self) -> None:
        """Listen, on the port that was had before if there was one."""
        if self._server is None:
            self._server = await asyncio.start_server(self._pass_on, "127.0.0.1", self.port)
            self.port = self._server.sockets[0].getsockname()[1]

    async def shut(self) -> None:
        """Cut all connections and refuse new ones."""
        if self._server is not None:
            self._server.close()
            self._server = None
        for writer in tuple(self._writers):
            writer.transport.abort()

    async def _pass_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            far_reader, far_writer = await asyncio.open_connection("127.0.0.1", self._target_port)
        except OSError:
            writer.transport.abort()
            return
        ends = {writer, far_writer}
        self._writers |= ends
        try:
            await asyncio.gather(_pump(reader, far_writer), _pump(far_reader, writer))
        finally:
            self._writers -= ends
            for end in ends:
                end.close()


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Copy until one end is closed; then close the other, so that the way back ends too."""
    with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
        while chunk := await reader.read(_CHUNK_BYTES):
            writer.write(chunk)
            await writer.drain()
    writer.close()
