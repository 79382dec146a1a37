"""Searches shown at their place in the code that was written with them."""

from __future__ import annotations

from collections.abc import Iterator

from exploracoder.state import Attempt, Search


def with_cards(attempt: Attempt) -> str:
    """The code, above each line the searches that were made for it as comments: it still runs."""
    lines = attempt.code.split("\n")
    shown: list[str] = []
    for number, line in enumerate(lines, start=1):
        indent = line[: len(line) - len(line.lstrip())]
        shown += [f"{indent}# {card(one)}" for one in _at(attempt, number, len(lines))]
        shown.append(line)
    return "\n".join(shown)


def card(search: Search) -> str:
    """One search on one line, fit for a terminal."""
    said = search.answer or f"nothing. {search.note}".rstrip()
    text = f"searched {search.query!r}: {said}" if search.query else f"a search: {said}"
    return "".join(char if char.isprintable() else " " for char in text)


def _at(attempt: Attempt, number: int, last: int) -> Iterator[Search]:
    """The searches before a line; those made before any code stand before the first."""
    for search in attempt.searches:
        if min(search.line or 1, last) == number:
            yield search
