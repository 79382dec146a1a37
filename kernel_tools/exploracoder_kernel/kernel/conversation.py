"""Requests to a Jupyter kernel and its replies, several at a time."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Mapping
from types import TracebackType
from typing import Any

from jupyter_client.asynchronous.client import AsyncKernelClient

from exploracoder_kernel import errors
from exploracoder_kernel.errors import SidecarError
from exploracoder_kernel.kernel.channels import ChannelName

_LOOK_EVERY_SECONDS = 1.0
# A kernel whose machine is busy may miss a heartbeat.
_MOST_MISSED = 5

Message = dict[str, Any]


class Conversation:
    """Sends requests through a client and tells the replies apart; use it with ``async with``.

    The client's iopub channel stays closed: nobody here would read what comes on it.
    """

    def __init__(self, client: AsyncKernelClient) -> None:
        self._client = client
        self._asked: dict[str, asyncio.Future[Message]] = {}
        self._tasks: list[asyncio.Task[None]] = []

    async def __aenter__(self) -> Conversation:
        """Open the channels."""
        self._client.start_channels(iopub=False, stdin=False)
        self._tasks = [
            asyncio.create_task(self._listen("shell")),
            asyncio.create_task(self._listen("control")),
            asyncio.create_task(self._watch()),
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
        self._give_up("The connection to the kernel was closed.")
        self._client.stop_channels()

    @contextlib.asynccontextmanager
    async def asked(
        self,
        kind: str,
        content: Mapping[str, Any] | None = None,
        *,
        metadata: Mapping[str, Any] | None = None,
        channel: ChannelName = "control",
    ) -> AsyncIterator[asyncio.Future[Message]]:
        """Send a request; inside the block its reply can be waited for."""
        session = self._client.session
        message = session.msg(kind, dict(content or {}), metadata=dict(metadata or {}))
        message_id = str(message["header"]["msg_id"])
        reply: asyncio.Future[Message] = asyncio.get_running_loop().create_future()
        self._asked[message_id] = reply
        sender = self._client.shell_channel if channel == "shell" else self._client.control_channel
        sender.send(message)
        try:
            yield reply
        finally:
            del self._asked[message_id]

    async def ask(
        self,
        kind: str,
        content: Mapping[str, Any] | None = None,
        *,
        metadata: Mapping[str, Any] | None = None,
        channel: ChannelName = "control",
    ) -> Message:
        """The content of the reply to a request.

        Raises:
            BranchNotFound: The request names a branch that is not there.
            SidecarError: The kernel could not answer, or has ended.
        """
        async with self.asked(kind, content, metadata=metadata, channel=channel) as reply:
            return checked(await reply)["content"]  # type: ignore[no-any-return]

    async def _listen(self, name: ChannelName) -> None:
        channel = self._client.shell_channel if name == "shell" else self._client.control_channel
        while True:
            message: Message = await channel.get_msg()
            waiting = self._asked.get(str(message["parent_header"].get("msg_id")))
            if waiting is not None and not waiting.done():
                waiting.set_result(message)

    async def _watch(self) -> None:
        """Answer in place of a kernel that has ended."""
        missed = 0
        while True:
            await asyncio.sleep(_LOOK_EVERY_SECONDS)
            missed = 0 if await self._client.is_alive() else missed + 1
            if missed > (_MOST_MISSED if self._client.parent is None else 0):
                self._give_up("The kernel has ended; its log says why. Start it again.")

    def _give_up(self, why: str) -> None:
        for reply in self._asked.values():
            if not reply.done():
                reply.set_exception(SidecarError(why))


def checked(message: Message) -> Message:
    """The message, if it is no error.

    Raises:
        BranchNotFound: The request named a branch that is not there.
        SidecarError: It is an error; of the kind that the kernel says.
    """
    content = message["content"]
    if content.get("status") not in ("error", "aborted"):
        return message
    name, text = str(content.get("ename")), str(content.get("evalue") or "It was aborted.")
    kinds = {"InterpreterError": errors.InterpreterError, "ReplayError": errors.ReplayError}
    if name == "BranchNotFound":
        missing = errors.BranchNotFound("")
        missing.args = (text,)
        raise missing
    raise kinds.get(name, SidecarError)(text)
