"""How messages travel between a client and its kernel: over sockets, or through a gateway.

A Jupyter server's kernel manager makes two kinds of client. A local kernel's client has sockets.
The client of a kernel behind a gateway has queues, which a thread fills from a WebSocket; it sends
the gateway no token, names no channel, busy-waits for messages, and ends at the first one with
binary data. So the WebSocket is opened here instead, with the server's settings for its gateway.
"""

from __future__ import annotations

import asyncio
import inspect
import json
import logging
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal

import zmq
from jupyter_client.jsonutil import json_default
from jupyter_client.session import new_id
from jupyter_core.utils import ensure_async
from tornado.escape import url_escape
from tornado.httpclient import HTTPClientError, HTTPRequest
from tornado.websocket import WebSocketClosedError, WebSocketError

from exploracoder_kernel.errors import SidecarError

if TYPE_CHECKING:
    from jupyter_client.asynchronous.client import AsyncKernelClient
    from tornado.websocket import WebSocketClientConnection

ChannelName = Literal["shell", "control"]
Message = dict[str, Any]

_log = logging.getLogger("exploracoder.kernel")
_MOST_BYTES = 1024 * 1024 * 1024


class SocketTransport:
    """A local kernel's sockets."""

    def __init__(self, client: AsyncKernelClient, *, with_iopub: bool) -> None:
        self._client = client
        self._channels = ("shell", "control", *(("iopub",) if with_iopub else ()))

    async def open(self) -> None:
        """Open the sockets, under a session ID of our own.

        All clients of one manager share its session ID, and what the kernel sends to an ID goes to
        the client that connected last.
        """
        session = self._client.session.clone()
        session.session = new_id()
        self._client.session = session
        self._client.start_channels(iopub="iopub" in self._channels, stdin=False, hb=False)

    async def listen(self, take: Callable[[Message], None]) -> None:
        """Pass every message to ``take``, until cancelled."""
        readers = [asyncio.create_task(self._read(name, take)) for name in self._channels]
        try:
            await asyncio.gather(*readers)
        finally:
            for reader in readers:
                reader.cancel()

    async def _read(self, channel: str, take: Callable[[Message], None]) -> None:
        source: Any = self._channel(channel)
        while True:
            try:
                message = await source.get_msg()
            except ValueError as error:  # it is not signed with our key
                _log.warning("A message on %s was left out: %s", channel, error)
            else:
                take(message)

    def send(self, channel: ChannelName, message: Message) -> None:
        """Send a message.

        Sending behind the event loop's back swallows its signal that a message has arrived, and a
        reader would wait until another one does. Querying the events restores the signal.
        """
        sender = self._channel(channel)
        sender.send(message)
        sender.socket.get(zmq.EVENTS)

    async def is_kernel_alive(self) -> bool:
        """False if the kernel's manager, if it has one, knows that it has ended."""
        manager: Any = self._client.parent
        return manager is None or bool(await ensure_async(manager.is_alive()))

    def close(self) -> None:
        """Close the sockets."""
        self._client.stop_channels()

    def _channel(self, name: str) -> Any:
        return getattr(self._client, f"{name}_channel")


class GatewayTransport:
    """A WebSocket to a gateway, which carries all channels."""

    def __init__(self, client: AsyncKernelClient) -> None:
        self._client = client
        self._socket: WebSocketClientConnection | None = None

    async def open(self) -> None:
        """Connect.

        Raises:
            SidecarError: The gateway can't be reached, or refuses the connection.
        """
        from tornado.websocket import websocket_connect

        request = _gateway_request(self._client)
        try:
            self._socket = await websocket_connect(request, max_message_size=_MOST_BYTES)
        except (OSError, WebSocketError, HTTPClientError) as error:
            raise SidecarError(
                f"The kernel gateway can't be reached: {error}. Is it up? Its log says more."
            ) from error

    async def listen(self, take: Callable[[Message], None]) -> None:
        """Pass messages to ``take``, until cancelled; binary ones are for widgets, and skipped.

        Raises:
            SidecarError: The connection is lost.
        """
        while self._socket is not None:
            frame = await self._socket.read_message()
            if frame is None:
                break
            if not isinstance(frame, str):
                continue
            try:
                take(json.loads(frame))
            except (ValueError, LookupError, TypeError, AttributeError) as error:
                _log.warning("A message of the gateway was left out: %s", error)
        raise _lost()

    def send(self, channel: ChannelName, message: Message) -> None:
        """Send a message.

        Raises:
            SidecarError: The connection is lost.
        """
        text = json.dumps({**message, "channel": channel}, default=json_default)
        try:
            if self._socket is None:
                raise WebSocketClosedError
            self._socket.write_message(text)
        except WebSocketClosedError:
            raise _lost() from None

    async def is_kernel_alive(self) -> bool:
        """Always true: the gateway closes the connection when the kernel ends."""
        return True

    def close(self) -> None:
        """Disconnect."""
        if self._socket is not None:
            self._socket.close()
            self._socket = None


def _lost() -> SidecarError:
    return SidecarError("The connection to the kernel gateway is lost.")


def _gateway_request(client: AsyncKernelClient) -> HTTPRequest:
    """The request for a kernel's channels, as the server itself makes it."""
    from jupyter_server.gateway.gateway_client import GatewayClient

    gateway = GatewayClient.instance()
    place = gateway.kernels_endpoint.strip("/")
    kernel = url_escape(str(getattr(client, "kernel_id", "")))
    session = url_escape(new_id())  # of two with the same ID, the gateway closes the older
    root = (gateway.ws_url or "").rstrip("/")
    url = f"{root}/{place}/{kernel}/channels?session_id={session}"
    settings: Any = gateway.load_connection_args
    return HTTPRequest(url, **settings())


Transport = SocketTransport | GatewayTransport


def transport_of(client: AsyncKernelClient, *, with_iopub: bool) -> Transport:
    """The transport of a client, local or behind a gateway, whose channels are not open yet.

    Args:
        client: The client.
        with_iopub: Whether to receive what the kernel publishes as well.
    """
    if inspect.iscoroutinefunction(client.start_channels):
        return GatewayTransport(client)
    return SocketTransport(client, with_iopub=with_iopub)
