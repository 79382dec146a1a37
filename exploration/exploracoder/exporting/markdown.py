"""A report as Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterable

from exploracoder.document import code_block, escape_markdown
from exploracoder.exporting.blocks import (
    Block,
    Code,
    Flowchart,
    Fold,
    Heading,
    Image,
    Items,
    Markup,
    Text,
    Written,
)


def markdown(blocks: Iterable[Block]) -> str:
    """The blocks, one after the other, in one file: pictures are in it."""
    return "\n\n".join(text for text in map(_block, blocks) if text) + "\n"


def _block(block: Block) -> str:
    match block:
        case Heading(level, text):
            return f"{'#' * level} {_line(text)}"
        case Text(text):
            return "\n".join(escape_markdown(line).strip() for line in text.splitlines())
        case Items(items):
            return "\n".join(f"- {_item(text, address)}" for text, address in items)
        case Code(code):
            return code_block(code)
        case Fold(title, blocks):
            return "\n\n".join([f"**{_line(title)}**", *map(_block, blocks)])
        case Flowchart(mermaid):
            return code_block(mermaid, "mermaid")
        case Image(kind, data):
            return f"![output](data:{kind};base64,{re.sub('[^A-Za-z0-9+/=]', '', data)})"
        case Markup(_, text) | Written(text):
            return code_block(text.rstrip("\n"), "text") if text.strip() else ""


def _item(text: str, address: str | None) -> str:
    return f"[{_line(text)}]({address})" if address else _line(text)


def _line(text: str) -> str:
    return escape_markdown(" ".join(text.split()))
