"""A fair queue for a shared model: users take turns, and each user's requests stay in order.

Of the waiting users, the one whose last turn was longest ago is next, so that somebody with many
requests does not hold up others with one.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import anyio
from pydantic import BaseModel, ConfigDict

# Called with the number of requests ahead of one's own.
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
    """A waiting request; ``changed`` is set when its position may have changed."""

    user: str
    changed: asyncio.Event = field(default_factory=asyncio.Event)


class FairQueue:
    """Gives at most ``slots`` requests their turn at a time; the others wait.

    Args:
        slots: How many requests run at the same time.
        most_waiting: How many requests of one user may wait.
        pause_s: How often a waiting request is told its position again, in seconds.
    """

    def __init__(self, slots: int, most_waiting: int, *, pause_s: float = 10.0) -> None:
        self._slots = slots
        self._most_waiting = most_waiting
        self._pause_s = pause_s
        self._busy_slots = 0
        self._queue = list[_Place]()
        self._turns = 0
        self._last_turns = dict[str, int]()

    def is_full_for(self, user: str) -> bool:
        """Whether this user already has as many waiting requests as allowed."""
        return sum(place.user == user for place in self._queue) >= self._most_waiting

    def status(self, user: str) -> QueueStatus:
        """The queue's status, as one user may see it."""
        return QueueStatus(
            slots=self._slots,
            running=self._busy_slots,
            waiting=len(self._queue),
            users_waiting=len({place.user for place in self._queue}),
            before=tuple(n for n, place in enumerate(self._order()) if place.user == user),
        )

    @asynccontextmanager
    async def turn(self, user: str, tell: Tell) -> AsyncIterator[None]:
        """Waits for a turn, which lasts as long as the block; cancelling gives it up."""
        place = _Place(user)
        self._queue.append(place)
        self._advance()
        try:
            while place in self._queue:
                place.changed.clear()
                await tell(self._order().index(place))
                with anyio.move_on_after(self._pause_s):
                    await place.changed.wait()
            yield
        finally:
            if place in self._queue:
                self._queue.remove(place)
            else:
                self._busy_slots -= 1
            self._advance()

    def _order(self) -> list[_Place]:
        """The waiting requests, in the order of their turns."""
        rounds, keys = Counter[str](), dict[_Place, tuple[int, int]]()
        for place in self._queue:
            keys[place] = (rounds[place.user], self._last_turns.get(place.user, 0))
            rounds[place.user] += 1
        return sorted(keys, key=keys.__getitem__)

    def _advance(self) -> None:
        for place in self._queue:
            place.changed.set()
        while self._queue and self._busy_slots < self._slots:
            place = self._order()[0]
            self._queue.remove(place)
            self._busy_slots += 1
            self._turns += 1
            self._last_turns[place.user] = self._turns
