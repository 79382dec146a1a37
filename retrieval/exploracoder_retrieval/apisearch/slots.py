"""Work that can be abandoned if it takes too long, in a bounded number of threads."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

ResultT = TypeVar("ResultT")


class Slots:
    """A bounded number of jobs at a time; none is queued, and none keeps the process alive.

    The threads of a standard library pool, by contrast, are joined when the interpreter exits.
    """

    def __init__(self, most: int) -> None:
        self._free = threading.BoundedSemaphore(most)

    def start(self, work: Callable[[], ResultT]) -> Future[ResultT] | None:
        """Start the work; None if all slots are taken by work still in progress."""
        if not self._free.acquire(blocking=False):
            return None
        future: Future[ResultT] = Future()
        # The work cannot be cancelled: a caller that stops waiting just never sees the result.
        future.set_running_or_notify_cancel()

        def run() -> None:
            try:
                result = work()
            except BaseException as error:  # noqa: BLE001 - handed to whoever waits
                self._free.release()
                future.set_exception(error)
            else:
                self._free.release()
                future.set_result(result)

        threading.Thread(target=run, name="exploracoder-web", daemon=True).start()
        return future
