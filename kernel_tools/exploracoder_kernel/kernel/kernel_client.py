"""Sends concurrent requests to a Jupyter kernel, and matches its replies to them."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable, Mapping
from typing import Any

from jupyter_client.asynchronous.client import AsyncKernelClient

from exploracoder_kernel import errors
from exploracoder_kernel.errors import SidecarError
from exploracoder_kernel.kernel.transport import ChannelName, Message, transport_of

_LOOK_SECONDS = 1.0
# A kernel whose machine is busy may answer late.
_MOST_MISSED = 12

_ENDED = "The kernel has ended; its log says why. Start it again."
_RESTARTED = "The kernel was started again, and all its branches are gone."
_SHUT_DOWN = "The kernel was shut down or restarted, and all its branches are gone."
_DEAF = "The kernel has ended or does not answer any more. Start it again."

_log = logging.getLogger("exploracoder.kernel")


class Conversation:
    """Sends requests through a client and tells the replies apart; use it with ``async with``.

    A kernel once lost stays lost: a restarted one knows nothing of what was said before.

    Args:
        client: Its channels must not be open yet.
        on_published: Called with each message that the kernel publishes.
        on_lost: Called once, with the reason, when the kernel can't be asked any more.
    """

    def __init__(
        self,
        client: AsyncKernelClient,
        *,
        on_published: Callable[[Message], None] | None = None,
        on_lost: Callable[[str], None] | None = None,
    ) -> None:
        self._client = client
        self._transport = transport_of(client, with_iopub=bool(on_published or on_lost))
        self._on_published = on_published
        self._on_lost = on_lost
        self._replies: dict[str, asyncio.Future[Message]] = {}
        self._tasks: list[asyncio.Task[None]] = []
        self._why_lost = ""
        self._kernel_session = ""
        self._missing_replies = 0

    async def __aenter__(self) -> Conversation:
        """Open the channels.

        Raises:
            SidecarError: The kernel can't be connected to.
        """
        await self._transport.open()
        self._tasks = [asyncio.create_task(work) for work in (self._listen(), self._watch())]
        return self

    async def __aexit__(self, *_: object) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._on_lost = None
        self._give_up("The connection to the kernel was closed.")
        self._transport.close()

    async def request(
        self,
        kind: str,
        content: Mapping[str, Any] | None = None,
        *,
        metadata: Mapping[str, Any] | None = None,
        channel: ChannelName = "control",
    ) -> Message:
        """Send a request, and wait for its reply.

        Raises:
            SidecarError: The kernel is lost.
        """
        if self._why_lost:
            raise SidecarError(self._why_lost)
        session = self._client.session
        message = session.msg(kind, dict(content or {}), metadata=dict(metadata or {}))
        message_id = str(message["header"]["msg_id"])
        reply: asyncio.Future[Message] = asyncio.get_running_loop().create_future()
        self._replies[message_id] = reply
        try:
            self._send(channel, message)
            return await reply
        finally:
            del self._replies[message_id]

    async def ask(
        self,
        kind: str,
        content: Mapping[str, Any] | None = None,
        *,
        metadata: Mapping[str, Any] | None = None,
    ) -> dict[str, Any]:
        """The content of the reply to a request on the control channel.

        Raises:
            BranchNotFound: The request names a branch that does not exist.
            SidecarError: The kernel could not answer, or is lost.
        """
        message = await self.request(kind, content, metadata=metadata)
        return dict(checked(message)["content"])

    def _send(self, channel: ChannelName, message: Message) -> None:
        try:
            self._transport.send(channel, message)
        except SidecarError as error:
            self._give_up(str(error))
            raise

    async def _listen(self) -> None:
        try:
            await self._transport.listen(self._take)
        except SidecarError as error:
            self._give_up(str(error))
        except Exception:  # noqa: BLE001  # the outermost frame: whoever waits must be told
            _log.exception("Nothing more can be read.")
            self._give_up("The connection to the kernel failed.")

    def _take(self, message: Message) -> None:
        kind = str(message["header"]["msg_type"])
        state = message["content"].get("execution_state") if kind == "status" else None
        if kind == "shutdown_reply" or state == "restarting":
            self._give_up(_SHUT_DOWN)
        elif state == "dead":
            self._give_up(_ENDED)
        elif kind.endswith("_reply"):
            self._take_reply(message)
        elif self._on_published is not None:
            try:
                self._on_published(message)
            except Exception:  # noqa: BLE001  # what a listener does wrong must not cost the kernel
                _log.exception("A %s could not be dealt with.", kind)

    def _take_reply(self, message: Message) -> None:
        self._missing_replies = 0
        session = str(message["header"].get("session"))
        if self._kernel_session and session != self._kernel_session:
            self._give_up(_RESTARTED)
        self._kernel_session = session
        reply = self._replies.get(str(message["parent_header"].get("msg_id")))
        if reply is not None and not reply.done():
            reply.set_result(message)

    async def _watch(self) -> None:
        """Fail pending requests once the kernel has ended, stopped answering or been restarted."""
        while not self._why_lost:
            await asyncio.sleep(_LOOK_SECONDS)
            if not await self._is_alive():
                self._give_up(_ENDED)
            if self._missing_replies > _MOST_MISSED:
                self._give_up(_DEAF)
            # A kernel that its manager started and that has not answered yet may still be starting.
            self._missing_replies += bool(self._kernel_session) or self._client.parent is None
            with contextlib.suppress(SidecarError):
                self._send("control", self._client.session.msg("kernel_info_request"))

    async def _is_alive(self) -> bool:
        try:
            return await self._transport.is_kernel_alive()
        except Exception as error:  # noqa: BLE001  # of whoever manages it
            _log.debug("Whether the kernel lives could not be told: %s", error)
            return True

    def _give_up(self, why: str) -> None:
        if self._why_lost:
            return
        self._why_lost = why
        for reply in self._replies.values():
            if not reply.done():
                reply.set_exception(SidecarError(why))
        if self._on_lost is not None:
            self._on_lost(why)


def checked(message: Message) -> Message:
    """Return the message, unless it is an error.

    Raises:
        BranchNotFound: The request named a branch that does not exist.
        SidecarError: It is another error, of the class that the kernel names.
    """
    content = message["content"]
    if content.get("status") not in ("error", "aborted"):
        return message
    classes = (errors.BranchNotFound, errors.InterpreterError, errors.ReplayError)
    kinds = {kind.__name__: kind for kind in classes}
    kind = kinds.get(str(content.get("ename")), SidecarError)
    # Bypass the constructor: the kernel's message is a complete sentence already.
    raise kind.__new__(kind, str(content.get("evalue") or "It was aborted."))
