"""A front end's part in a run: how it asks for a cell, what it is shown, and what it is asked."""

from __future__ import annotations

import asyncio
import base64
import codecs
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from exploracoder_kernel.recording import StreamName

MAX_LINE_CHARS = 50_000

Message = dict[str, Any]


class FrontEnd(Protocol):
    """Watches a cell while it runs.

    Both methods are called in the owner's event loop. Messages are dictionaries with an
    ``output_type``: ``stream``, ``display_data``, ``update_display_data``, ``execute_result``,
    ``error``, ``clear_output``, ``comm_open``, ``comm_msg`` or ``comm_close``. The other keys are
    the content fields of the Jupyter protocol's message of that name; a comm message may also have
    ``buffers``, as bytes, and ``metadata``.
    """

    allow_stdin: bool

    def output(self, message: Message) -> None:
        """Take the next output; called at once, in order. Must not raise or block."""
        ...

    async def input(self, prompt: str, is_password: bool) -> str:
        """Ask the user for a line, if ``allow_stdin``; cancelled when the cell is interrupted."""
        ...


class EmptySeat:
    """Stands in for the front end of a cell that runs again: shows nothing, and can't be asked."""

    allow_stdin = False

    def output(self, message: Message) -> None:
        """Ignore it: the front end has seen it before."""

    async def input(self, prompt: str, is_password: bool) -> str:
        """Not called, as ``allow_stdin`` is False."""
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class CellRequest:
    """How a notebook's cell asks to be run.

    Attributes:
        silent: No result is shown, nothing is kept in the history, and the cell is not counted.
        store_history: The cell is counted, and its source and result are kept (``In``, ``Out``).
        user_expressions: Expressions, by name, to evaluate after a cell that ran.
        parent: The requesting message, which widgets name to capture its outputs.
        wants_variables: Whether the Observation says which variables changed even though a front
            end watches.
    """

    silent: bool = False
    store_history: bool = True
    user_expressions: Mapping[str, str] = field(default_factory=dict)
    parent: Mapping[str, Any] = field(default_factory=dict)
    wants_variables: bool = False

    @property
    def is_stored(self) -> bool:
        """Whether the cell counts."""
        return self.store_history and not self.silent


class Presenter:
    """Passes outputs to a front end, and the user's answers back.

    Args:
        front_end: The one that watches.
        answer: Sends a short message to the branch.
    """

    def __init__(self, front_end: FrontEnd, answer: Callable[[Message], None]) -> None:
        self._front_end = front_end
        self._answer = answer
        self._question: asyncio.Task[None] | None = None

    def output(self, message: Message) -> None:
        """Show one output; decodes its binary buffers, which travel as text until here."""
        if "buffers" in message:
            buffers = [base64.b64decode(buffer) for buffer in message["buffers"]]
            message = {**message, "buffers": buffers}
        self._front_end.output(message)

    def ask(self, question: Message) -> None:
        """Ask for a line in the background; a question that is still open is cancelled."""
        if self._question is not None:
            self._question.cancel()
        self._question = asyncio.create_task(self._ask(question))

    async def end(self) -> None:
        """End the run: cancel an open question."""
        question, self._question = self._question, None
        if question is not None:
            question.cancel()
            await asyncio.wait({question})
            if not question.cancelled():
                question.result()

    async def _ask(self, question: Message) -> None:
        line: str | None = None
        if self._front_end.allow_stdin:
            prompt, is_password = str(question["prompt"]), bool(question["is_password"])
            line = (await self._front_end.input(prompt, is_password))[:MAX_LINE_CHARS]
        self._answer({"op": "input_reply", "id": question["id"], "value": line})


class LateOutput:
    """Shows output of threads and child processes after their cell has ended.

    Args:
        front_end: The one that watched the cell.
        max_chars: How much text to show; the rest is left out.
    """

    def __init__(self, front_end: FrontEnd, max_chars: int) -> None:
        self._presenter = Presenter(front_end, lambda _answer: None)
        self._room = max_chars
        new_decoder = codecs.getincrementaldecoder("utf-8")
        self._decoders: dict[StreamName, codecs.IncrementalDecoder] = {
            "stdout": new_decoder("replace"),
            "stderr": new_decoder("replace"),
        }

    def take(self, message: Message) -> None:
        """Show a message of the branch, if it is an output."""
        if "output" in message:
            self._presenter.output(message["output"])

    def feed(self, stream: StreamName, data: bytes) -> None:
        """Show what was read from a pipe."""
        text = self._decoders[stream].decode(data)
        if not text or self._room < 0:
            return
        piece = text[: self._room]
        self._room -= len(text)
        if self._room < 0:
            piece += "\n[... what follows is left out ...]\n"
        self._presenter.output({"output_type": "stream", "name": stream, "text": piece})
