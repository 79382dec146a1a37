"""Renders a page as HTML without scripts, safe in any front end. All text is escaped."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

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

# Colours that work on light and dark backgrounds; the text alone always says the same.
_TONES = {
    "plain": "",
    "good": "color:#2e8b57",
    "bad": "color:#d9534f",
    "dim": "opacity:.7",
    "strong": "font-weight:bold",
}
_PRE = "margin:.2em 0 .4em 1em;padding:.3em .6em;border-left:3px solid #8888;overflow:auto"


def as_html(page: Page) -> str:
    """Render the page as one element."""
    return f'<div class="exploracoder">{_all(page.blocks)}</div>'


def _all(blocks: Iterable[Block]) -> str:
    return "".join(_block(block) for block in blocks)


def _block(block: Block) -> str:
    match block:
        case Heading():
            return f"<h4>{_text(block.text)}</h4>"
        case Line():
            html = "<br>".join(_text(line) for line in block.text.splitlines())
            return f'<p style="{_TONES[block.tone]};margin:.3em 0">{html}</p>'
        case Table():
            return _table(block)
        case Code():
            return f'<pre style="{_PRE}"><code>{_text(block.text)}</code></pre>'
        case Output():
            return f'<pre style="{_PRE};{_TONES[block.tone]}">{_text(block.text)}</pre>'
        case Rich():
            return f"<div>{block.html}</div>"
        case Fold():
            is_open = " open" if block.is_open else ""
            title = f"<summary>{_text(block.title)}</summary>"
            return f"<details{is_open}>{title}{_all(block.blocks)}</details>"


def _table(table: Table) -> str:
    def row(cells: tuple[str, ...], tag: str) -> str:
        html = "".join(f'<{tag} style="text-align:left">{_text(cell)}</{tag}>' for cell in cells)
        return f"<tr>{html}</tr>"

    head = f"<thead>{row(table.head, 'th')}</thead>" if table.head else ""
    return (
        f"<table>{head}<tbody>{''.join(row(cells, 'td') for cells in table.rows)}</tbody></table>"
    )


def _text(text: str) -> str:
    return escape(plain(text), quote=True)
