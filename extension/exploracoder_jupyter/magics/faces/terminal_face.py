"""Renders a page in a terminal, with rich."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from exploracoder_jupyter.magics.faces.text_face import plain
from exploracoder_jupyter.magics.page_blocks import (
    Block,
    Code,
    Fold,
    Heading,
    Line,
    Output,
    Page,
    Rich,
    Table,
)

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

_STYLES = {"plain": "", "good": "green", "bad": "red", "dim": "dim", "strong": "bold"}


def print_page(page: Page) -> None:
    """Print the page to standard output."""
    console = _console()
    for block in page.blocks:
        for renderable in _drawn(block):
            console.print(renderable)


def _console() -> Console:
    from rich.console import Console

    return Console(file=sys.stdout, highlight=False, markup=False, emoji=False)


def _drawn(block: Block) -> Iterator[RenderableType]:
    from rich.padding import Padding
    from rich.text import Text

    match block:
        case Heading():
            yield Text(f"\n{plain(block.text)}", "bold")
        case Line():
            yield Text(plain(block.text), _STYLES[block.tone])
        case Table():
            yield _table(block)
        case Code():
            yield Padding(_code(block.text), (0, 0, 0, 4))
        case Output():
            yield Padding(Text(plain(block.text).rstrip(), _STYLES[block.tone]), (0, 0, 0, 4))
        case Rich():
            yield Padding(Text(plain(block.text).rstrip()), (0, 0, 0, 4))
        case Fold():
            yield Text(plain(block.title), "bold dim")
            for inner in block.blocks:
                for renderable in _drawn(inner):
                    yield Padding(renderable, (0, 0, 0, 2))


def _code(text: str) -> Any:
    from rich.syntax import Syntax

    return Syntax(plain(text).rstrip(), "python", theme="ansi_dark", background_color="default")


def _table(table: Table) -> Any:
    from rich.table import Table as Drawn
    from rich.text import Text

    rich_table = Drawn(box=None, show_header=bool(table.head), pad_edge=False, padding=(0, 2, 0, 0))
    columns = max((len(row) for row in (table.head, *table.rows)), default=0)
    for at in range(columns):
        rich_table.add_column(Text(plain(table.head[at]) if at < len(table.head) else ""))
    for row in table.rows:
        rich_table.add_row(*(Text(" ".join(plain(cell).split())) for cell in row))
    return rich_table
