"""The form of an API search in code: ``<API>APISearch(query)->answer</API>``.

The marks are plain text: an adapter cannot add words to the vocabulary of a quantised model, and
these take few tokens in any vocabulary (three each in the embedded model's).

Source: ToolCoder, sections 3.1 and 3.2; there the marks are words of their own in the vocabulary.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

OPEN = "<API>"
CLOSE = "</API>"
NAME = "APISearch("
ARROW = ")->"
MAX_QUERY_CHARS = 200
_MAX_ANSWER_CHARS = 200

_WHOLE = re.compile(
    rf"{OPEN}\s*APISearch\((?P<query>(?:(?!{OPEN}|APISearch\()[^\n])*?)\)\s*->\s*"
    rf"(?P<answer>(?:(?!{OPEN})[^\n])*?){CLOSE}"
)
# An unclosed search takes the rest of its line with it: nothing says where the code resumes.
_BROKEN = re.compile(rf"{OPEN}\s*APISearch\([^\n]*?(?:{CLOSE}|$)|{OPEN}|{CLOSE}", re.MULTILINE)
_EMPTY = ("", "#")


@dataclass(frozen=True, slots=True)
class Call:
    """A search in a text; ``start`` and ``end`` are offsets in characters."""

    query: str
    answer: str
    start: int
    end: int


def written(query: str, answer: str) -> str:
    """Format a search as it appears in code."""
    return f"{OPEN}{NAME}{_line(query)}{ARROW}{_line(answer)[:_MAX_ANSWER_CHARS]}{CLOSE}"


def whole_calls(text: str) -> Iterator[Call]:
    """Yield the searches that are closed and contain no other."""
    for match in _WHOLE.finditer(text):
        yield Call(match["query"].strip(), match["answer"].strip(), *match.span())


def without_calls(text: str) -> str:
    """Remove all searches, whole or broken, and the lines that held nothing else."""
    lines = []
    for line in text.split("\n"):
        plain = _BROKEN.sub("", _WHOLE.sub("", line))
        if plain == line or plain.strip() not in _EMPTY:
            lines.append(plain)
    return "\n".join(lines)


def without_queries(text: str) -> str:
    """Replace the query of each whole search by an empty one.

    Source: ToolCoder, section 5.3.1, "annotation w/o query".
    """
    return _WHOLE.sub(lambda match: written("", match["answer"]), text)


def line_at(text: str, offset: int) -> int:
    """The line number, from 1, that an offset has once searches are removed."""
    return without_calls(text[:offset]).count("\n") + 1


def _line(text: str) -> str:
    """Make text fit for use in a search: on one line, without marks."""
    plain = " ".join(text.split())
    for mark in (CLOSE, OPEN):
        plain = plain.replace(mark, "")
    return plain
