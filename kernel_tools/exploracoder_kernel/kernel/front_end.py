"""One cell's view of the front ends: its outputs go to all, its questions to the one that asked."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any, Protocol

from jupyter_client.session import Session
from zmq.eventloop.zmqstream import ZMQStream

from exploracoder_kernel.kernel.contents import Content, Message, Request
from exploracoder_kernel.kernel.records import Record
from exploracoder_kernel.presentation import StdinNotAllowed

_COLLECT_SECONDS = 0.05


class Publish(Protocol):
    """Tells all front ends; ``parent`` is the request that it belongs to."""

    def __call__(
        self,
        kind: str,
        content: Content,
        parent: Message | None = None,
        *,
        metadata: Content | None = None,
        buffers: Sequence[bytes] = (),
    ) -> None: ...


class Prompts:
    """Asks users for lines, one at a time; a line that nobody asked for is thrown away.

    ipykernel's own way to ask blocks the whole kernel until somebody answers.
    """

    def __init__(self, session: Session, stream: ZMQStream) -> None:
        self._session = session
        self._stream = stream
        self._turn = asyncio.Lock()
        self._open: tuple[list[bytes], str, asyncio.Future[str]] | None = None

    async def ask(self, request: Request, prompt: str, *, is_password: bool) -> str:
        """Ask the user at the front end that sent ``request``."""
        async with self._turn:
            answer: asyncio.Future[str] = asyncio.get_running_loop().create_future()
            content = {"prompt": prompt, "password": is_password}
            sent: Any = self._session.send(
                self._stream, "input_request", content, request.message, request.ident
            )
            self._open = request.ident, sent["msg_id"], answer
            try:
                return await answer
            finally:
                self._open = None

    def take(self, request: Request) -> None:
        """What a user typed."""
        value = request.message["content"].get("value")
        if self._open is None or not isinstance(value, str):
            return
        asker, question_id, answer = self._open
        # Not every client says which question it answers.
        is_meant = request.message["parent_header"].get("msg_id", question_id) == question_id
        if asker == request.ident and is_meant and not answer.done():
            answer.set_result(value)


class CellFrontEnd:
    """A FrontEnd (see ``presentation.py``) for the request ``request``."""

    def __init__(
        self,
        publish: Publish,
        prompts: Prompts,
        request: Request,
        record: Record,
        *,
        allow_stdin: bool,
    ) -> None:
        self.allow_stdin = allow_stdin
        self._publish = publish
        self._prompts = prompts
        self._request = request
        self._record = record
        self._stream = ""
        self._texts: list[str] = []
        self._timer: asyncio.TimerHandle | None = None

    def output(self, message: Message) -> None:
        """Publish it, under the request that it belongs to."""
        content = dict(message)
        kind = str(content.pop("output_type"))
        if kind == "stream":
            self._collect(str(content["name"]), str(content["text"]))
            return
        self.flush()
        metadata, buffers = None, ()
        if kind.startswith("comm_"):
            metadata, buffers = content.pop("metadata", None), content.pop("buffers", ())
            target = str(content.get("target_name", ""))
            self._record.note_comm(kind, str(content.get("comm_id")), target)
        parent = self._request.message
        self._publish(kind, content, parent, metadata=metadata, buffers=buffers)

    def flush(self) -> None:
        """Publish what was written and not shown yet."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._texts:
            content = {"name": self._stream, "text": "".join(self._texts)}
            self._texts.clear()
            self._publish("stream", content, self._request.message)

    def _collect(self, name: str, text: str) -> None:
        """Writes that follow each other closely are one output: ``print`` alone makes two."""
        if name != self._stream:
            self.flush()
        self._stream = name
        self._texts.append(text)
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
        return await self._prompts.ask(self._request, prompt, is_password=is_password)
