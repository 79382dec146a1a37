"""Sentences that remember their template and values, so that a page can translate them, and how
texts are put on a line."""

from __future__ import annotations

import re
from collections.abc import Iterable


class Text(str):
    """A sentence with values filled in, such as a name; otherwise an ordinary string.

    Attributes:
        template: The sentence with %1, %2… for ``values``, which is what gets translated.
        values: The values filled in.
    """

    template: str
    values: tuple[str, ...]

    def __new__(cls, template: str, *values: object) -> Text:
        """Put the values into the template."""
        words = tuple(str(value) for value in values)
        text = super().__new__(
            cls, re.sub(r"%([1-9])", lambda match: words[int(match[1]) - 1], template)
        )
        text.template, text.values = template, words
        return text


def parts_of(text: str) -> tuple[str, tuple[str, ...]]:
    """Template and values; a plain sentence is its own template."""
    return (text.template, text.values) if isinstance(text, Text) else (text, ())


def words_of(error: BaseException) -> str:
    """The message of an error; a `Text` if it was raised with one."""
    message = error.args[0] if error.args else ""
    return message if isinstance(message, Text) else str(error)


def joined(sentences: Iterable[str]) -> str:
    """Join sentences into one text; a single one can still be translated."""
    first, *others = [*sentences] or [""]
    return " ".join([first, *others]) if others else first


def on_a_line(text: str) -> str:
    """Put untrusted text on one line, without terminal control characters."""
    return "".join(char if char.isprintable() else " " for char in text)


def whole_text(text: object) -> str:
    """The text of a notebook output, which may be stored as a list of lines."""
    return "".join(map(str, text)) if isinstance(text, list | tuple) else str(text)


def gigabytes(size_bytes: int) -> str:
    """A size in words."""
    return f"{size_bytes / 1e9:.1f} GB"
