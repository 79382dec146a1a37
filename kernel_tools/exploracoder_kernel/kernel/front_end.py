"""One cell's view of the front ends: its outputs go to all, its questions to the one that asked."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Mapping
from typing import Any

from exploracoder_kernel.kernel.channels import Channels, Request
from exploracoder_kernel.kernel.records import Record
from exploracoder_kernel.presentation import StdinNotAllowed

_COMMS = frozenset({"comm_open", "comm_msg", "comm_close"})
_COLLECT_SECONDS = 0.05


class Questions:
    """Asks users for lines, one at a time; a line that nobody asked for is thrown away."""

    def __init__(self, channels: Channels) -> None:
        self._channels = channels
        self._turn = asyncio.Lock()
        self._asked: tuple[tuple[bytes, ...], str, asyncio.Future[str]] | None = None

    async def listen(self) -> None:
        """Take what users type, until cancelled."""
        async for identities, message in self._channels.answers():
            value = message["content"].get("value")
            if isinstance(value, str):
                self._take(identities, message["parent_header"], value)

    async def ask(self, request: Request, prompt: str, *, is_password: bool) -> str:
        """Ask the user at the front end that sent ``request``."""
        async with self._turn:
            answer: asyncio.Future[str] = asyncio.get_running_loop().create_future()
            content = {"prompt": prompt, "password": is_password}
            self._asked = request.identities, self._channels.ask(request, content), answer
            try:
                return await answer
            finally:
                self._asked = None

    def _take(self, identities: tuple[bytes, ...], parent: Mapping[str, Any], value: str) -> None:
        if self._asked is None:
            return
        asker, question_id, answer = self._asked
        # Not every client says which question it answers.
        is_meant = parent.get("msg_id", question_id) == question_id
        if asker == identities and is_meant and not answer.done():
            answer.set_result(value)


class CellFrontEnd:
    """A FrontEnd (see ``presentation.py``) for the request ``request``."""

    def __init__(
        self,
        channels: Channels,
        questions: Questions,
        request: Request,
        record: Record,
        *,
        allow_stdin: bool,
    ) -> None:
        self.allow_stdin = allow_stdin
        self._channels = channels
        self._questions = questions
        self._request = request
        self._record = record
        self._stream = ""
        self._written: list[str] = []
        self._timer: asyncio.TimerHandle | None = None

    def output(self, message: dict[str, Any]) -> None:
        """Publish it, under the request that it belongs to."""
        if message["output_type"] == "stream":
            self._collect(str(message["name"]), str(message["text"]))
            return
        self.flush()
        content = {key: value for key, value in message.items() if key != "output_type"}
        kind = str(message["output_type"])
        metadata, buffers = None, ()
        if kind in _COMMS:
            metadata, buffers = content.pop("metadata", None), content.pop("buffers", ())
            self._note(kind, content)
        self._channels.publish(kind, content, self._request, metadata=metadata, buffers=buffers)

    def flush(self) -> None:
        """Publish what was written and not shown yet."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._written:
            content = {"name": self._stream, "text": "".join(self._written)}
            self._written.clear()
            self._channels.publish("stream", content, self._request)

    def _collect(self, name: str, text: str) -> None:
        """Writes that follow each other closely are one output: ``print`` alone makes two."""
        if name != self._stream:
            self.flush()
        self._stream = name
        self._written.append(text)
        if self._timer is None:
            loop = asyncio.get_running_loop()
            self._timer = loop.call_later(_COLLECT_SECONDS, self.flush)

    async def input(self, prompt: str, is_password: bool) -> str:
        """Ask the user.

        Raises:
            StdinNotAllowed: The request did not allow it.
        """
        if not self.allow_stdin:
            raise StdinNotAllowed
        self.flush()
        return await self._questions.ask(self._request, prompt, is_password=is_password)

    def _note(self, kind: str, content: Mapping[str, Any]) -> None:
        with contextlib.suppress(KeyError):
            note_comm(self._record, kind, content)


def note_comm(record: Record, kind: str, content: Mapping[str, Any]) -> None:
    """Remember which comms of a branch are open."""
    if kind == "comm_open":
        record.comms[str(content["comm_id"])] = str(content.get("target_name", ""))
    elif kind == "comm_close":
        record.comms.pop(str(content["comm_id"]), None)
