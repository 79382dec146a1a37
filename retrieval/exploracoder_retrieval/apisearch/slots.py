"""Work that may be left behind when it takes too long, in a bounded number of threads."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

ResultT = TypeVar("ResultT")


class Slots:
    """At most so many pieces of work at a time; none waits for its turn, and none keeps a process.

    Unlike a pool of the standard library, whose threads are joined when the interpreter ends.
    """

    def __init__(self, most: int) -> None:
        self._free = threading.BoundedSemaphore(most)

    def start(self, work: Callable[[], ResultT]) -> Future[ResultT] | None:
        """Begins the work; None when all slots are taken by what is still going on."""
        if not self._free.acquire(blocking=False):
            return None
        future: Future[ResultT] = Future()
        # Who cancels it only stops waiting: what the work gives then goes nowhere.
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
