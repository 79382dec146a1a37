"""What can go wrong, and two small helpers that the other modules share."""
from datetime import date


class MillError(Exception):
    """Base of every error that the library raises itself."""


class WordError(MillError, ValueError):
    """An option was given by a word that is not one of those allowed."""


class ShortError(MillError):
    """More was asked for than there is; ``lacking`` holds the kilos."""

    def __init__(self, message, lacking):
        super().__init__(message)
        self.lacking = lacking


def _one_of(option, word, allowed):
    if word not in allowed:
        listed = ", ".join(repr(w) for w in allowed)
        raise WordError(f"{option}={word!r}: must be one of {listed}")
    return word


def _day(value):
    return date.fromisoformat(value) if isinstance(value, str) else value
