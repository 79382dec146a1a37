"""New names for those of a library, made up from a seed.

Each part of a name (``sort_values``, ``groupby``, ``DataFrame``) gets a synonym, the same part
always the same one unless two names would collide; a part without any becomes a nonsense word.
"""

from __future__ import annotations

import itertools
import keyword
import random
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path

_SYNONYMS = Path(__file__).with_name("private") / "synonyms.txt"
# A part may begin with a capital; a run of capitals is one part.
_PIECE = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[^A-Za-z]+")
_ONSETS, _VOWELS, _CODAS = "b br d dr f g gl k kr l m n p pl r s st t tr v z", "aeiou", "lmnrstk"


class Inventor:
    """Makes up names; the same seed and names give the same results."""

    def __init__(self, seed: int, library: str) -> None:
        self._random = random.Random(f"{library} {seed}")
        self._synonyms = {
            part: tuple(self._random.sample(words, len(words)))
            for part, words in sorted(_read_synonyms().items())
        }

    def word(self) -> str:
        """A pronounceable word that means nothing."""
        onsets = _ONSETS.split()
        pick = self._random.choice
        return "".join(pick(onsets) + pick(_VOWELS) for _ in range(2)) + pick(_CODAS)

    def rename(self, names: Iterable[str]) -> dict[str, str]:
        """A new name for each of ``names`` that has more than one letter; no two are the same."""
        old = sorted(names)
        taken_names, renaming = {*old, *keyword.kwlist}, dict[str, str]()
        for name in old:
            if len(name) > 1 and any(map(str.isalpha, name)):
                candidates = (one for one in self._candidates(name) if one not in taken_names)
                renaming[name] = new = next(candidates)
                taken_names.add(new)
        return renaming

    def _candidates(self, name: str) -> Iterator[str]:
        pieces = _PIECE.findall(name)
        for parts in itertools.product(*(self._instead_of(piece) for piece in pieces)):
            yield "".join(parts)
        while True:
            yield _like(name, self.word())

    def _instead_of(self, piece: str) -> Sequence[str]:
        """The possible replacements of a piece, in its case; signs and digits stay."""
        if not piece.isalpha():
            return (piece,)
        low = piece.lower()
        parts = parts_of(low)
        if not parts:
            self._synonyms.setdefault(low, (self.word(), self.word()))
            parts = (low,)
        choices = itertools.product(*(self._synonyms[part] for part in parts))
        return [_like(piece, "_".join(words)) for words in choices]


@lru_cache
def parts_of(piece: str) -> tuple[str, ...]:
    """The fewest known parts that make up a lower-case piece; empty if none do."""
    synonyms = _read_synonyms()
    best: list[tuple[str, ...] | None] = [()]
    for end in range(1, len(piece) + 1):
        splits = (
            (*head, piece[start:end])
            for start in range(end)
            if (head := best[start]) is not None and piece[start:end] in synonyms
        )
        best.append(min(splits, key=len, default=None))
    return best[-1] or ()


def is_english(name: str) -> bool:
    """Whether a name may be an English word too, so that prose keeps it."""
    is_one = name.islower() and name.isalpha() and len(parts_of(name)) < 2
    return is_one and name not in _no_english()


def _like(piece: str, words: str) -> str:
    """Words in the case of a piece: ``Frame`` has no underscore, ``NA`` is all capitals."""
    if piece.isupper() and len(piece) > 1:
        return words.upper()
    if piece[:1].isupper():
        return "".join(word.capitalize() for word in words.split("_"))
    return words


@lru_cache
def _read_synonyms() -> dict[str, tuple[str, ...]]:
    rows = (line.split() for line in _lines() if not line.startswith("#"))
    return {part: tuple(words) for part, *words in rows}


@lru_cache
def _no_english() -> frozenset[str]:
    return frozenset(word for line in _lines() if line.startswith("#") for word in line.split())


def _lines() -> list[str]:
    return _SYNONYMS.read_text(encoding="utf-8").splitlines()
