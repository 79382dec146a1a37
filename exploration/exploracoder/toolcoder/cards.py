"""Show searches as comments in the code that was written with them."""

from __future__ import annotations

from exploracoder.state import Attempt, Search


def with_cards(attempt: Attempt) -> str:
    """The code with the searches made for each line as comments above it; it still runs."""
    lines = attempt.code.split("\n")
    output: list[str] = []
    for number, line in enumerate(lines, start=1):
        indent = line[: len(line) - len(line.lstrip())]
        # Searches made before any code go above the first line.
        here = (one for one in attempt.searches if min(one.line or 1, len(lines)) == number)
        output += [*(f"{indent}# {card(one)}" for one in here), line]
    return "\n".join(output)


def card(search: Search) -> str:
    """Describe a search on one line that is safe for a terminal."""
    answer = search.answer or f"nothing. {search.note}".rstrip()
    text = f"searched {search.query!r}: {answer}" if search.query else f"a search: {answer}"
    return "".join(char if char.isprintable() else " " for char in text)
