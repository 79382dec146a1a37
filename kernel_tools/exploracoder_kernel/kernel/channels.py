"""The kernel's sockets: requests in, replies and publications out, signed."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Literal

import zmq
import zmq.asyncio
from jupyter_client.session import Session

from exploracoder_kernel.errors import SidecarError
from exploracoder_kernel.kernel.connection_file import Connection

ChannelName = Literal["shell", "control"]
Content = dict[str, Any]

_log = logging.getLogger("exploracoder.kernel")
_LINGER_MS = 1000
# A front end that reads slowly loses no message until this many wait for it.
_MOST_WAITING = 100_000


@dataclass(frozen=True, slots=True)
class Request:
    """A message from a front end, and where its reply goes."""

    channel: ChannelName
    identities: tuple[bytes, ...]
    message: Mapping[str, Any]

    @property
    def kind(self) -> str:
        """Its message type."""
        return str(self.message["header"]["msg_type"])

    @property
    def content(self) -> Content:
        """What it says."""
        return dict(self.message["content"])

    @property
    def metadata(self) -> Content:
        """What is said about it."""
        return dict(self.message["metadata"])

    @property
    def buffers(self) -> list[bytes]:
        """The binary data that came with it."""
        return [bytes(buffer) for buffer in self.message["buffers"]]


@dataclass(frozen=True, slots=True)
class Reply:
    """What goes back to the asking front end."""

    content: Content
    metadata: Content = field(default_factory=dict)


class Channels:
    """Owns the sockets; use it with ``async with``.

    Nothing here waits for a branch, so the heartbeat beats whatever snippets do.
    """

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self.session = Session(
            key=connection.key.encode(), signature_scheme=connection.signature_scheme
        )
        self._context = zmq.asyncio.Context()
        self._sockets: dict[str, zmq.asyncio.Socket] = {}
        self._tasks: list[asyncio.Task[None]] = []
        self.topic = f"kernel.{self.session.session}"

    async def __aenter__(self) -> Channels:
        """Bind all sockets.

        Raises:
            SidecarError: An address is taken, or not of this machine.
        """
        try:
            for name, kind in _KINDS.items():
                self._sockets[name] = self._bind(name, kind)
        except zmq.ZMQError as error:
            self._close()
            raise SidecarError(
                f"The kernel can't listen where its connection file says: {error}. "
                "Start it again: Jupyter chooses other ports."
            ) from error
        self._tasks = [
            asyncio.create_task(self._beat()),
            asyncio.create_task(self._welcome()),
        ]
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._close()

    async def requests(self, channel: ChannelName) -> AsyncIterator[Request]:
        """The requests of a channel; what is not signed with our key is left out, and logged."""
        async for identities, message in self._messages(channel):
            yield Request(channel, tuple(identities), message)

    async def answers(self) -> AsyncIterator[tuple[tuple[bytes, ...], Content]]:
        """What front ends say on the channel of standard input."""
        async for identities, message in self._messages("stdin"):
            yield tuple(identities), message

    def reply(self, request: Request, reply: Reply) -> None:
        """Answer a request where it came from."""
        self._send(
            self._sockets[request.channel],
            f"{request.kind.removesuffix('_request')}_reply",
            content=reply.content,
            parent=dict(request.message),
            metadata=reply.metadata,
            ident=list(request.identities),
        )

    def publish(
        self,
        kind: str,
        content: Content,
        parent: Request | None = None,
        *,
        metadata: Content | None = None,
        buffers: Sequence[bytes] = (),
    ) -> None:
        """Tell all front ends."""
        self._send(
            self._sockets["iopub"],
            kind,
            content=content,
            parent=None if parent is None else dict(parent.message),
            metadata=metadata,
            buffers=list(buffers),
            ident=f"{self.topic}.{kind}".encode(),
        )

    def ask(self, request: Request, content: Content) -> str:
        """Send an input request to the front end that sent ``request``; its id is the answer."""
        sent = self._send(
            self._sockets["stdin"],
            "input_request",
            content=content,
            parent=dict(request.message),
            ident=list(request.identities),
        )
        return str((sent or {}).get("header", {}).get("msg_id", ""))

    def _send(
        self, socket: zmq.asyncio.Socket, kind: str, *, content: Content, **fields: Any
    ) -> Any:
        try:
            return self.session.send(socket, kind, content=content, **fields)
        except UnicodeEncodeError:
            return self.session.send(socket, kind, content=_encodable(content), **fields)
        finally:
            look_again(socket)

    async def _messages(self, name: str) -> AsyncIterator[tuple[list[bytes], Content]]:
        socket = self._sockets[name]
        while True:
            frames = await socket.recv_multipart()
            try:
                identities, parts = self.session.feed_identities(frames)
                message = self.session.deserialize(parts)
                _check_form(message)
                # It is sent back with everything that belongs to the request.
                self.session.pack(message["header"])
            except Exception as error:  # noqa: BLE001  # bytes from outside may be anything
                _log.warning("A message on %s was left out: %s", name, error)
                continue
            yield identities, message

    async def _beat(self) -> None:
        """Send every heartbeat back."""
        socket = self._sockets["hb"]
        while True:
            await socket.send_multipart(await socket.recv_multipart())

    async def _welcome(self) -> None:
        """Greet each subscriber: from then on it misses nothing that is published."""
        socket = self._sockets["iopub"]
        while True:
            frame = await socket.recv()
            topic = frame[1:]
            with contextlib.suppress(UnicodeDecodeError):
                if frame[:1] == b"\x01":
                    content = {"subscription": topic.decode()}
                    self.session.send(socket, "iopub_welcome", content=content, ident=topic or None)

    def _bind(self, name: str, kind: int) -> zmq.asyncio.Socket:
        socket = self._context.socket(kind)
        socket.linger = _LINGER_MS
        socket.sndhwm = socket.rcvhwm = _MOST_WAITING
        if kind == zmq.ROUTER:
            # A client that comes back under its name takes its place.
            socket.router_handover = 1
        if kind == zmq.XPUB:
            socket.xpub_verbose = 1
        connection = self.connection
        if connection.curve_secretkey and connection.curve_publickey:
            socket.curve_secretkey = connection.curve_secretkey.encode()
            socket.curve_publickey = connection.curve_publickey.encode()
            socket.curve_server = 1
        try:
            socket.bind(connection.url(connection.ports[f"{name}_port"]))
        except zmq.ZMQError:
            socket.close(linger=0)
            raise
        return socket

    def _close(self) -> None:
        for socket in self._sockets.values():
            socket.close()
        self._sockets.clear()
        self._context.term()


_KINDS = {
    "hb": zmq.ROUTER,
    "iopub": zmq.XPUB,
    "stdin": zmq.ROUTER,
    "control": zmq.ROUTER,
    "shell": zmq.ROUTER,
}


def look_again(socket: zmq.asyncio.Socket) -> None:
    """After a ``Session`` has sent on a socket that somebody reads.

    It sends past the event loop, and takes the sign from it that something has come meanwhile:
    whoever waits would go on waiting until more comes. Asking for the events gives the sign again.
    """
    socket.get(zmq.EVENTS)


def _encodable(content: Content) -> Content:
    """The content with ``?`` for lone surrogates, which UTF-8 has no bytes for."""
    text = json.dumps(content, ensure_ascii=False, default=str)
    return dict(json.loads(text.encode("utf-8", "replace")))


def _check_form(message: Mapping[str, Any]) -> None:
    """What the rest of the kernel takes for granted.

    Raises:
        ValueError: It is otherwise.
    """
    for part in ("header", "parent_header", "metadata", "content"):
        if not isinstance(message[part], dict):
            raise ValueError(f"its {part} is no object")
    if not isinstance(message["header"].get("msg_type"), str):
        raise ValueError("its header names no msg_type")
