"""How messages travel between a client and its kernel: over sockets, or through a gateway.

A client that a Jupyter server's kernel manager makes has one of two kinds of channels. Those of a
local kernel are sockets. Those of a kernel behind a gateway are queues that a thread fills from one
WebSocket, and their own way to wait for a message never lets the event loop rest.
"""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import logging
import queue
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, Protocol

from exploracoder_kernel.errors import SidecarError

if TYPE_CHECKING:
    from jupyter_client.asynchronous.client import AsyncKernelClient

Name = Literal["shell", "control", "iopub", "stdin"]
Message = dict[str, Any]

_log = logging.getLogger("exploracoder.kernel")
_LOOK_SECONDS = 0.005
_IDLE_LOOK_SECONDS = 0.05
_LOOKS_BEFORE_IDLE = 200


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
        """Open them."""
        self._client.start_channels(iopub="iopub" in self.channels, stdin=False)

    def send(self, channel: Name, message: Message) -> None:
        """Send a message."""
        _channel(self._client, channel).send(message)

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
    """The one WebSocket to a gateway. All that comes on it has to be taken, by whomever it is."""

    channels: Sequence[Name] = ("shell", "control", "iopub", "stdin")
    look_every_seconds = 5.0

    def __init__(self, client: AsyncKernelClient) -> None:
        self._client = client

    async def open(self) -> None:
        """Connect, which the client does without letting the event loop go on.

        Raises:
            SidecarError: The gateway does not take the connection.
        """
        starting: Any = self._client.start_channels
        try:
            await asyncio.to_thread(lambda: asyncio.run(starting()))
        except Exception as error:  # what the client's library raises is known there only
            raise SidecarError(
                f"The kernel gateway can't be reached: {error}. Is it up? Its log says more."
            ) from error

    def send(self, channel: Name, message: Message) -> None:
        """Send a message; without a channel's name in it, it would be taken for one of shell's."""
        try:
            _channel(self._client, channel).send({**message, "channel": channel})
        except Exception as error:  # see above
            raise LineClosed(f"The connection to the kernel gateway is lost: {error}") from error

    async def receive(self, channel: Name) -> Message:
        """The next message of a channel, looked for less often while none comes."""
        source = _channel(self._client, channel)
        looks = 0
        while True:
            with contextlib.suppress(queue.Empty):
                message: Message = source.get_nowait()
                source.task_done()
                return message
            if source.response_router_finished:
                raise LineClosed("The connection to the kernel gateway is lost.")
            looks += 1
            is_idle = looks > _LOOKS_BEFORE_IDLE
            await asyncio.sleep(_IDLE_LOOK_SECONDS if is_idle else _LOOK_SECONDS)

    def close(self) -> None:
        """Disconnect."""
        for name in self.channels:
            source = _channel(self._client, name)
            with contextlib.suppress(queue.Empty):
                while True:
                    source.get_nowait()
        self._client.stop_channels()


def _channel(client: AsyncKernelClient, name: Name) -> Any:
    return getattr(client, f"{name}_channel")
