"""Who is next at a model that several people share: users take turns, each one's requests in order.

Of the users who wait, the one whose last turn was longest ago is next, so that somebody with many
requests does not keep others from their one.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import anyio
from pydantic import BaseModel, ConfigDict

# Told how many requests are before one's own.
Tell = Callable[[int], Awaitable[None]]


class QueueStatus(BaseModel):
    """How busy the model is, as one user is told; never who the others are.

    Attributes:
        slots: Requests that are answered at the same time.
        running: Those that are being answered now.
        waiting: Those that wait, of all users.
        users_waiting: How many users these are of.
        before: For each of the user's own that wait, how many have their turn before it.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    slots: int
    running: int
    waiting: int
    users_waiting: int
    before: tuple[int, ...]


@dataclass(frozen=True, slots=True, eq=False)
class _Place:
    """A request that waits; something may have ``changed`` for it."""

    user: str
    changed: asyncio.Event = field(default_factory=asyncio.Event)


class FairQueue:
    """At most ``slots`` requests have their turn at a time; the others wait for it.

    Args:
        slots: How many that are.
        most_waiting: How many of one user's may wait.
        pause_s: Whoever waits is told of it again after so many seconds.
    """

    def __init__(self, slots: int, most_waiting: int, *, pause_s: float = 10.0) -> None:
        self._slots = slots
        self._most_waiting = most_waiting
        self._pause_s = pause_s
        self._running = 0
        self._waiting = list[_Place]()
        self._turns = 0
        self._last_turns = dict[str, int]()

    def is_full_for(self, user: str) -> bool:
        """Whether as many requests of this user's wait as may."""
        return sum(place.user == user for place in self._waiting) >= self._most_waiting

    def status(self, user: str) -> QueueStatus:
        """How it stands, for one user."""
        return QueueStatus(
            slots=self._slots,
            running=self._running,
            waiting=len(self._waiting),
            users_waiting=len({place.user for place in self._waiting}),
            before=tuple(n for n, place in enumerate(self._order()) if place.user == user),
        )

    @asynccontextmanager
    async def turn(self, user: str, tell: Tell) -> AsyncIterator[None]:
        """Waits for a turn, which lasts as long as the block; whoever is cancelled gives it up."""
        place = _Place(user)
        self._waiting.append(place)
        self._advance()
        try:
            while place in self._waiting:
                place.changed.clear()
                await tell(self._order().index(place))
                with anyio.move_on_after(self._pause_s):
                    await place.changed.wait()
            yield
        finally:
            if place in self._waiting:
                self._waiting.remove(place)
            else:
                self._running -= 1
            self._advance()

    def _order(self) -> list[_Place]:
        """Those that wait, in the order of their turns."""
        rounds, keys = Counter[str](), dict[_Place, tuple[int, int]]()
        for place in self._waiting:
            keys[place] = (rounds[place.user], self._last_turns.get(place.user, 0))
            rounds[place.user] += 1
        return sorted(keys, key=keys.__getitem__)

    def _advance(self) -> None:
        for place in self._waiting:
            place.changed.set()
        while self._waiting and self._running < self._slots:
            place = self._order()[0]
            self._waiting.remove(place)
            self._running += 1
            self._turns += 1
            self._last_turns[place.user] = self._turns
