"""Assembles a reply from server-sent events into what would have come without streaming."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from exploracoder.models.chat import ToolCall, json_or_none
from exploracoder.models.server_answer import label, mapping, mappings, plain_text

# Our own shared server sends it to show that it reports queue places in stream comments.
QUEUE_HEADER = "ExploraCoder-Queue"
_DONE = "[DONE]"
_QUEUE = "queue "
_MARK_AND_BLANKS = b"\xef\xbb\xbf \t\r\n"
# The text fields of a message, which arrive in pieces.
_TEXTS = ("content", "reasoning_content", "reasoning", "refusal")


@dataclass(slots=True)
class _Call:
    """A function call, as far as it has arrived."""

    id: str = ""
    name: str = ""
    arguments: list[str] = field(default_factory=list)

    def add(self, delta: dict[str, Any]) -> None:
        function = mapping(delta.get("function"))
        self.id = self.id or label(delta.get("id"))
        # Some servers repeat the name with each piece of the arguments.
        if (name := label(function.get("name"))) != self.name:
            self.name += name
        piece = function.get("arguments")
        if piece is not None:
            self.arguments.append(piece if isinstance(piece, str) else json.dumps(piece))

    def as_dict(self) -> dict[str, Any]:
        arguments = "".join(self.arguments) if self.arguments else "{}"
        return ToolCall(self.id, self.name, arguments).as_dict()


class _Completion:
    """The completion assembled from chunks: only its first choice, as no more was requested."""

    def __init__(self) -> None:
        self.has_begun = False
        self.finish_reason = ""
        self.chars = 0
        self._texts: dict[str, list[str]] = {name: [] for name in _TEXTS}
        self._calls = list[_Call]()
        self._places = dict[int, _Call]()
        self._envelope = dict[str, Any]()

    @property
    def text(self) -> str:
        return "".join(self._texts["content"])

    def add(self, chunk: dict[str, Any]) -> None:
        # Usage may come with each chunk, as a running total; other servers send null instead.
        fields = {name: chunk[name] for name in ("model", "usage") if chunk.get(name)}
        self._envelope |= fields
        for choice in mappings(chunk.get("choices")):
            if choice.get("index", 0) == 0:
                self._add_choice(choice)

    def as_dict(self) -> dict[str, Any]:
        message: dict[str, Any] = {name: "".join(pieces) for name, pieces in self._texts.items()}
        message["tool_calls"] = [call.as_dict() for call in self._calls]
        choice = {"index": 0, "message": message, "finish_reason": self.finish_reason}
        return {**self._envelope, "choices": [choice] if self.has_begun else []}

    def _add_choice(self, choice: dict[str, Any]) -> None:
        self.has_begun = True
        self.finish_reason = label(choice.get("finish_reason")) or self.finish_reason
        delta = mapping(choice.get("delta"))
        for name in _TEXTS:
            text = label(plain_text(delta.get(name)))
            self._texts[name] += [text] if text else []
            self.chars += len(text)
        for call in mappings(delta.get("tool_calls")):
            self._call_of(call).add(call)
            self.chars += len(str(call))

    def _call_of(self, delta: dict[str, Any]) -> _Call:
        """The call that a delta belongs to, or a new one."""
        place = delta.get("index")
        place = place if isinstance(place, int) else max(self._places, default=0)
        call = self._places.get(place)
        # Some servers number all calls 0: a name with a different id starts a new one.
        identity, is_named = delta.get("id"), bool(mapping(delta.get("function")).get("name"))
        if call is None or (is_named and identity and call.id not in ("", identity)):
            call = self._places[place] = _Call()
            self._calls.append(call)
        return call


class StreamReader:
    """Reads the response to a streaming request, which may turn out not to be a stream.

    At most ``most_bytes`` are ever held; a longer reply comes out empty.
    Lines that are not events, and events that are not JSON, are skipped.

    Attributes:
        is_stream: Whether the response is a stream.
        before: While the request waits at a server that reports it, how many are ahead of it.
    """

    def __init__(self, most_bytes: int) -> None:
        self._most_bytes = most_bytes
        self._completion = _Completion()
        # What has arrived but was not processed: a response that is not a stream, or the start of
        # a line; and the data lines of an incomplete event.
        self._buffer = bytearray()
        self._data = list[str]()
        self._data_bytes = 0
        self._error: dict[str, Any] | None = None
        self._is_done = False
        self._has_started = False
        self._is_too_long = False
        self.is_stream = False
        self.before: int | None = None

    @property
    def is_over(self) -> bool:
        """Whether anything that still arrives can be ignored."""
        return self._is_done or self._error is not None or self._is_too_long

    @property
    def is_whole(self) -> bool:
        """Whether the reply is complete, even if the end of the stream is missing."""
        return self._is_done or bool(self._completion.finish_reason)

    @property
    def is_lost(self) -> bool:
        """Whether a reply has started but its end is missing."""
        return self._completion.has_begun and not (self.is_whole or self.is_over)

    def take(self, piece: bytes) -> None:
        """Processes the next bytes."""
        if not self._has_started:
            piece = piece.lstrip(_MARK_AND_BLANKS)
            self._has_started = bool(piece)
            self.is_stream = self._has_started and not piece.startswith(b"{")
        self._buffer += piece
        if self.is_stream and b"\n" in piece:
            end = self._buffer.rindex(b"\n") + 1
            lines = bytes(self._buffer[:end]).splitlines()
            del self._buffer[:end]
            for line in lines:
                self._take_line(line)
        self._measure()

    def close(self) -> None:
        """Ends the stream, completing a last event that was not terminated."""
        for line in (*bytes(self._buffer).splitlines(), b"") if self.is_stream else ():
            self._take_line(line)

    def text(self) -> str:
        """The message's text so far, as the server sent it; empty if the response is no stream."""
        text = self._completion.text
        is_half = bool(text) and "\ud800" <= text[-1] <= "\udbff"
        return text[:-1] if is_half else text

    def reply(self) -> tuple[int, str]:
        """The status and the body that the reply would have had without streaming."""
        if self._is_too_long:
            return 200, ""
        if self._error is not None:
            return _status_of(self._error), json.dumps(self._error)
        if self.is_stream:
            return 200, json.dumps(self._completion.as_dict())
        return 200, self._buffer.decode("utf-8", "replace")

    def _measure(self) -> None:
        # What is left out of a reply that is too long makes it no shorter.
        size = len(self._buffer) + self._data_bytes + self._completion.chars
        self._is_too_long = self._is_too_long or size >= self._most_bytes

    def _take_line(self, line: bytes) -> None:
        """Server-sent events: lines of data, up to a blank one; comments have no name."""
        name, _, value = line.partition(b":")
        comment = "" if name else value.decode("utf-8", "replace").strip()
        if comment.startswith(_QUEUE):
            before = mapping(json_or_none(comment.removeprefix(_QUEUE))).get("before")
            self.before = before if isinstance(before, int) else None
        if name == b"data":
            self._data.append(value.strip().decode("utf-8", "replace"))
            self._data_bytes += len(line)
        elif not line and self._data:
            self._take_event(self._data)
            self._data, self._data_bytes = [], 0

    def _take_event(self, lines: list[str]) -> None:
        # If a server leaves out the blank lines, each line is an event.
        whole = "\n".join(lines)
        for data in [whole] if json_or_none(whole) is not None else lines:
            chunk = json_or_none(data)
            self._measure()
            if self.is_over:
                return
            if data == _DONE:
                self._is_done = True
            elif isinstance(chunk, dict):
                if chunk.get("error") or chunk.get("object") == "error":
                    self._error = chunk
                else:
                    self._completion.add(chunk)


def _status_of(error: dict[str, Any]) -> int:
    """The status that the error would have come with, had it come before the reply began."""
    code = (mapping(error.get("error")) or error).get("code")
    return code if isinstance(code, int) and 400 <= code < 600 else 200


def queue_comment(before: int | None) -> str:
    """The stream comment that reports a request's place; None once it no longer waits."""
    return f": {_QUEUE}{json.dumps({'before': before})}\n\n"
