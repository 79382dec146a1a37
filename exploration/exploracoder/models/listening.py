"""Who hears of a reply before it is whole: of its text, and of its place at a shared model."""

from __future__ import annotations

from dataclasses import dataclass

from exploracoder.models.answer_text import LiveText
from exploracoder.models.chat import OnWait
from exploracoder.models.streaming import StreamReader


@dataclass(slots=True)
class Listener:
    """What is told while the answer to one request comes.

    Attributes:
        live: Told the text.
        on_wait: Told how many requests are before this one, when that has changed.
    """

    live: LiveText | None = None
    on_wait: OnWait | None = None
    _before: int | None = None

    def wants_stream(self, *, is_shared: bool) -> bool:
        """Whether something is told in a stream alone; places are, and by our shared server."""
        return self.live is not None or (is_shared and self.on_wait is not None)

    def hear(self, reader: StreamReader) -> None:
        """More has come."""
        if reader.before != self._before:
            self._before = reader.before
            if self.on_wait is not None:
                self.on_wait(reader.before)
        if self.live is not None:
            self.live.update(reader.text)
