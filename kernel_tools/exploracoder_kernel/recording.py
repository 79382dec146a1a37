"""Records what a run writes, in bounded memory."""

from __future__ import annotations

import codecs
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from exploracoder_kernel.branch.text import left_out

StreamName = Literal["stdout", "stderr"]
Show = Callable[[dict[str, Any]], None]

_MAX_OUTPUTS = 200
_MAX_OUTPUT_CHARS = 32 * 1024 * 1024


class Feed(Protocol):
    """Takes what is read from a process's pipes."""

    def feed(self, stream: StreamName, data: bytes) -> None:
        """Take the next bytes of a stream."""


@dataclass(frozen=True, slots=True)
class _Piece:
    """A piece of a stream; ``order`` counts all pieces and outputs of the run."""

    order: int
    text: str


class _Stream:
    """The head and the tail of a text, in at most ``limit`` characters."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self.clear()

    def clear(self) -> None:
        """Forget what came so far, except the bytes of an incomplete character."""
        self._head_room = self._limit - self._limit // 2
        self._tail_room = self._limit // 2
        self._tail: deque[_Piece] = deque()
        self._tail_chars = 0
        self._head: list[_Piece] = []
        self._dropped_at = 0
        self.dropped_chars = 0

    def feed(self, order: int, data: bytes, *, is_last: bool = False) -> str:
        """Take bytes, and return the text that is certain to be kept."""
        text = self._decoder.decode(data, is_last)
        head, tail = text[: self._head_room], text[self._head_room :]
        if head:
            self._head.append(_Piece(order, head))
            self._head_room -= len(head)
        if tail:
            self._tail.append(_Piece(order, tail))
            self._tail_chars += len(tail)
            self._trim(order)
        return head

    def _trim(self, order: int) -> None:
        while self._tail_chars > self._tail_room:
            oldest = self._tail.popleft()
            excess = min(self._tail_chars - self._tail_room, len(oldest.text))
            self._tail_chars -= excess
            if not self.dropped_chars:
                self._dropped_at = oldest.order
            self.dropped_chars += excess
            if excess < len(oldest.text):
                self._tail.appendleft(_Piece(oldest.order, oldest.text[excess:]))

    def pieces(self) -> list[_Piece]:
        return [*self._head, *self.end()]

    def end(self) -> list[_Piece]:
        """What follows the head: a note on what was left out, and the tail."""
        cut = [_Piece(self._dropped_at, left_out(self.dropped_chars))] if self.dropped_chars else []
        return [*cut, *self._tail]


@dataclass(slots=True)
class _Rich:
    """An output that is not a stream, with the ID by which a later one may update it."""

    order: int
    output: dict[str, Any]
    display_id: str | None
    size: int


class Recorder:
    """Collects streams and rich outputs of one run, in order, in bounded memory.

    Args:
        max_output_chars: How much of each stream to keep.
        show: Called with every output at once; for a stream over the limit, with the head first and
            with the tail when nothing more comes.
    """

    def __init__(self, max_output_chars: int, show: Show | None = None) -> None:
        self._show: Show = show or (lambda _output: None)
        self._streams: dict[StreamName, _Stream] = {
            "stdout": _Stream(max_output_chars),
            "stderr": _Stream(max_output_chars),
        }
        self._rich: list[_Rich] = []
        self._rich_chars = 0
        self._order = 0
        self._last: str | None = None
        self._must_clear = False
        self.result: str | None = None

    def feed(self, stream: StreamName, data: bytes) -> None:
        """Add what was read from a pipe."""
        self._begin(stream)
        self._show_stream(stream, self._streams[stream].feed(self._order, data))

    def add(self, output: dict[str, Any]) -> None:
        """Add an output that is not a stream, or a message that updates or clears earlier ones.

        Beyond 200 outputs, or 32 million characters of them, they are shown but not kept.
        """
        self._show(output)
        kind = output["output_type"]
        if kind == "clear_output":
            self._clear(wait=bool(output.get("wait")))
        elif kind == "update_display_data":
            self._update(output)
        elif not kind.startswith("comm_"):
            self._keep(output)

    def finish(self) -> None:
        """End the recording: replace an incomplete character's bytes, and show the tails."""
        for name, stream in self._streams.items():
            self._show_stream(name, stream.feed(self._order, b"", is_last=True))
            self._show_stream(name, "".join(piece.text for piece in stream.end()))

    def text(self, stream: StreamName) -> str:
        """The kept text of a stream."""
        return "".join(piece.text for piece in self._streams[stream].pieces())

    @property
    def is_truncated(self) -> bool:
        """Whether anything of the streams was left out."""
        return any(stream.dropped_chars for stream in self._streams.values())

    def outputs(self) -> tuple[dict[str, Any], ...]:
        """nbformat 4.5 outputs in the order in which they were written."""
        pairs = [(rich.order, rich.output) for rich in self._rich]
        for name, stream in self._streams.items():
            for piece in stream.pieces():
                text = {"output_type": "stream", "name": name, "text": piece.text}
                pairs.append((piece.order, text))
        pairs.sort(key=lambda pair: pair[0])
        return tuple(_merged([output for _order, output in pairs]))

    def _keep(self, output: dict[str, Any]) -> None:
        self._begin("output")
        self._order += 1
        entry = {key: value for key, value in output.items() if key != "transient"}
        if entry["output_type"] == "execute_result":
            self.result = str(entry["data"].get("text/plain", ""))
        size = _size(entry)
        if len(self._rich) < _MAX_OUTPUTS and self._rich_chars + size <= _MAX_OUTPUT_CHARS:
            self._rich.append(_Rich(self._order, entry, _display_id(output), size))
            self._rich_chars += size

    def _update(self, update: dict[str, Any]) -> None:
        """Update the outputs with this display ID, as a notebook does; in this run only."""
        display_id = _display_id(update)
        for rich in self._rich:
            replacement = {**rich.output, "data": update["data"], "metadata": update["metadata"]}
            more = _size(replacement) - rich.size
            is_meant = display_id is not None and rich.display_id == display_id
            if is_meant and self._rich_chars + more <= _MAX_OUTPUT_CHARS:
                rich.output, rich.size = replacement, rich.size + more
                self._rich_chars += more

    def _clear(self, *, wait: bool) -> None:
        self._must_clear = wait
        if wait:
            return
        for stream in self._streams.values():
            stream.clear()
        self._rich.clear()
        self._rich_chars = 0
        self.result = None

    def _begin(self, channel: str) -> None:
        if self._must_clear:
            self._clear(wait=False)
        if self._last != channel:
            self._order += 1
            self._last = channel

    def _show_stream(self, name: StreamName, text: str) -> None:
        if text:
            self._show({"output_type": "stream", "name": name, "text": text})


def _display_id(output: dict[str, Any]) -> str | None:
    transient = output.get("transient")
    display_id = transient.get("display_id") if isinstance(transient, dict) else None
    return None if display_id is None else str(display_id)


def _size(output: dict[str, Any]) -> int:
    """The characters shown: of a MIME bundle, or of an error's traceback."""
    parts = output["data"].values() if "data" in output else output.get("traceback", ())
    return sum(len(str(part)) for part in parts) + len(str(output.get("metadata", "")))


def _merged(outputs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Merge adjacent pieces of one stream into one output."""
    result: list[dict[str, Any]] = []
    for output in outputs:
        previous = result[-1] if result else {}
        if output["output_type"] == "stream" and previous.get("name") == output["name"]:
            previous["text"] += output["text"]
        else:
            result.append(dict(output))
    return result
