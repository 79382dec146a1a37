"""An event loop in a thread of its own: for callers that have none, or must not be kept waiting."""

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
# How often a caller that waits looks up, so that Ctrl-C reaches it on every system.
_LOOK_UP_SECONDS = 0.2


class Job(Generic[ResultT]):
    """A piece of work in the background. Its methods are for other threads."""

    def __init__(self, work: Coroutine[Any, Any, ResultT], loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._task: asyncio.Task[ResultT] | None = None
        self._is_cancelled = False
        self._future = asyncio.run_coroutine_threadsafe(self._supervise(work), loop)

    @property
    def is_done(self) -> bool:
        """Whether it has ended, in whatever manner."""
        return self._future.done()

    def cancel(self) -> None:
        """Ask it to stop; it may take its time to save."""
        self._is_cancelled = True
        self._loop.call_soon_threadsafe(self._cancel_task)

    def wait(self, each: Callable[[], None] = lambda: None) -> ResultT:
        """Its result, or what it raised. ``each`` is called every now and then.

        Ctrl-C cancels it, waits until it has saved, and raises KeyboardInterrupt. A job that
        somebody else cancelled raises concurrent.futures.CancelledError.
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
    """The loop and its thread; `stop` ends both, and cancels what still runs in it."""

    def __init__(self, name: str = "exploracoder") -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stopping: asyncio.Event | None = None
        self._is_ready = threading.Event()
        # A daemon: a process that ends waits no longer than `stop` does.
        self._thread = threading.Thread(target=self._work, name=name, daemon=True)
        self._thread.start()
        if not self._is_ready.wait(_START_SECONDS):
            raise SetupError("The background thread did not start. Try again.")

    def start(self, work: Coroutine[Any, Any, ResultT]) -> Job[ResultT]:
        """Let work run there; comes back at once. Raises SetupError when it was stopped."""
        if self._loop is None or not self._thread.is_alive():
            work.close()
            raise SetupError("The background thread has ended.")
        return Job(work, self._loop)

    def run(self, work: Coroutine[Any, Any, ResultT]) -> ResultT:
        """Let work run there and wait for it; see `Job.wait`."""
        return self.start(work).wait()

    def stop(self) -> None:
        """End the thread, after what runs in it was cancelled and has saved."""
        loop, stopping = self._loop, self._stopping
        if loop is None or stopping is None:
            return
        with contextlib.suppress(RuntimeError):  # The loop is closed already.
            loop.call_soon_threadsafe(stopping.set)
        self._thread.join(_STOP_SECONDS)

    def _work(self) -> None:
        asyncio.run(self._wait_for_stop())

    async def _wait_for_stop(self) -> None:
        self._loop, self._stopping = asyncio.get_running_loop(), asyncio.Event()
        self._is_ready.set()
        await self._stopping.wait()


def run_sync(work: Coroutine[Any, Any, ResultT]) -> ResultT:
    """Run to the end, whether or not this thread has a loop. Ctrl-C cancels, which saves."""
    background = Background()
    try:
        return background.run(work)
    finally:
        background.stop()
