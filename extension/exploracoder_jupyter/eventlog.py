"""The server's events, numbered so that a tab can ask for those that it missed."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from uuid import uuid4

from exploracoder_jupyter.protocol import (
    ExplorationEvent,
    LibraryEvent,
    ResetEvent,
    StreamEvent,
)

Listener = Callable[[str], None]

# A tab that has missed more than this reloads everything, which is not much more.
_MOST_EVENTS = 2_000
_MOST_CHARS = 16_000_000


class EventLog:
    """Recent events as the JSON texts sent to tabs; ``epoch`` identifies this run of the server.

    Args:
        most_events: How many events to keep for tabs that reconnect.
        most_chars: How many characters to keep in total.
    """

    def __init__(self, *, most_events: int = _MOST_EVENTS, most_chars: int = _MOST_CHARS) -> None:
        self.epoch = uuid4().hex
        self.last = 0
        self._most_events = most_events
        self._most_chars = most_chars
        self._backlog: deque[tuple[int, str]] = deque()
        self._chars = 0
        self._listeners: set[Listener] = set()

    def publish(self, make: Callable[[int], ExplorationEvent | LibraryEvent]) -> int:
        """Number an event, keep it, and send it to all listeners; returns its number."""
        self.last += 1
        text = make(self.last).model_dump_json()
        self._backlog.append((self.last, text))
        self._chars += len(text)
        while len(self._backlog) > self._most_events or self._chars > self._most_chars:
            self._chars -= len(self._backlog.popleft()[1])
        for listener in tuple(self._listeners):
            listener(text)
        return self.last

    def whisper(self, event: StreamEvent) -> None:
        """Send an event to the current listeners only; it is not kept for others."""
        if self._listeners:
            text = event.model_dump_json()
            for listener in tuple(self._listeners):
                listener(text)

    def after(self, epoch: str, number: int) -> list[str]:
        """The events after a position, or a reset event if they are no longer kept."""
        first = self._backlog[0][0] if self._backlog else self.last + 1
        if epoch != self.epoch or not first - 1 <= number <= self.last:
            return [ResetEvent(number=self.last, epoch=self.epoch).model_dump_json()]
        return [text for event_number, text in self._backlog if event_number > number]

    def follow(self, listener: Listener) -> Callable[[], None]:
        """Call ``listener`` with each event from now on; returns a function that stops this."""
        self._listeners.add(listener)
        return lambda: self._listeners.discard(listener)
