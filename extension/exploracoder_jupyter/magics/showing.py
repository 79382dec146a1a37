"""One cell's view of the work that it began."""

from __future__ import annotations

import concurrent.futures
from pathlib import Path

from exploracoder.background import Job
from exploracoder.errors import CommandError
from exploracoder.events import Event

from exploracoder_jupyter.magics.keeper import Keeper
from exploracoder_jupyter.magics.page import Line, Page
from exploracoder_jupyter.magics.pages import exploration_page
from exploracoder_jupyter.magics.screen import Screen


class Showing:
    """Shows on a screen where the exploration is, while the cell's work goes on."""

    def __init__(self, screen: Screen, keeper: Keeper) -> None:
        self.screen = screen
        self._keeper = keeper
        self._latest: Event | None = None
        self._error = ""

    def hear(self, event: Event) -> None:
        """Something has happened; called in the thread of the work."""
        self._latest = event
        self.screen.tell(event, self.page)

    def end(self, error: str) -> None:
        """The work rests, or could not begin; called in the thread of the work."""
        self._error = error
        if not self.screen.waits_always:
            self.screen.show(self.page())

    def page(self) -> Page:
        """The exploration as it stands."""
        live, failed = self._keeper.found, Line(self._error, "bad")
        if live is not None:
            page = exploration_page(live.exploration, live.progress, short(live.output))
            return Page((*page.blocks, failed)) if self._error else page
        if self._error:
            return Page((failed,))
        doing = self._latest.progress.message if self._latest else "Starting"
        return Page((Line(f"{doing} …", "strong"),))

    def wait(self, job: Job[None]) -> bool:
        """Until the work rests. False when it was stopped; raises what stopped it otherwise."""
        try:
            self.screen.wait(job)
        except (KeyboardInterrupt, concurrent.futures.CancelledError):
            self.screen.show(self._stopped())
            return False
        if self.screen.waits_always:
            self.screen.show(self.page())
        live = self._keeper.found
        if live is not None and live.progress.error:
            raise CommandError(live.progress.error)
        return True

    def _stopped(self) -> Page:
        live = self._keeper.found
        if live is None:
            return Page((Line("Stopped before it was open. Nothing was explored."),))
        kept = (
            f"Stopped. All that was found is kept in {short(live.output)}; '%exploracoder next'"
            " goes on."
        )
        return Page((*self.page().blocks, Line(kept, "strong")))


def short(path: Path) -> str:
    """A path as one would type it here."""
    here = Path.cwd()
    return str(path.relative_to(here)) if path.is_relative_to(here) else str(path)
