"""Who saves an exploration's notebook: one tab, or the server."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Protocol

import anyio

# A tab that reloads, or whose network was cut, is back sooner as a rule.
GRACE_SECONDS = 3.0


class Tab(Protocol):
    """A tab's connection."""

    def granted(self, exploration: str) -> None:
        """It asked for the notebook when another tab had it, and has it now."""
        ...


class Lease:
    """Who saves one notebook.

    Args:
        exploration: Whose notebook it is.
        freed: Called when no tab saves it any more: the server does.
        grace_seconds: How long a tab whose connection was lost may take to come back.
    """

    def __init__(
        self,
        exploration: str,
        freed: Callable[[], None],
        *,
        grace_seconds: float = GRACE_SECONDS,
    ) -> None:
        self._exploration = exploration
        self._freed = freed
        self._grace_seconds = grace_seconds
        self._holder: Tab | None = None
        self._waiting: list[Tab] = []
        self._grace: asyncio.TimerHandle | None = None
        self._given_back: asyncio.Event | None = None

    @property
    def is_held(self) -> bool:
        """Whether a tab saves it, or had its connection cut a moment ago."""
        return self._holder is not None or self._grace is not None

    def expect(self) -> None:
        """A tab is about to open the notebook: leave it alone until it says that it holds it."""
        if self._holder is None:
            self._start_grace()

    def take(self, tab: Tab) -> bool:
        """Whether ``tab`` is the one that saves from now on; otherwise it waits for its turn."""
        if self._given_back is not None:
            return False
        if self._holder is None:
            self._give_to(tab)
        elif self._holder is not tab and tab not in self._waiting:
            self._waiting.append(tab)
        return self._holder is tab

    def release(self, tab: Tab) -> None:
        """``tab`` has saved, and saves no more."""
        self._leave(tab)
        if self._holder is tab:
            self._holder = None
            if not self._is_over():
                self._hand_on()

    def lose(self, tab: Tab) -> None:
        """``tab``'s connection is gone; it may come back."""
        self._leave(tab)
        if self._holder is tab:
            self._holder = None
            if not self._is_over():
                self._start_grace()

    async def close(self, patience_seconds: float) -> None:
        """Let nobody have it any more, once the tab that has it gave it back, or took too long."""
        self._waiting.clear()
        self._stop_grace()
        self._given_back = asyncio.Event()
        if self._holder is not None:
            with anyio.move_on_after(patience_seconds):
                await self._given_back.wait()
        self._holder = None

    def _is_over(self) -> bool:
        if self._given_back is not None:
            self._given_back.set()
        return self._given_back is not None

    def _start_grace(self) -> None:
        self._stop_grace()
        loop = asyncio.get_running_loop()
        self._grace = loop.call_later(self._grace_seconds, self._end_grace)

    def _end_grace(self) -> None:
        self._grace = None
        self._hand_on()

    def _hand_on(self) -> None:
        if self._waiting:
            tab = self._waiting.pop(0)
            self._give_to(tab)
            tab.granted(self._exploration)
        else:
            self._freed()

    def _give_to(self, tab: Tab) -> None:
        self._stop_grace()
        self._leave(tab)
        self._holder = tab

    def _leave(self, tab: Tab) -> None:
        if tab in self._waiting:
            self._waiting.remove(tab)

    def _stop_grace(self) -> None:
        if self._grace is not None:
            self._grace.cancel()
            self._grace = None
