"""The Python interface to a live exploration: commands in, events out."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable, Coroutine
from pathlib import Path
from typing import Any

from exploracoder.events import Event, Progress
from exploracoder.live_session import LiveSession
from exploracoder.state import Exploration

OnEvent = Callable[[Event], None]

_MOST_EVENTS = 1_000


class LiveExploration(LiveSession):
    """A live exploration, as `open_exploration` yields it.

    Attributes:
        output: Its notebook, saved before every further step.
    """

    def __init__(
        self, exploration: Exploration, *, feed: Feed, output: Path, **session: Any
    ) -> None:
        super().__init__(exploration, on_progress=feed, **session)
        self._feed = feed
        self.output = output

    async def events(self) -> AsyncIterator[Event]:
        """Yield the events since the last call, until no work is in progress.

        At most the last thousand unread events are kept.
        """
        while True:
            while (event := self._feed.take()) is not None:
                yield event
            if not self.is_working:
                return
            await self._feed.wait(self.idle())


class Feed:
    """A queue of events to iterate over; ``on_event`` is called with each at once."""

    def __init__(self, on_event: OnEvent | None) -> None:
        self._on_event = on_event
        self._events: deque[Event] = deque(maxlen=_MOST_EVENTS)
        self._news = asyncio.Event()

    def __call__(self, exploration: Exploration, progress: Progress) -> None:
        event = Event(exploration=exploration, progress=progress)
        self._events.append(event)
        self._news.set()
        if self._on_event is not None:
            self._on_event(event)

    def take(self) -> Event | None:
        """Remove and return the oldest event; None if there is none."""
        self._news.clear()
        return self._events.popleft() if self._events else None

    async def wait(self, end: Coroutine[Any, Any, None]) -> None:
        """Wait until there are new events, or ``end`` is done."""
        tasks = {asyncio.ensure_future(self._news.wait()), asyncio.ensure_future(end)}
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for one in tasks:
                one.cancel()
