"""Searches shown at their place in the code that was written with them."""

from __future__ import annotations

from exploracoder.state import Attempt, Search


def with_cards(attempt: Attempt) -> str:
    """The code, above each line the searches that were made for it as comments: it still runs."""
    lines = attempt.code.split("\n")
    shown: list[str] = []
    for number, line in enumerate(lines, start=1):
        indent = line[: len(line) - len(line.lstrip())]
        # Those made before any code stand before the first line.
        here = (one for one in attempt.searches if min(one.line or 1, len(lines)) == number)
        shown += [*(f"{indent}# {card(one)}" for one in here), line]
    return "\n".join(shown)


def card(search: Search) -> str:
    """One search on one line, fit for a terminal."""
    said = search.answer or f"nothing. {search.note}".rstrip()
    text = f"searched {search.query!r}: {said}" if search.query else f"a search: {said}"
    return "".join(char if char.isprintable() else " " for char in text)
