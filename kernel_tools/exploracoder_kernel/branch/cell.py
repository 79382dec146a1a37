"""A cell that is to be run."""

from __future__ import annotations

from typing import NamedTuple


class Cell(NamedTuple):
    """Source, and how it asks to be run.

    Attributes:
        name: The file name that it is compiled under.
        number: Its place in the history.
        is_stored: Whether its source and result are kept, and the number is used up.
        is_silent: Whether nothing of it is shown or kept.
        has_front: Whether somebody looks on who knows colours, pagers and payloads.
    """

    code: str
    name: str
    number: int
    is_stored: bool = True
    is_silent: bool = False
    has_front: bool = False

    @property
    def blank_lines(self) -> int:
        """How many lines without anything it starts with."""
        lines = self.code.splitlines()
        return next((number for number, line in enumerate(lines) if line.strip()), 0)


NO_CELL = Cell("", "<cell>", 0, is_stored=False)
