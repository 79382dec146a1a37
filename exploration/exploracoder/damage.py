"""What a saved exploration may not hold, whatever the types of its fields.

A notebook may be cut, merged by hand or made by somebody who means harm. What is found here would
otherwise end in an exception somewhere, or in a file that cannot be written again. What the parts
of an exploration may not say of each other stands with them, in `state`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

MOST_LEVELS = 100


class DamageError(Exception):
    """What is wrong, as the end of a sentence: ``at PLACE: REASON``."""

    def __init__(self, place: Iterable[object], reason: str) -> None:
        shown = ".".join(brief(str(part)) for part in place) or "its top"
        super().__init__(f"at {shown}: {brief(reason, 200)}")


def check_values(value: object, *place: str) -> None:
    """Raise DamageError where values are nested too deeply or cannot be written as text."""
    if len(place) > MOST_LEVELS:
        raise DamageError(place[:4], f"more than {MOST_LEVELS} levels are nested")
    if isinstance(value, str):
        _check_text(value, place)
    elif isinstance(value, Mapping):
        for key, part in value.items():
            _check_text(str(key), place)
            check_values(part, *place, str(key))
    elif isinstance(value, list | tuple):
        for number, part in enumerate(value):
            check_values(part, *place, str(number))


def _check_text(text: str, place: Iterable[str]) -> None:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise DamageError(place, "half a character is no text") from None


def brief(text: str, most: int = 60) -> str:
    """A text from a file of a stranger's, short and printable, for a message."""
    shown = "".join(char if char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in text)
    return shown if len(shown) <= most else f"{shown[: most - 1]}…"
