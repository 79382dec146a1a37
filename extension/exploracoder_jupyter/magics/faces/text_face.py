"""Renders a page as plain text."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator

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

_WIDTH = 100
_CONTROL = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def as_text(page: Page) -> str:
    """Render the page, with its prose wrapped at a hundred characters."""
    return "\n".join(line for block in page.blocks for line in _lines(block))


def plain(text: str) -> str:
    """Untrusted text without terminal control sequences."""
    return _CONTROL.sub("", text.replace("\r\n", "\n"))


def _lines(block: Block) -> Iterator[str]:
    match block:
        case Heading():
            yield from ("", plain(block.text), "-" * min(len(block.text), _WIDTH))
        case Line():
            for part in plain(block.text).splitlines() or [""]:
                yield from textwrap.wrap(part, _WIDTH) or [""]
        case Table():
            yield from _table(block)
        case Code() | Output() | Rich():
            yield textwrap.indent(plain(block.text).rstrip(), "    ")
        case Fold():
            yield plain(block.title)
            for inner in block.blocks:
                yield from (f"  {line}" for line in _lines(inner))


def _table(table: Table) -> Iterator[str]:
    rows = [row for row in (table.head, *table.rows) if row]
    rows = [tuple(" ".join(plain(cell).split()) for cell in row) for row in rows]
    columns = max((len(row) for row in rows), default=0)
    widths = [max(len(row[at]) for row in rows if at < len(row)) for at in range(columns)]
    for row in rows:
        yield (
            "  "
            + "  ".join(
                cell.ljust(width) for cell, width in zip(row, widths, strict=False)
            ).rstrip()
        )
