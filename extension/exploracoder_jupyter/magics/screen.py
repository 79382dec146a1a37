"""Where a cell's output goes while the work goes on: a display that is updated, or a terminal."""

from __future__ import annotations

import asyncio
import contextvars
import time
from collections import deque
from collections.abc import Callable
from typing import Any, Protocol
from uuid import uuid4

from exploracoder.background import Job
from exploracoder.events import Event

from exploracoder_jupyter.magics.page import Page

_EVERY_SECONDS = 0.3

Draw = Callable[[], Page]


class Screen(Protocol):
    """The output of one cell."""

    waits_always: bool

    def show(self, page: Page) -> None:
        """Show a page in the place of the one before."""
        ...

    def tell(self, event: Event, draw: Draw) -> None:
        """Something has happened; called in the thread of the work."""
        ...

    def wait(self, job: Job[None]) -> None:
        """Wait until a job is done, showing how far it is. Raises what it raised."""
        ...


def screen_for(shell: Any) -> Screen:
    """The screen of the cell that runs in ``shell`` now."""
    return DisplayScreen(shell) if getattr(shell, "kernel", None) is not None else TerminalScreen()


class DisplayScreen:
    """A display in a front end, updated by its id, so that it stays in the cell that began it."""

    waits_always = False

    def __init__(self, shell: Any) -> None:
        self._publisher = shell.display_pub
        self._id = uuid4().hex
        # A kernel knows by its context which cell runs; updates come from another thread.
        self._context = contextvars.copy_context()
        self._is_shown = False
        self._last = 0.0
        self._is_due = False

    def show(self, page: Page) -> None:
        """Show a page in the place of the one before."""
        from exploracoder_jupyter.magics.faces.html import as_html
        from exploracoder_jupyter.magics.faces.text import as_text

        data = {"text/plain": as_text(page), "text/html": as_html(page)}
        self._last = time.monotonic()
        self._context.copy().run(
            self._publisher.publish,
            data,
            {},
            transient={"display_id": self._id},
            update=self._is_shown,
        )
        self._is_shown = True

    def tell(self, event: Event, draw: Draw) -> None:
        """Show it now, or a moment later together with what comes until then."""
        if self._is_due:
            return
        remaining = _EVERY_SECONDS - (time.monotonic() - self._last)
        if remaining <= 0:
            self.show(draw())
            return
        self._is_due = True
        asyncio.get_running_loop().call_later(remaining, self._show_due, draw)

    def wait(self, job: Job[None]) -> None:
        """Wait; the display is updated meanwhile."""
        job.wait()

    def _show_due(self, draw: Draw) -> None:
        self._is_due = False
        self.show(draw())


class TerminalScreen:
    """A terminal: lines and a spinner while it works, the page at the end."""

    waits_always = True

    def __init__(self) -> None:
        self._events: deque[Event] = deque()
        self._said = ""

    def show(self, page: Page) -> None:
        """Print the page."""
        from exploracoder_jupyter.magics.faces.terminal import print_page

        print_page(page)

    def tell(self, event: Event, draw: Draw) -> None:
        """Keep it for the thread that owns the terminal."""
        self._events.append(event)

    def wait(self, job: Job[None]) -> None:
        """Wait, saying what happens."""
        from exploracoder.cli.console import Progress

        with Progress() as progress:
            job.wait(each=lambda: self._say(progress))

    def _say(self, progress: Any) -> None:
        while self._events:
            event = self._events.popleft()
            if event.progress.message and event.progress.message != self._said:
                self._said = event.progress.message
                progress.happened(event.exploration, self._said)
