"""A front end's part in a run: what it is shown, and what it is asked."""

from __future__ import annotations

import asyncio
import base64
import codecs
import contextlib
from collections.abc import Callable
from typing import Any

from exploracoder_kernel.presentation import FrontEnd, StdinNotAllowed
from exploracoder_kernel.recording import StreamName

MAX_LINE_CHARS = 50_000

Message = dict[str, Any]


class Showing:
    """Passes outputs on, and the user's answers back.

    Args:
        front_end: Who looks on.
        answer: Sends a short message to the branch.
    """

    def __init__(self, front_end: FrontEnd, answer: Callable[[Message], None]) -> None:
        self._front_end = front_end
        self._answer = answer
        self._question: asyncio.Task[None] | None = None

    def output(self, message: Message) -> None:
        """Show one output; binary buffers travel as text until here."""
        if "buffers" in message:
            decoded = [base64.b64decode(buffer) for buffer in message["buffers"]]
            message = {**message, "buffers": decoded}
        self._front_end.output(message)

    def ask(self, question: Message) -> None:
        """Ask for a line, beside what else goes on; a question that is still open is given up."""
        if self._question is not None:
            self._question.cancel()
        self._question = asyncio.create_task(self._ask(question))

    async def end(self) -> None:
        """The run is over: give an open question up."""
        question, self._question = self._question, None
        if question is not None:
            question.cancel()
            await asyncio.wait({question})
            if not question.cancelled():
                question.result()

    async def _ask(self, question: Message) -> None:
        line: str | None = None
        if self._front_end.allow_stdin:
            with contextlib.suppress(StdinNotAllowed):
                prompt, is_password = str(question["prompt"]), bool(question["is_password"])
                line = (await self._front_end.input(prompt, is_password))[:MAX_LINE_CHARS]
        self._answer({"op": "input_reply", "id": question["id"], "value": line})


class LateOutput:
    """Shows what a thread or a child process puts out after its cell has ended.

    Args:
        front_end: Who looked on at the cell.
        max_chars: Of text; what follows is left out.
    """

    def __init__(self, front_end: FrontEnd, max_chars: int) -> None:
        self._showing = Showing(front_end, lambda _answer: None)
        self._room = max_chars
        new_decoder = codecs.getincrementaldecoder("utf-8")
        self._decoders: dict[StreamName, codecs.IncrementalDecoder] = {
            "stdout": new_decoder("replace"),
            "stderr": new_decoder("replace"),
        }

    def take(self, message: Message) -> None:
        """Show what a message of the branch says, if it is an output."""
        if "output" in message:
            self._showing.output(message["output"])

    def feed(self, stream: StreamName, data: bytes) -> None:
        """Show what was read from a pipe."""
        text = self._decoders[stream].decode(data)
        if not text or self._room < 0:
            return
        kept = text[: self._room]
        self._room -= len(text)
        if self._room < 0:
            kept += "\n[... what follows is left out ...]\n"
        self._showing.output({"output_type": "stream", "name": stream, "text": kept})
