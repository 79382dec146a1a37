"""The content of a page without its form: text, HTML and the terminal render the same blocks.

Anything from a model, a library or a run is a plain string here, which each renderer escapes.
Only `Rich` contains HTML.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Tone = Literal["plain", "good", "bad", "dim", "strong"]


@dataclass(frozen=True, slots=True)
class Heading:
    """A line that names what follows."""

    text: str


@dataclass(frozen=True, slots=True)
class Line:
    """A sentence or two."""

    text: str
    tone: Tone = "plain"


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of cells; the first column is the narrow one."""

    rows: tuple[tuple[str, ...], ...]
    head: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Code:
    """Python source."""

    text: str


@dataclass(frozen=True, slots=True)
class Output:
    """What a run printed, or its error."""

    text: str
    tone: Tone = "plain"


@dataclass(frozen=True, slots=True)
class Rich:
    """A picture or a table that a run produced.

    ``html`` is already sanitised, and is the only text that is not escaped; ``text`` is for
    renderers without HTML.
    """

    html: str
    text: str


@dataclass(frozen=True, slots=True)
class Fold:
    """Blocks that can be collapsed under a title."""

    title: str
    blocks: tuple[Block, ...]
    is_open: bool = False


Block = Heading | Line | Table | Code | Output | Rich | Fold


@dataclass(frozen=True, slots=True)
class Page:
    """Blocks from top to bottom."""

    blocks: tuple[Block, ...]
