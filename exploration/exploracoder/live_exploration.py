"""An exploration that is being worked on, as Python code sees it: commands in, events out."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable, Coroutine
from pathlib import Path
from typing import Any

from exploracoder.events import Event, Progress
from exploracoder.live import LiveSession
from exploracoder.state import Exploration

OnEvent = Callable[[Event], None]

_MOST_EVENTS = 1_000


class LiveExploration(LiveSession):
    """An exploration that is being worked on; `open_exploration` gives one.

    Attributes:
        output: Its notebook, saved before each next step.
    """

    def __init__(
        self, exploration: Exploration, *, feed: Feed, output: Path, **session: Any
    ) -> None:
        super().__init__(exploration, on_progress=feed, **session)
        self._feed = feed
        self.output = output

    async def events(self) -> AsyncIterator[Event]:
        """What has happened since the last look, until nothing is worked on any more.

        Of events that nobody looks at, the last thousand are kept.
        """
        while True:
            while (event := self._feed.take()) is not None:
                yield event
            if not self.is_working:
                return
            await self._feed.wait(self.idle())


class Feed:
    """Events on their way to whoever iterates; ``on_event`` is called with each at once."""

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
        """The oldest that nobody has taken."""
        self._news.clear()
        return self._events.popleft() if self._events else None

    async def wait(self, end: Coroutine[Any, Any, None]) -> None:
        """Until there is news, or ``end`` is done."""
        waiting = {asyncio.ensure_future(self._news.wait()), asyncio.ensure_future(end)}
        try:
            await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for one in waiting:
                one.cancel()
