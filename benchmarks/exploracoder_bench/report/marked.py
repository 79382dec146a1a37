"""Tables in Markdown pages, between comments that name the command which draws them."""

from __future__ import annotations

import re
from collections.abc import Callable

_COMMAND = "exploracoder bench table"
_MARKED = re.compile(
    rf"(?P<head><!-- table: {_COMMAND} (?P<name>\S+) -->\n).*?(?P<end><!-- end -->)", re.DOTALL
)


def redraw(page: str, draw: Callable[[str], str]) -> str:
    """The page with its tables redrawn."""
    return _MARKED.sub(lambda it: f"{it['head']}\n{draw(it['name'])}\n\n{it['end']}", page)


def stale_tables(page: str, draw: Callable[[str], str]) -> list[str]:
    """The names of a page's tables that are out of date."""
    return [it["name"] for it in _MARKED.finditer(page) if redraw(it[0], draw) != it[0]]
