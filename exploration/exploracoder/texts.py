"""Sentences for people that know what they were made of, so that a page can translate them."""

from __future__ import annotations

import re
from collections.abc import Iterable


class Text(str):
    """A sentence with something in it, such as a name; everywhere else it is that sentence.

    Attributes:
        template: The sentence with %1, %2… for ``values``: translators know it by that.
        values: What stands there.
    """

    template: str
    values: tuple[str, ...]

    def __new__(cls, template: str, *values: object) -> Text:
        """Put the values into the template."""
        words = tuple(str(value) for value in values)
        text = super().__new__(
            cls, re.sub(r"%([1-9])", lambda found: words[int(found[1]) - 1], template)
        )
        text.template, text.values = template, words
        return text


def parts_of(text: str) -> tuple[str, tuple[str, ...]]:
    """Template and values; a sentence in which nothing stands is its own template."""
    return (text.template, text.values) if isinstance(text, Text) else (text, ())


def words_of(error: BaseException) -> str:
    """What an error says; `Text` where it was raised with one."""
    message = error.args[0] if error.args else ""
    return message if isinstance(message, Text) else str(error)


def joined(sentences: Iterable[str]) -> str:
    """Several sentences as one text; a single one is still translated."""
    first, *others = [*sentences] or [""]
    return " ".join([first, *others]) if others else first
