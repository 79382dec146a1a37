"""The event loop of top-level ``await``."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Coroutine
from typing import Any


class Loop:
    """One event loop for all cells of a branch, so that what they share stays usable.

    After a fork the child gets a loop of its own: parent and child would share the old one's
    selector. The old one is kept, unused, since closing it would reach into the parent's.
    """

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._pid = 0
        self._abandoned: list[asyncio.AbstractEventLoop] = []

    def run(self, coroutine: Coroutine[Any, Any, Any]) -> Any:
        """Run to the end; tasks that the cell left go on in the next await."""
        if self._loop is not None and self._pid != os.getpid():
            self._abandoned.append(self._loop)
            self._loop = None
        if self._loop is None or self._loop.is_closed():
            self._loop, self._pid = asyncio.new_event_loop(), os.getpid()
        asyncio.set_event_loop(self._loop)
        return self._loop.run_until_complete(coroutine)

    def has_tasks(self) -> bool:
        """Whether something in the loop waits to go on."""
        return self._loop is not None and bool(asyncio.all_tasks(self._loop))
