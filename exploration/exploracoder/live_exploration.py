"""An exploration that is being worked on, as Python code sees it: commands in, events out."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable, Coroutine
from pathlib import Path
from typing import Any

from exploracoder import commands as c
from exploracoder.events import Event, Progress
from exploracoder.live import LiveSession
from exploracoder.state import Exploration

OnEvent = Callable[[Event], None]

_MOST_EVENTS = 1_000


class LiveExploration:
    """An exploration that is being worked on; `open_exploration` gives one.

    Attributes:
        output: Its notebook, saved before each next step.
    """

    def __init__(self, session: LiveSession, feed: Feed, output: Path) -> None:
        self._session = session
        self._feed = feed
        self.output = output

    @property
    def exploration(self) -> Exploration:
        """The exploration as it stands."""
        return self._session.exploration

    @property
    def progress(self) -> Progress:
        """What it is at; ``error`` says why the last command stopped."""
        return self._session.progress

    @property
    def is_working(self) -> bool:
        """Whether a command is being worked on."""
        return self._session.is_working

    async def do(self, command: c.Command) -> None:
        """Take a command of `exploracoder.commands`; the work goes on after this returns.

        Raises:
            CommandError: It cannot be taken now.
            InputError: It names a subtask or candidate that is not there.
        """
        await self._session.do(command)

    async def idle(self) -> None:
        """Wait until nothing is worked on."""
        await self._session.idle()

    async def events(self) -> AsyncIterator[Event]:
        """What has happened since the last look, until nothing is worked on any more.

        Of events that nobody looks at, the last thousand are kept.
        """
        while True:
            while (event := self._feed.take()) is not None:
                yield event
            if not self._session.is_working:
                return
            await self._feed.wait(self._session.idle())


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
