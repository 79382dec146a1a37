"""A cell to run."""

from __future__ import annotations

from typing import NamedTuple


class Cell(NamedTuple):
    """A cell's source, and how to run it.

    Attributes:
        name: The file name that it is compiled under.
        number: Its place in the history.
        is_stored: Whether its source and result are kept, and the number is used up.
        is_silent: Whether nothing from it is shown or kept.
        has_front: Whether a front end is attached, which handles colours, pagers and payloads.
    """

    code: str
    name: str
    number: int
    is_stored: bool = True
    is_silent: bool = False
    has_front: bool = False

    @property
    def blank_lines(self) -> int:
        """The number of blank lines before the first code."""
        lines = self.code.splitlines()
        return next((number for number, line in enumerate(lines) if line.strip()), 0)


NO_CELL = Cell("", "<cell>", 0, is_stored=False)
