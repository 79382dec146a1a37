"""Shows the outcomes of a shell's magics: in the cells, and in widgets."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from exploracoder.background import Job
from exploracoder.errors import CommandError
from exploracoder.events import Event

from exploracoder_jupyter.magics.cell_view import CellView
from exploracoder_jupyter.magics.configuration import Widgets, has_ipywidgets
from exploracoder_jupyter.magics.keeper import Keeper
from exploracoder_jupyter.magics.page_blocks import Page
from exploracoder_jupyter.magics.parsing import Order
from exploracoder_jupyter.magics.screen import screen_for
from exploracoder_jupyter.magics.work_snapshot import Moment

if TYPE_CHECKING:
    from exploracoder_jupyter.magics.widgets.board import Board


class Display:
    """The cell that shows the work, which is the last that began work or asked about it.

    ``press`` is called with a button's order, in the thread in which cells run.
    """

    def __init__(self, shell: Any, keeper: Keeper, press: Callable[[Order], None]) -> None:
        self._shell = shell
        self._keeper = keeper
        self._press = press
        self._view: CellView | None = None
        self._made_board: Board | None = None
        self.is_pressed = False

    @contextmanager
    def pressed(self) -> Iterator[None]:
        """Within this context, show pages beside the widgets whose button was pressed."""
        self.is_pressed = True
        try:
            yield
        finally:
            self.is_pressed = False

    def begin(self, widgets: Widgets) -> None:
        """Show the work from now on, in the running cell or the widgets that were pressed."""
        old = self._view
        if old is None or not self.is_pressed:
            self._view = CellView(screen_for(self._shell, self._board(widgets)), self._keeper)
            if old is not None:
                old.screen.retire()
        # Sent from the cell's own thread, so that the display belongs to this cell.
        self._shown.begin()

    def wait(self, job: Job[None], *, is_waited_for: bool) -> bool:
        """Wait for the work if that is wanted; False if the user stopped it meanwhile."""
        view = self._shown
        if not self.is_pressed and (is_waited_for or view.screen.waits_always):
            return view.wait(job)
        return True

    def hear(self, event: Event) -> None:
        """Handle an event; called in the thread of the work."""
        if self._view is not None:
            self._view.hear(event)

    def end(self, error: str) -> None:
        """Show that the work rests or could not begin; called in the thread of the work."""
        if self._view is not None:
            self._view.end(error)

    def show(self, page: Page) -> None:
        """Show a page in the running cell, or beside the button that was pressed."""
        if self.is_pressed and self._view is not None:
            self._view.screen.say(page)
        else:
            screen_for(self._shell).show(page)

    def moment(self) -> Moment:
        """The work as it stands. Raises CommandError when there is none."""
        if self._view is None or not (self._keeper.found or self._keeper.is_busy):
            # Raises an error that says what to do.
            _ = self._keeper.live
        return self._shown.moment()

    def has_widgets(self, widgets: Widgets) -> bool:
        """Whether work is shown as widgets from now on."""
        board = self._board(widgets)
        return board is not None and board.is_drawn

    def close(self) -> None:
        """Replace the widgets by a page that says how to go on."""
        if self._view is not None:
            self._view.screen.retire(is_over=True)

    @property
    def _shown(self) -> CellView:
        if self._view is None:
            raise CommandError("Nothing is shown yet. Begin: write a task under %%exploracoder.")
        return self._view

    def _board(self, widgets: Widgets) -> Board | None:
        """The board that makes widgets; None where there can be none."""
        has_front_end = getattr(self._shell, "kernel", None) is not None
        if widgets == "off" or not has_front_end or not has_ipywidgets():
            return None
        if self._made_board is None:
            from exploracoder_jupyter.magics.widgets.board import Board

            self._made_board = Board(self._shell, self._press, self._answered)
        self._made_board.is_forced = widgets == "on"
        return self._made_board

    def _answered(self) -> None:
        """Replace the page by widgets, now that the front end is known to draw them."""
        if self._view is not None:
            self._view.draw()
