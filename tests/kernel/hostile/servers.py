"""Sockets, a FIFO and a terminal of this machine that a session must not reach."""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import termios
from pathlib import Path
from typing import Any


class Servers:
    """Everything listens, and counts what comes.

    Args:
        folder: Where the sockets with a path and the FIFO are; code may read there.
        tag: The names of the abstract sockets start with it.
        has_network: Whoever attacks may use the network, so that it is used is no harm.
    """

    def __init__(self, folder: Path, tag: str, *, has_network: bool) -> None:
        self._folder = folder
        self._tag = tag
        self._has_network = has_network
        self._stack = contextlib.AsyncExitStack()
        self._received: dict[str, int] = {}
        self.targets: dict[str, object] = {}

    async def open(self) -> None:
        """Listen."""
        await self._listen_to_streams()
        for name, family, address in self._datagram_addresses():
            self._listen_to_datagrams(name, family, address)
        self._open_fifo()
        self._open_terminal()

    async def close(self) -> None:
        """Listen no longer."""
        await self._stack.aclose()

    async def _listen_to_streams(self) -> None:
        path, abstract = self._folder / "socket", f"{self._tag}-stream"
        tcp = await asyncio.start_server(self._greeter("TCP"), "127.0.0.1", 0)
        for server in (
            tcp,
            await asyncio.start_unix_server(self._greeter("a socket with a path"), path),
            await asyncio.start_unix_server(self._greeter("abstract"), "\0" + abstract),
        ):
            await self._stack.enter_async_context(server)
        port = tcp.sockets[0].getsockname()[1]
        self.targets |= {"port": port, "socket": str(path), "abstract": abstract}

    def _greeter(self, name: str) -> Any:
        def greet(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            self._count(name)
            writer.close()

        return greet

    def _datagram_addresses(self) -> list[tuple[str, int, Any]]:
        return [
            ("UDP", socket.AF_INET, ("127.0.0.1", 0)),
            ("datagrams", socket.AF_UNIX, str(self._folder / "datagrams")),
            ("abstract datagrams", socket.AF_UNIX, f"\0{self._tag}-datagrams"),
        ]

    def _listen_to_datagrams(self, name: str, family: int, address: Any) -> None:
        sock = self._stack.enter_context(socket.socket(family, socket.SOCK_DGRAM))
        sock.setblocking(False)
        sock.bind(address)
        self._watch(sock.fileno(), name, lambda: sock.recv(1000))
        keys = {"UDP": "udp_port", "datagrams": "datagrams"}
        bound = sock.getsockname()
        self.targets[keys.get(name, "abstract_datagrams")] = (
            bound[1] if name == "UDP" else bound if isinstance(bound, str) else bound[1:].decode()
        )

    def _open_fifo(self) -> None:
        path = self._folder / "fifo"
        os.mkfifo(path)
        reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        self._stack.callback(os.close, reader)
        # Without a writer of our own, each end of a foreign one would wake us for ever.
        self._stack.callback(os.close, os.open(path, os.O_WRONLY))
        self._watch(reader, "a FIFO", lambda: os.read(reader, 1000))
        self.targets["fifo"] = str(path)

    def _open_terminal(self) -> None:
        ours, theirs = os.openpty()
        for descriptor in (ours, theirs):
            self._stack.callback(os.close, descriptor)
        self._watch(ours, "a terminal", lambda: os.read(ours, 1000))
        self._terminal, self._settings = theirs, termios.tcgetattr(theirs)
        self.targets["terminal"] = os.ttyname(theirs)

    def _watch(self, descriptor: int, name: str, read: Any) -> None:
        def receive() -> None:
            with contextlib.suppress(OSError):
                read()
            self._count(name)

        loop = asyncio.get_running_loop()
        loop.add_reader(descriptor, receive)
        self._stack.callback(loop.remove_reader, descriptor)

    def _count(self, name: str) -> None:
        self._received[name] = self._received.get(name, 0) + 1

    async def harm(self) -> list[str]:
        """What was reached since this was asked last."""
        await asyncio.sleep(0)  # what has come is counted in the loop's next turn
        counts, self._received = self._received, {}
        allowed_names = {"TCP", "UDP"} if self._has_network else set()
        problems = [
            f"{name} reached {n} times" for name, n in counts.items() if name not in allowed_names
        ]
        if termios.tcgetattr(self._terminal) != self._settings:
            problems.append("a terminal was set")
        return problems
