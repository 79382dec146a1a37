"""Show searches as comments in the code that was written with them."""

from __future__ import annotations

import ast

from exploracoder.engine.reading.syntax import first_line, tree
from exploracoder.state import Attempt, Search
from exploracoder.texts import on_a_line


def with_cards(attempt: Attempt) -> str:
    """The code with the searches made for each line as comments above its statement; it still
    runs."""
    if not attempt.searches:
        return attempt.code
    lines, beginnings = attempt.code.split("\n"), _beginnings(attempt.code)
    places: dict[int, list[Search]] = {}
    for search in attempt.searches:
        # Searches made before any code go above the first line.
        place = min(search.line or 1, len(lines))
        places.setdefault(beginnings.get(place, place), []).append(search)
    output: list[str] = []
    for number, line in enumerate(lines, start=1):
        indent = line[: len(line) - len(line.lstrip())]
        output += [*(f"{indent}# {card(one)}" for one in places.get(number, ())), line]
    shown = "\n".join(output)
    if ast.dump(tree(shown)) == ast.dump(tree(attempt.code)):
        return shown
    # On some lines that end a string, a comment would become a part of it.
    return "\n".join([*(f"# {card(one)}" for one in attempt.searches), attempt.code])


def _beginnings(code: str) -> dict[int, int]:
    """The first line of the innermost statement that each line belongs to.

    A comment further down would end up in a string, or after a backslash.
    """
    beginnings: dict[int, int] = {}
    # Statements come before those in them.
    for node in ast.walk(tree(code)):
        if isinstance(node, ast.stmt):
            inner = [one for one in ast.iter_child_nodes(node) if isinstance(one, ast.stmt)]
            last = first_line(inner[0]) - 1 if inner else node.end_lineno or node.lineno
            lines = range(first_line(node), max(last, node.lineno) + 1)
            beginnings |= dict.fromkeys(lines, first_line(node))
    return beginnings


def card(search: Search) -> str:
    """Describe a search on one line that is safe for a terminal."""
    answer = search.answer or f"nothing. {search.note}".rstrip()
    text = f"searched {search.query!r}: {answer}" if search.query else f"a search: {answer}"
    return on_a_line(text)
