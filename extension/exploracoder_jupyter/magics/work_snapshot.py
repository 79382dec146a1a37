"""A snapshot of the work, for a cell to show."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from exploracoder.events import Progress
from exploracoder.state import Exploration


@dataclass(frozen=True, slots=True)
class Moment:
    """The work as it stands.

    ``exploration`` is None before it is open. ``error`` says why it could not be opened; ``note``
    is shown at the end.
    """

    exploration: Exploration | None
    progress: Progress
    notebook: str = ""
    error: str = ""
    note: str = ""

    @property
    def is_working(self) -> bool:
        """Whether it is being opened or worked on."""
        has_ended = self.exploration is None and bool(self.error or self.note)
        return self.progress.activity == "working" and not has_ended

    @property
    def way_back(self) -> str:
        """The commands to go on with once this kernel is gone."""
        return f"%load_ext exploracoder, then %exploracoder resume {self.notebook or 'FILE'}"


Look = Callable[[], Moment]
