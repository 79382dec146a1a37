"""The event loop for top-level ``await``."""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import Coroutine
from typing import Any, Optional

from . import descriptors


class Loop:
    """One event loop for all cells of a branch, so that what they share stays usable.

    After a fork, the child continues with the same loop, to which the user's objects may be bound,
    but with its own selector and wake-up socket: otherwise it would share its parent's.
    """

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._pid = 0
        self.was_interrupted = False
        self._abandoned_loops: list[asyncio.AbstractEventLoop] = []

    def run(self, coroutine: Coroutine[Any, Any, Any]) -> Any:
        """Run a coroutine to its end; tasks that a cell leaves behind continue in the next await.

        Raises:
            KeyboardInterrupt: SIGINT came. The coroutine is cancelled, so that none of it runs
                later; if it returns a result all the same, that is returned instead.
        """
        loop = self._current()
        task = loop.create_task(coroutine)
        self.was_interrupted = False
        try:
            return loop.run_until_complete(task)
        except KeyboardInterrupt:
            if task.done():
                if not task.cancelled():
                    task.exception()  # retrieved, or asyncio would complain later
                raise
        self.was_interrupted = True
        task.cancel()
        try:
            return loop.run_until_complete(task)
        except asyncio.CancelledError as error:
            # Before Python 3.11 this is a new error; the first one's traceback says where it was.
            is_second = isinstance(error.__context__, asyncio.CancelledError)
            first = error.__context__ if is_second else error
            assert first is not None
            raise KeyboardInterrupt().with_traceback(first.__traceback__) from None

    def run_until_readable(self, sock: socket.socket) -> None:
        """Run tasks left by cells until ``sock`` is readable; return at once if there are none."""
        loop = self._loop
        if loop is None or loop.is_closed() or self._pid != os.getpid():
            return
        if not _is_busy(loop) and not _watches(loop):
            return
        arrival = loop.create_future()

        def arrive() -> None:
            if not arrival.done():
                arrival.set_result(None)

        loop.add_reader(sock, arrive)
        try:
            loop.run_until_complete(arrival)
        finally:
            loop.remove_reader(sock)

    def _current(self) -> asyncio.AbstractEventLoop:
        if self._loop is not None and self._pid != os.getpid():
            self._renew(self._loop)
        if self._loop is None or self._loop.is_closed():
            self._loop = asyncio.new_event_loop()
        self._pid = os.getpid()
        asyncio.set_event_loop(self._loop)
        return self._loop

    def reason_not_to_fork(self) -> Optional[str]:
        """What is pending in the loop that could not go on in a fork; None if nothing is."""
        loop = self._loop if self._loop is not None and not self._loop.is_closed() else None
        if loop is not None:
            if asyncio.all_tasks(loop):
                return "tasks of its event loop wait to go on"
            if _is_busy(loop):
                return "calls are scheduled in its event loop"
            if _watches(loop):
                return "its event loop watches files, sockets or signals"
        if descriptors.count_selectors() > len(self._abandoned_loops) + (loop is not None):
            return "an event loop or a selector of the user's is open"
        return None

    def _renew(self, loop: Any) -> None:
        """Adapt a loop inherited through a fork; drop one of an unknown kind, to be replaced.

        The dropped loop is kept, unused: closing it would affect the parent's.
        """
        try:
            parts = (loop._selector, loop._ssock, loop._csock)
            loop._selector = type(loop._selector)()
            loop._internal_fds = 0
            loop._default_executor = None
            loop._make_self_pipe()
        except (AttributeError, OSError, TypeError):
            self._abandoned_loops.append(loop)
            self._loop = None
            return
        for part in parts:
            part.close()


def _is_busy(loop: Any) -> bool:
    """Whether the loop has something to do, now or later."""
    has_calls = getattr(loop, "_scheduled", None) or getattr(loop, "_ready", None)
    return bool(asyncio.all_tasks(loop)) or bool(has_calls)


def _watches(loop: Any) -> bool:
    """Whether the loop's selector holds more than the loop's own wake-up socket."""
    if getattr(loop, "_signal_handlers", None):
        return True
    selector = getattr(loop, "_selector", None)
    keys = selector.get_map() if selector is not None else None
    return keys is not None and len(keys) > getattr(loop, "_internal_fds", 0)
