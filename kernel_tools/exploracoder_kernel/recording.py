"""What a run wrote, kept within bounds while it is being written."""

from __future__ import annotations

import codecs
from collections import deque
from dataclasses import dataclass
from typing import Any, Literal

from exploracoder_kernel.branch.text import left_out

StreamName = Literal["stdout", "stderr"]

_MAX_OUTPUTS = 200
_MAX_OUTPUT_CHARS = 32 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class _Piece:
    """A piece of a stream; ``order`` counts all pieces and outputs of the run."""

    order: int
    text: str


class _Stream:
    """The head and the tail of a text, in at most ``limit`` characters."""

    def __init__(self, limit: int) -> None:
        self._head_room = limit - limit // 2
        self._tail_room = limit // 2
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._tail: deque[_Piece] = deque()
        self._tail_chars = 0
        self.head: list[_Piece] = []
        self.dropped = 0
        self.dropped_at = 0

    def feed(self, order: int, data: bytes, *, is_last: bool = False) -> None:
        text = self._decoder.decode(data, is_last)
        head, tail = text[: self._head_room], text[self._head_room :]
        if head:
            self.head.append(_Piece(order, head))
            self._head_room -= len(head)
        if tail:
            self._tail.append(_Piece(order, tail))
            self._tail_chars += len(tail)
            self._trim(order)

    def _trim(self, order: int) -> None:
        while self._tail_chars > self._tail_room:
            oldest = self._tail.popleft()
            excess = min(self._tail_chars - self._tail_room, len(oldest.text))
            self._tail_chars -= excess
            if not self.dropped:
                self.dropped_at = oldest.order
            self.dropped += excess
            if excess < len(oldest.text):
                self._tail.appendleft(_Piece(oldest.order, oldest.text[excess:]))

    def pieces(self) -> list[_Piece]:
        cut = [_Piece(self.dropped_at, left_out(self.dropped))] if self.dropped else []
        return [*self.head, *cut, *self._tail]


class Recorder:
    """Collects streams and rich outputs of one run, in order, in bounded memory."""

    def __init__(self, max_output_chars: int) -> None:
        self._streams: dict[StreamName, _Stream] = {
            "stdout": _Stream(max_output_chars),
            "stderr": _Stream(max_output_chars),
        }
        self._outputs: list[tuple[int, dict[str, Any]]] = []
        self._outputs_chars = 0
        self._order = 0
        self._last: str | None = None
        self.result: str | None = None

    def feed(self, stream: StreamName, data: bytes) -> None:
        """Add what was read from a pipe."""
        self._advance(stream)
        self._streams[stream].feed(self._order, data)

    def add(self, output: dict[str, Any]) -> None:
        """Add a rich output; after 200 of them, or 32 million characters, they are left out."""
        self._advance("output")
        self._order += 1
        if output.get("output_type") == "execute_result":
            self.result = str(output["data"].get("text/plain", ""))
        size = sum(len(str(content)) for content in output["data"].values())
        if len(self._outputs) < _MAX_OUTPUTS and self._outputs_chars + size <= _MAX_OUTPUT_CHARS:
            self._outputs.append((self._order, output))
            self._outputs_chars += size

    def finish(self) -> None:
        """No more comes: bytes of half a character are replaced."""
        for stream in self._streams.values():
            stream.feed(self._order, b"", is_last=True)

    def text(self, stream: StreamName) -> str:
        """All that is kept of a stream."""
        return "".join(piece.text for piece in self._streams[stream].pieces())

    @property
    def is_truncated(self) -> bool:
        """Whether anything of the streams was left out."""
        return any(stream.dropped for stream in self._streams.values())

    def outputs(self) -> tuple[dict[str, Any], ...]:
        """nbformat 4.5 outputs in the order in which they were written."""
        placed: list[tuple[int, dict[str, Any]]] = list(self._outputs)
        for name, stream in self._streams.items():
            for piece in stream.pieces():
                text = {"output_type": "stream", "name": name, "text": piece.text}
                placed.append((piece.order, text))
        placed.sort(key=lambda pair: pair[0])
        return tuple(_merged([output for _order, output in placed]))

    def _advance(self, channel: str) -> None:
        if self._last != channel:
            self._order += 1
            self._last = channel


def _merged(outputs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Neighbouring pieces of one stream become one output."""
    merged: list[dict[str, Any]] = []
    for output in outputs:
        previous = merged[-1] if merged else {}
        if output["output_type"] == "stream" and previous.get("name") == output["name"]:
            previous["text"] += output["text"]
        else:
            merged.append(dict(output))
    return merged
