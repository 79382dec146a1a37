"""When SIGINT may interrupt running code, and when it has to wait."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Optional, TypeVar

T = TypeVar("T")


class Interrupts:
    """Lets SIGINT stop a snippet, and never the branch's own work.

    A frame that is being sent is finished first: half a frame would garble all that follow.
    """

    def __init__(self) -> None:
        self._is_allowed = False
        self._is_held = False
        self._is_pending = False

    def install(self) -> None:
        """Install our SIGINT handler, even over one that a snippet installed."""
        signal.signal(signal.SIGINT, self._arrived)

    @contextlib.contextmanager
    def allowed(self) -> Iterator[None]:
        """Let SIGINT raise KeyboardInterrupt in the block: around the user's code."""
        self._is_allowed, self._is_pending = True, False
        try:
            yield
        finally:
            self._is_allowed = False

    @contextlib.contextmanager
    def held(self) -> Iterator[None]:
        """Defer SIGINT to the end of the block: around our own work inside the user's code."""
        was_held, self._is_held = self._is_held, True
        try:
            yield
        finally:
            self._is_held = was_held
        if self._is_pending and self._is_allowed and not was_held:
            self._is_pending = False
            raise KeyboardInterrupt

    def forbid(self) -> None:
        """Ignore SIGINT again, for the branch's own work, whatever state an interrupt left."""
        self._is_allowed = self._is_held = self._is_pending = False

    def _arrived(self, _number: int, _frame: FrameType | None) -> None:
        if self._is_held:
            self._is_pending = True
        elif self._is_allowed:
            raise KeyboardInterrupt


class TooLong(BaseException):
    """Time is up. Not an Exception, so that code which catches those does not swallow it."""


@contextlib.contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raise TooLong in the block after ``seconds``; the user's own timer resumes afterwards."""

    def expire(_number: int, _frame: FrameType | None) -> None:
        raise TooLong

    previous = signal.signal(signal.SIGALRM, expire)
    delay, interval = signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, signal.SIG_DFL if previous is None else previous)
        if delay:
            signal.setitimer(signal.ITIMER_REAL, delay, interval)


def attempt(
    action: Callable[[], T], otherwise: Optional[T] = None, seconds: Optional[float] = None
) -> Optional[T]:
    """The result of calling user code; ``otherwise`` if it raises or takes too long."""
    try:
        with time_limit(seconds) if seconds else contextlib.nullcontext():
            return action()
    except KeyboardInterrupt:
        raise
    except BaseException:  # noqa: BLE001  # it may raise anything
        return otherwise
