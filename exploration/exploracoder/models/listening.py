"""Reports a reply's progress before it is complete: its text, and its place in a shared queue."""

from __future__ import annotations

from dataclasses import dataclass

from exploracoder.models.answer_text import LiveText
from exploracoder.models.chat import OnWait
from exploracoder.models.streaming import StreamReader


@dataclass(slots=True)
class Listener:
    """The callbacks to notify while the answer to one request arrives.

    Attributes:
        live: Receives the text.
        on_wait: Called with the number of requests ahead of this one when it has changed.
    """

    live: LiveText | None = None
    on_wait: OnWait | None = None
    _before: int | None = None

    def wants_stream(self, *, is_shared: bool) -> bool:
        """Whether a stream is needed: for live text, or for queue places at our shared server."""
        return self.live is not None or (is_shared and self.on_wait is not None)

    def hear(self, reader: StreamReader) -> None:
        """Reports what has arrived since the last call."""
        if reader.before != self._before:
            self._before = reader.before
            if self.on_wait is not None:
                self.on_wait(reader.before)
        if self.live is not None:
            self.live.update(reader.text)
