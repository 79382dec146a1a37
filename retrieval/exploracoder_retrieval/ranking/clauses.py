"""The clauses of a query: somebody who asks for three things needs an API for each."""

from __future__ import annotations

import re

from exploracoder_retrieval.embedded_words import words

MAX_CLAUSES = 8
_MIN_WORDS = 2
_END = re.compile(
    r"(?:(?<=[.!?;:])\s+|\n+|,\s+|\s+(?=(?:and|then|but|while|where|such that|so that)\s))"
    r"(?:(?:and|then|but|while|where|such that|so that)\s+)*",
    re.IGNORECASE,
)
_WORD = re.compile(r"[^\W\d_]{2,}")


def clauses(query: str) -> tuple[str, ...]:
    """Split a query into at most MAX_CLAUSES clauses, in order; none if there is only one.

    >>> clauses("Read the file, then shuffle its lines and write them back.")
    ('Read the file', 'shuffle its lines', 'write them back')
    """
    parts = (part.strip(" ,.;") for part in _END.split(query))
    phrases = [part for part in parts if len(words(" ".join(_WORD.findall(part)))) >= _MIN_WORDS]
    return tuple(phrases[:MAX_CLAUSES]) if len(phrases) > 1 else ()
