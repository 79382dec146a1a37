"""Tells tabs about one exploration: each change once, in order, and only what has changed."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Any, Literal

from exploracoder import document
from exploracoder.events import Abilities, Change, Progress, change_between, changed_abilities
from exploracoder.merging import difference
from exploracoder.state import Exploration
from exploracoder.texts import joined

from exploracoder_jupyter.eventlog import EventLog
from exploracoder_jupyter.protocol import (
    MAX_STREAM_CHARS,
    CellsChange,
    ExplorationEvent,
    StreamEvent,
)


class Teller:
    """Compares the current exploration with the last published state, and publishes the changes.

    Args:
        exploration: The exploration as the tabs know it.
        progress: Its progress as the tabs know it.
        revision: The exploration's revision, which grows with each change.
        events: Where events go.
        path: Returns the path of its notebook.
        kernel_id: Returns the id of its sidecar.
        troubles: Returns the errors besides those of the work itself.
        abilities: Returns what can be done with an exploration in a given state.
    """

    def __init__(
        self,
        exploration: Exploration,
        progress: Progress,
        *,
        revision: int,
        events: EventLog,
        path: Callable[[], str],
        kernel_id: Callable[[], str],
        troubles: Callable[[], tuple[str, ...]],
        abilities: Callable[[Exploration, Progress], Abilities],
    ) -> None:
        self.exploration = exploration
        self.progress = progress
        self.cells = _cells_of(exploration)
        self.abilities = abilities(exploration, progress)
        # The last published revision; what is being saved may be ahead of it.
        self.revision = revision
        self._last_revision = revision
        self._events = events
        self._path = path
        self._kernel_id = kernel_id
        self._troubles = troubles
        self._can = abilities
        self._now = exploration, progress
        self._is_told = True
        self._last_stream = ("", "")
        self._streamed_since = 0.0
        self._changed_at: dict[str, int] = {}
        # The state that has the last revision; None for a new exploration, which has none yet.
        self._last_exploration: Exploration | None = exploration if revision else None

    @property
    def now(self) -> Exploration:
        """The current exploration, published or not."""
        return self._now[0]

    @property
    def is_working(self) -> bool:
        """Whether work is under way, published or not."""
        return self._now[1].activity == "working"

    @property
    def warning(self) -> str:
        """What a user should know about the solution before using it."""
        return document.warning(self.exploration)

    def hear(self, exploration: Exploration, progress: Progress) -> None:
        """Take a new state; all states taken in one event-loop turn become one change."""
        self._now = exploration, progress
        if self._is_told:
            self._is_told = False
            asyncio.get_running_loop().call_soon(self.flush)

    def say(self, **changes: Any) -> None:
        """Change the named fields of the progress."""
        exploration, progress = self._now
        self.hear(exploration, progress.model_copy(update=changes))

    def stream(self, part: str, text: str) -> None:
        """Send what the model has written so far; a text that starts afresh is a new reply."""
        now = time.monotonic()
        if part != self._last_stream[0] or not text.startswith(self._last_stream[1]):
            self._streamed_since = now
        self._last_stream = part, text
        self._events.whisper(
            StreamEvent(
                id=self.exploration.id,
                part=part,
                text=text[-MAX_STREAM_CHARS:],
                seconds=now - self._streamed_since,
            )
        )

    def rest(self, error: str, message: str = "") -> None:
        """Report that work has stopped and no session is open."""
        exploration, progress = self._now
        if exploration.status == "running":
            exploration = exploration.model_copy(update={"status": "paused", "reason": error})
        changes = {"activity": "idle", "part": "", "message": message, "error": error}
        self.hear(exploration, progress.model_copy(update=changes))

    def flush(self) -> None:
        """Publish what has changed since the last time, if anything has."""
        if self._is_told:
            return
        self._is_told = True
        exploration, progress = self._now
        errors = dict.fromkeys((progress.error, *self._troubles()))
        progress = progress.model_copy(update={"error": joined(one for one in errors if one)})
        change = change_between(self.exploration, exploration)
        self.revision = self._count(exploration)
        self._changed_at |= {step.subtask.id: self.revision for step in change.steps}
        cells = CellsChange() if change == Change() else self._show(exploration)
        if progress != self.progress:
            change = change.model_copy(update={"progress": progress})
        abilities = self._can(exploration, progress)
        ability_changes = changed_abilities(self.abilities, abilities)
        change = change.model_copy(update={"abilities": ability_changes})
        self.exploration, self.progress, self.abilities = exploration, progress, abilities
        if change != Change():
            self.publish("changed", change, cells)

    def changed_at(self, subtask: str) -> int:
        """The revision at which a subtask last changed; 0 if unknown."""
        return self._changed_at.get(subtask, 0)

    def _show(self, exploration: Exploration) -> CellsChange:
        """Bring the notebook's cells up to date."""
        before, self.cells = self.cells, _cells_of(exploration)
        cells, order = difference(before, self.cells)
        return CellsChange(cells=tuple(cells), order=None if order is None else tuple(order))

    def revise(self, exploration: Exploration) -> int:
        """The revision of a state that is about to be saved."""
        self.flush()
        return self._count(exploration)

    def _count(self, exploration: Exploration) -> int:
        if exploration != self._last_exploration:
            self._last_revision += 1
            self._last_exploration = exploration
        return self._last_revision

    def publish(
        self,
        state: Literal["open", "changed", "closed"],
        change: Change | None = None,
        cells: CellsChange | None = None,
    ) -> None:
        """Publish an event of this exploration."""
        self._events.publish(
            lambda number: ExplorationEvent(
                number=number,
                id=self.exploration.id,
                revision=self.revision,
                path=self._path(),
                kernel_id=self._kernel_id(),
                state=state,
                change=change or Change(),
                cells=cells or CellsChange(),
                warning=self.warning,
            )
        )


def _cells_of(exploration: Exploration) -> list[dict[str, Any]]:
    return [dict(cell) for cell in document.cells(exploration)]
