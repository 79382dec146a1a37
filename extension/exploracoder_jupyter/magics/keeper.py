"""The one exploration that a kernel has open; its work runs in a thread of its own."""

from __future__ import annotations

import asyncio
import concurrent.futures
import logging
from collections.abc import Callable, Coroutine
from contextlib import AbstractAsyncContextManager, AsyncExitStack, suppress
from typing import Any, TypeVar

from exploracoder import commands as c
from exploracoder.background import Background, Job
from exploracoder.errors import CommandError, ExploraCoderError
from exploracoder.live_exploration import LiveExploration
from exploracoder_kernel.errors import SidecarError
from exploracoder_retrieval.errors import RetrievalError

Ended = Callable[[str], None]
ResultT = TypeVar("ResultT")
_log = logging.getLogger("exploracoder_jupyter.magics")

_NONE = (
    "No exploration is open in this kernel. Begin one: write a task under %%exploracoder. After a"
    " restart go on with the notebook that was saved: %exploracoder resume FILE"
)


class Keeper:
    """Opens, steers and closes an exploration. Its methods are for the kernel's own thread."""

    def __init__(self) -> None:
        self._background: Background | None = None
        self._stack: AsyncExitStack | None = None
        self._live: LiveExploration | None = None
        self._job: Job[Any] | None = None

    @property
    def background(self) -> Background:
        """The thread of the work, started on first use."""
        if self._background is None:
            self._background = Background()
        return self._background

    @property
    def is_busy(self) -> bool:
        """Whether an exploration is being opened or worked on."""
        return self._job is not None and not self._job.is_done

    @property
    def live(self) -> LiveExploration:
        """The open exploration. Raises CommandError when there is none, or none yet."""
        if self._live is None:
            raise CommandError(
                "The exploration is being opened. Wait a moment, or cancel it."
                if self.is_busy
                else _NONE
            )
        return self._live

    @property
    def found(self) -> LiveExploration | None:
        """The open exploration, if there is one."""
        return self._live

    def check_free(self) -> None:
        """Raise CommandError when another exploration is being worked on, SetupError when it cannot
        be saved: it stays open until it is saved elsewhere."""
        if self.is_busy:
            raise CommandError(
                "An exploration is being worked on. Wait for it, or stop it: %exploracoder cancel"
            )
        self.save()

    def save(self) -> None:
        """Save what could not be saved before. Raises SetupError when it still cannot be."""
        if self._live is not None:
            self.background.run(self._live.save())

    def open(
        self, manager: AbstractAsyncContextManager[LiveExploration], on_end: Ended
    ) -> Job[None]:
        """Open an exploration in place of the previous one, and follow it until it rests.

        ``on_end`` is called at the end, in the thread of the work, with the error or an empty text.
        Raises what `check_free` raises.
        """
        self.check_free()
        self._close_live()
        self._job = self.background.start(_told(self._open(manager), on_end))
        return self._job

    def do(self, command: c.Command, on_end: Ended) -> Job[None]:
        """Give a command, and follow the work until it rests.

        Raises CommandError and InputError when it cannot be taken.
        """
        live = self.live
        self.background.run(live.do(command))
        self._job = self.background.start(_told(_follow(live), on_end))
        return self._job

    def edit(self, command: c.Command) -> None:
        """Give a command that takes effect at once: an edit of the plan, or another mode.

        Raises CommandError and InputError when it cannot be taken.
        """
        self.background.run(self.live.do(command))

    def cancel(self) -> bool:
        """Stop the work, and wait until it is saved; False if there is none."""
        job = self._job
        if job is None or job.is_done:
            return False
        job.cancel()
        with suppress(ExploraCoderError, concurrent.futures.CancelledError):
            job.wait()
        return True

    def run(self, work: Coroutine[Any, Any, ResultT]) -> ResultT:
        """Run another coroutine in the background thread, and wait for its result."""
        return self.background.run(work)

    def close(self) -> None:
        """Stop the work, save, and end the thread."""
        background, self._background = self._background, None
        if background is None:
            return
        stack, self._stack, self._live = self._stack, None, None
        with suppress(Exception):  # The kernel ends, whatever the error.
            if self._job is not None and not self._job.is_done:
                self._job.cancel()
            if stack is not None:
                background.run(stack.aclose())
        background.stop()

    def _close_live(self) -> None:
        stack, self._stack, self._live = self._stack, None, None
        if stack is not None:
            self.background.run(stack.aclose())

    async def _open(self, manager: AbstractAsyncContextManager[LiveExploration]) -> None:
        stack = AsyncExitStack()
        live = await stack.enter_async_context(manager)
        self._stack, self._live = stack, live
        await _follow(live)


async def _follow(live: LiveExploration) -> None:
    """Wait until the work rests; cancelling this cancels the work, which is then saved."""
    try:
        await live.idle()
    except asyncio.CancelledError:
        await live.do(c.Cancel())
        raise


async def _told(work: Coroutine[Any, Any, None], on_end: Ended) -> None:
    """Do the work, then call ``on_end`` with its error, even if nobody waits for it."""
    try:
        await work
    except asyncio.CancelledError:
        on_end("")
        raise
    except (ExploraCoderError, SidecarError, RetrievalError) as error:
        on_end(str(error))
        raise
    except Exception as error:
        _log.exception("An exploration could not be opened or worked on.")
        on_end(
            f"Something unexpected went wrong: {type(error).__name__}. Its traceback is in the log."
        )
        raise
    on_end("")
