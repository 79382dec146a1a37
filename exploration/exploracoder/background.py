"""An event loop in its own thread, for callers that have none or must not block."""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import threading
from collections.abc import Callable, Coroutine
from typing import Any, Generic, TypeVar

from exploracoder.errors import SetupError

ResultT = TypeVar("ResultT")

_START_SECONDS = 10.0
_STOP_SECONDS = 10.0
# How often a waiting caller wakes up, so that Ctrl-C reaches it on every platform.
_LOOK_UP_SECONDS = 0.2


class Job(Generic[ResultT]):
    """A coroutine running in the background. Its methods are for other threads."""

    def __init__(self, work: Coroutine[Any, Any, ResultT], loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._task: asyncio.Task[ResultT] | None = None
        self._is_cancelled = False
        self._future = asyncio.run_coroutine_threadsafe(self._supervise(work), loop)

    @property
    def is_done(self) -> bool:
        """Whether it has returned, raised, or been cancelled."""
        return self._future.done()

    def cancel(self) -> None:
        """Request cancellation; the job may still take time to save."""
        self._is_cancelled = True
        self._loop.call_soon_threadsafe(self._cancel_task)

    def wait(self, each: Callable[[], None] = lambda: None) -> ResultT:
        """Wait for the result, or raise what the job raised; call ``each`` periodically.

        Ctrl-C cancels the job, waits for it to save, and raises KeyboardInterrupt. A job that was
        cancelled from elsewhere raises concurrent.futures.CancelledError.
        """
        while True:
            try:
                each()
                concurrent.futures.wait([self._future], timeout=_LOOK_UP_SECONDS)
                if self._future.done():
                    each()
                    return self._future.result()
            except KeyboardInterrupt:
                self.cancel()
                concurrent.futures.wait([self._future], timeout=_STOP_SECONDS)
                raise

    async def _supervise(self, work: Coroutine[Any, Any, ResultT]) -> ResultT:
        self._task = asyncio.ensure_future(work)
        if self._is_cancelled:
            self._task.cancel()
        return await self._task

    def _cancel_task(self) -> None:
        if self._task is not None:
            self._task.cancel()


class Background:
    """An event loop and its thread; `stop` ends both and cancels what still runs."""

    def __init__(self, name: str = "exploracoder") -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stop_event: asyncio.Event | None = None
        self._is_ready = threading.Event()
        # A daemon thread, so that the process waits for it only as long as `stop` does.
        self._thread = threading.Thread(target=self._work, name=name, daemon=True)
        self._thread.start()
        if not self._is_ready.wait(_START_SECONDS):
            raise SetupError("The background thread did not start. Try again.")

    def start(self, work: Coroutine[Any, Any, ResultT]) -> Job[ResultT]:
        """Schedule work and return at once. Raises SetupError if the thread has ended."""
        if self._loop is None or not self._thread.is_alive():
            work.close()
            raise SetupError("The background thread has ended.")
        return Job(work, self._loop)

    def run(self, work: Coroutine[Any, Any, ResultT]) -> ResultT:
        """Run work and wait for its result; see `Job.wait`."""
        return self.start(work).wait()

    def stop(self) -> None:
        """Cancel what still runs, let it save, and end the thread."""
        loop, stop_event = self._loop, self._stop_event
        if loop is None or stop_event is None:
            return
        with contextlib.suppress(RuntimeError):  # The loop is closed already.
            loop.call_soon_threadsafe(stop_event.set)
        self._thread.join(_STOP_SECONDS)

    def _work(self) -> None:
        asyncio.run(self._wait_for_stop())

    async def _wait_for_stop(self) -> None:
        self._loop, self._stop_event = asyncio.get_running_loop(), asyncio.Event()
        self._is_ready.set()
        await self._stop_event.wait()


def run_sync(work: Coroutine[Any, Any, ResultT]) -> ResultT:
    """Run work to the end, even if this thread has a running loop. Ctrl-C cancels and saves."""
    background = Background()
    try:
        return background.run(work)
    finally:
        background.stop()
