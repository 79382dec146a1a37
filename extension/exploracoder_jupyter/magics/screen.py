"""The output of a cell while the work goes on: an updatable display, or a terminal."""

from __future__ import annotations

import asyncio
import contextvars
import threading
import time
from collections import deque
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol
from uuid import uuid4

from exploracoder.background import Job
from exploracoder.events import Event

from exploracoder_jupyter.magics.page_blocks import Page
from exploracoder_jupyter.magics.pages import moment_page
from exploracoder_jupyter.magics.work_snapshot import Look, Moment

if TYPE_CHECKING:
    from exploracoder_jupyter.magics.widgets.board import Board
    from exploracoder_jupyter.magics.widgets.view import View

_EVERY_SECONDS = 0.3


class Screen(Protocol):
    """The output of one cell."""

    waits_always: bool

    def show(self, page: Page) -> None:
        """Show a page in the place of the one before."""
        ...

    def draw(self, look: Look) -> None:
        """Show the work as it stands now."""
        ...

    def say(self, page: Page) -> None:
        """Show a message beside the work."""
        ...

    def tell(self, event: Event, look: Look) -> None:
        """Handle an event; called in the thread of the work."""
        ...

    def wait(self, job: Job[None]) -> None:
        """Wait until a job is done, showing its progress. Raises whatever the job raised."""
        ...

    def retire(self, *, is_over: bool = False) -> None:
        """Stop updating this output and leave it as it is: another cell shows the work from now
        on, or none does if ``is_over``."""
        ...


def screen_for(shell: Any, board: Board | None = None) -> Screen:
    """Make the screen of the running cell in ``shell``; a board allows it to show widgets."""
    if getattr(shell, "kernel", None) is None:
        return TerminalScreen()
    return DisplayScreen(shell, board)


class DisplayScreen:
    """A display in a front end, updated by its id, so that it stays in the cell that began it.

    Once the front end is known to draw widgets, they replace the page. From then on the display
    itself is left alone, since updating it would recreate all of them.
    """

    waits_always = False

    def __init__(self, shell: Any, board: Board | None = None) -> None:
        self._publisher = shell.display_pub
        self._board = board
        self._view: View | None = None
        self._latest: Moment | None = None
        self._id = uuid4().hex
        # The context tells the kernel which cell is running; updates come from another thread.
        self._context = contextvars.copy_context()
        self._lock = threading.RLock()
        self._is_shown = False
        self._is_retired = False
        self._last = 0.0
        self._is_due = False

    def show(self, page: Page) -> None:
        """Show a page in the place of the one before."""
        with self._lock:
            self._context.copy().run(self._publish, page)

    def draw(self, look: Look) -> None:
        """Show the work as it stands now."""
        with self._lock:
            if self._is_retired:
                return
            self._last = time.monotonic()
            self._latest = look()
            self._context.copy().run(self._draw, self._latest)

    def say(self, page: Page) -> None:
        """Show a message beside the widgets."""
        with self._lock:
            if self._view is not None:
                self._context.copy().run(self._view.say, page)

    def tell(self, event: Event, look: Look) -> None:
        """Show the event now, or shortly after, together with those that follow meanwhile."""
        if self._is_due:
            return
        seconds_left = _EVERY_SECONDS - (time.monotonic() - self._last)
        if seconds_left <= 0:
            self.draw(look)
            return
        self._is_due = True
        asyncio.get_running_loop().call_later(seconds_left, self._draw_due, look)

    def wait(self, job: Job[None]) -> None:
        """Wait for the job, while events keep updating the display."""
        job.wait()

    def retire(self, *, is_over: bool = False) -> None:
        """Replace the widgets by the page, which a notebook keeps when the kernel is gone."""
        with self._lock:
            self._is_retired = True
            view, self._view = self._view, None
            if view is None or self._latest is None:
                return
            page = _left_behind(self._latest) if is_over else moment_page(self._latest)
            self._context.copy().run(self._publish, page)
            view.close()

    def _draw(self, moment: Moment) -> None:
        if self._view is not None:
            self._view.update(moment)
        elif self._board is not None and self._board.is_drawn:
            self._view = self._board.new_view()
            self._view.update(moment)
            self._publish(_left_behind(moment), self._view.bundle)
        else:
            self._publish(moment_page(moment))

    def _publish(self, page: Page, more: dict[str, Any] | None = None) -> None:
        from exploracoder_jupyter.magics.faces.html_face import as_html
        from exploracoder_jupyter.magics.faces.text_face import as_text

        data = {"text/plain": as_text(page), "text/html": as_html(page), **(more or {})}
        self._publisher.publish(data, {}, transient={"display_id": self._id}, update=self._is_shown)
        self._is_shown = True

    def _draw_due(self, look: Look) -> None:
        self._is_due = False
        self.draw(look)


def _left_behind(moment: Moment) -> Page:
    """The page to see where no kernel provides the widgets."""
    note = f"This page stays as it is. To go on after a restart run {moment.way_back}"
    return moment_page(replace(moment, note=note))


class TerminalScreen:
    """A terminal: lines and a spinner during the work, the page at the end."""

    waits_always = True

    def __init__(self) -> None:
        self._events: deque[Event] = deque()
        self._last_message = ""

    def show(self, page: Page) -> None:
        """Print the page."""
        from exploracoder_jupyter.magics.faces.terminal_face import print_page

        print_page(page)

    def draw(self, look: Look) -> None:
        """Print the work as it stands now."""
        self.show(moment_page(look()))

    def say(self, page: Page) -> None:
        """Print the message."""
        self.show(page)

    def tell(self, event: Event, look: Look) -> None:
        """Queue the event for the thread that owns the terminal."""
        self._events.append(event)

    def wait(self, job: Job[None]) -> None:
        """Wait for the job, printing its events."""
        from exploracoder.cli.console import Progress

        with Progress() as progress:
            job.wait(each=lambda: self._say_events(progress))

    def retire(self, *, is_over: bool = False) -> None:
        """Do nothing: what was printed stays."""

    def _say_events(self, progress: Any) -> None:
        while self._events:
            event = self._events.popleft()
            if event.progress.message and event.progress.message != self._last_message:
                self._last_message = event.progress.message
                progress.happened(event.exploration, self._last_message)
