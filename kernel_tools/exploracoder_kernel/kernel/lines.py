"""How messages travel between a client and its kernel: over sockets, or through a gateway.

A client that a Jupyter server's kernel manager makes is of one of two kinds. That of a local kernel
has sockets. That of a kernel behind a gateway has queues, which a thread fills from a WebSocket; it
shows the gateway no token, names no channel, waits for messages without letting the event loop
rest, and ends at the first one with binary data. So the WebSocket is opened here instead, with the
settings that the server has for its gateway.
"""

from __future__ import annotations

import asyncio
import inspect
import json
import logging
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, Protocol

from jupyter_client.jsonutil import json_default
from jupyter_client.session import new_id
from tornado.escape import url_escape
from tornado.httpclient import HTTPClientError, HTTPRequest
from tornado.websocket import WebSocketClosedError, WebSocketError

from exploracoder_kernel.errors import SidecarError
from exploracoder_kernel.kernel.channels import look_again
from exploracoder_kernel.kernel.heartbeat import Heartbeat

if TYPE_CHECKING:
    from jupyter_client.asynchronous.client import AsyncKernelClient
    from tornado.websocket import WebSocketClientConnection

Name = Literal["shell", "control", "iopub"]
Message = dict[str, Any]

_log = logging.getLogger("exploracoder.kernel")
_MOST_BYTES = 1024 * 1024 * 1024
_GATEWAY_LOST = "The connection to the kernel gateway is lost."


class LineClosed(Exception):  # noqa: N818  # a fact about the connection
    """Nothing comes any more; ``str()`` says why."""


class Line(Protocol):
    """The channels of one client.

    Attributes:
        channels: Those that are open.
        look_every_seconds: How often it is worth asking whether the kernel lives.
    """

    channels: Sequence[Name]
    look_every_seconds: float

    async def open(self) -> None:
        """Connect.

        Raises:
            SidecarError: There is nobody to connect with.
        """
        ...

    def send(self, channel: Name, message: Message) -> None:
        """Send a message.

        Raises:
            LineClosed: It can't be sent any more.
        """
        ...

    async def receive(self, channel: Name) -> Message:
        """The next message of a channel.

        Raises:
            LineClosed: None will come.
        """
        ...

    def close(self) -> None:
        """Disconnect."""
        ...


def line_of(client: AsyncKernelClient, *, hears_all: bool) -> Line:
    """The line of a client whose channels are not open yet.

    Args:
        client: Of a local kernel, or of one behind a gateway.
        hears_all: What the kernel publishes is listened to as well.
    """
    if inspect.iscoroutinefunction(client.start_channels):
        return GatewayLine(client)
    return SocketLine(client, hears_all=hears_all)


async def is_alive(client: AsyncKernelClient) -> bool:
    """Whether the kernel's process runs, as far as its manager or its heartbeat tell."""
    manager = client.parent
    if manager is not None and hasattr(manager, "is_alive"):
        return bool(await manager.is_alive())
    return await client.is_alive()


class SocketLine:
    """A local kernel's sockets."""

    look_every_seconds = 1.0

    def __init__(self, client: AsyncKernelClient, *, hears_all: bool) -> None:
        self._client = client
        self.channels: Sequence[Name] = ("shell", "control", *(("iopub",) if hears_all else ()))

    async def open(self) -> None:
        """Open them, under a name of our own.

        All clients that one manager makes have its name. What the kernel sends under a name goes to
        the one that came last.
        """
        session = self._client.session.clone()
        session.session = new_id()
        self._client.session = session
        self._client.hb_channel_class = Heartbeat
        self._client.start_channels(iopub="iopub" in self.channels, stdin=False)

    def send(self, channel: Name, message: Message) -> None:
        """Send a message."""
        sender = _channel(self._client, channel)
        sender.send(message)
        look_again(sender.socket)

    async def receive(self, channel: Name) -> Message:
        """The next message of a channel; one that is not signed with our key is left out."""
        source = _channel(self._client, channel)
        while True:
            try:
                message: Message = await source.get_msg()
            except ValueError as error:
                _log.warning("A message on %s was left out: %s", channel, error)
                continue
            return message

    def close(self) -> None:
        """Close them."""
        self._client.stop_channels()


class GatewayLine:
    """The WebSocket to a gateway, on which all channels come."""

    channels: Sequence[Name] = ("shell", "control", "iopub")
    look_every_seconds = 5.0

    def __init__(self, client: AsyncKernelClient) -> None:
        self._client = client
        self._queues: dict[str, asyncio.Queue[Message | None]] = {}
        self._socket: WebSocketClientConnection | None = None
        self._reader: asyncio.Task[None] | None = None

    async def open(self) -> None:
        """Connect.

        Raises:
            SidecarError: The gateway does not take the connection.
        """
        from tornado.websocket import websocket_connect

        self._queues = {name: asyncio.Queue() for name in self.channels}
        try:
            self._socket = await websocket_connect(
                _gateway_request(self._client), max_message_size=_MOST_BYTES
            )
        except (OSError, WebSocketError, HTTPClientError) as error:
            raise SidecarError(
                f"The kernel gateway can't be reached: {error}. Is it up? Its log says more."
            ) from error
        self._reader = asyncio.create_task(self._read(self._socket))

    def send(self, channel: Name, message: Message) -> None:
        """Send a message."""
        text = json.dumps({**message, "channel": channel}, default=json_default)
        try:
            if self._socket is None:
                raise WebSocketClosedError
            self._socket.write_message(text)
        except WebSocketClosedError:
            raise LineClosed(_GATEWAY_LOST) from None

    async def receive(self, channel: Name) -> Message:
        """The next message of a channel."""
        message = await self._queues[channel].get()
        if message is None:
            raise LineClosed(_GATEWAY_LOST)
        return message

    def close(self) -> None:
        """Disconnect."""
        if self._reader is not None:
            self._reader.cancel()
        if self._socket is not None:
            self._socket.close()
            self._socket = None

    async def _read(self, socket: WebSocketClientConnection) -> None:
        """Sort messages until the connection ends; those with binary data are for widgets."""
        try:
            while (frame := await socket.read_message()) is not None:
                if isinstance(frame, str):
                    self._sort(frame)
        finally:
            for waiting in self._queues.values():
                waiting.put_nowait(None)

    def _sort(self, frame: str) -> None:
        try:
            message = json.loads(frame)
            waiting = self._queues.get(message["channel"])
            if waiting is not None and isinstance(message["header"]["msg_type"], str):
                waiting.put_nowait(message)
        except (ValueError, LookupError, TypeError) as error:
            _log.warning("A message of the gateway was left out: %s", error)


def _gateway_request(client: AsyncKernelClient) -> HTTPRequest:
    """For a kernel's channels, as the server itself asks for them."""
    from jupyter_server.gateway.gateway_client import GatewayClient

    gateway = GatewayClient.instance()
    place = gateway.kernels_endpoint.strip("/")
    kernel = url_escape(str(getattr(client, "kernel_id", "")))
    session = url_escape(new_id())  # the gateway closes the older of two with one name
    root = (gateway.ws_url or "").rstrip("/")
    url = f"{root}/{place}/{kernel}/channels?session_id={session}"
    settings: Any = gateway.load_connection_args
    return HTTPRequest(url, **settings())


def _channel(client: AsyncKernelClient, name: Name) -> Any:
    return getattr(client, f"{name}_channel")
