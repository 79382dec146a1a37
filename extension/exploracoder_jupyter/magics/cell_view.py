"""One cell's view of the work that it began."""

from __future__ import annotations

import concurrent.futures
from dataclasses import replace
from pathlib import Path

from exploracoder.background import Job
from exploracoder.errors import CommandError
from exploracoder.events import Event, Progress

from exploracoder_jupyter.magics.keeper import Keeper
from exploracoder_jupyter.magics.screen import Screen
from exploracoder_jupyter.magics.work_snapshot import Moment

_STARTING = Progress(activity="working", message="Starting")


class CellView:
    """Shows an exploration's progress on a screen while the cell's work goes on."""

    def __init__(self, screen: Screen, keeper: Keeper) -> None:
        self.screen = screen
        self._keeper = keeper
        self._latest: Event | None = None
        self._open: Moment | None = None
        self._error = ""
        self._note = ""

    def begin(self) -> None:
        """Show the work as it stands, without the messages of earlier work."""
        self._error = self._note = ""
        self.draw()

    def hear(self, event: Event) -> None:
        """Handle an event; called in the thread of the work."""
        self._latest = event
        self.screen.tell(event, self.moment)

    def end(self, error: str) -> None:
        """Show that the work rests or could not begin; called in the thread of the work."""
        self._error = error
        if not error and self._keeper.found is None and self._open is None:
            self._note = self._stopped()
        self.draw()

    def draw(self) -> None:
        """Show the work as it stands; not in a terminal, which cannot update a page in place."""
        if not self.screen.waits_always:
            self.screen.draw(self.moment)

    def moment(self) -> Moment:
        """The exploration as it stands, or as it stood when it was closed."""
        live, messages = self._keeper.found, (self._error, self._note)
        if live is not None:
            self._open = Moment(live.exploration, live.progress, short(live.output), *messages)
            return self._open
        if self._open is not None:
            return replace(self._open, error=self._error, note=self._note)
        progress = self._latest.progress if self._latest else _STARTING
        return Moment(None, progress, "", *messages)

    def wait(self, job: Job[None]) -> bool:
        """Wait until the work rests; False when the user stopped it. Raises the work's error."""
        try:
            self.screen.wait(job)
        except (KeyboardInterrupt, concurrent.futures.CancelledError):
            self._note = self._stopped()
            self.screen.draw(self.moment)
            return False
        if self.screen.waits_always:
            self.screen.draw(self.moment)
        live = self._keeper.found
        if live is not None and live.progress.error:
            raise CommandError(live.progress.error)
        return True

    def _stopped(self) -> str:
        live = self._keeper.found
        if live is None:
            return "Stopped before it was open. Nothing was explored."
        return (
            f"Stopped. All that was found is kept in {short(live.output)}; '%exploracoder next'"
            " goes on."
        )


def short(path: Path) -> str:
    """A path as one would type it here: relative if it lies below the current folder."""
    here = Path.cwd()
    return str(path.relative_to(here)) if path.is_relative_to(here) else str(path)
