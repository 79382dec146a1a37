"""How much of an API's name a query mentions, precomputed for a library when it is indexed."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Any

from exploracoder_retrieval.apidoc import ApiDoc
from exploracoder_retrieval.arrays import Floats, np
from exploracoder_retrieval.errors import IndexCorrupt
from exploracoder_retrieval.ranking.searched_fields import name_words, names
from exploracoder_retrieval.rows import RowTable

Rarity = Callable[[str], float]


class NameIndex:
    """The words of each row's names, of which there is at least one; the best name counts.

    ``by_word`` finds names by their words; ``totals`` is the summed rarity of each name's words;
    ``starts`` is each row's first name.
    """

    def __init__(self, by_word: RowTable, totals: Any, starts: Any) -> None:
        self._by_word = by_word
        self._totals = totals
        self._starts = starts

    @classmethod
    def build(cls, docs: Sequence[ApiDoc], rarity: Rarity) -> NameIndex:
        """Build from documents in row order; ``rarity`` says how much a word counts."""
        by_row = [[name_words(name) for name in names(doc)] for doc in docs]
        flat = [each for of_row in by_row for each in of_row]
        counts = np.asarray([0, *map(len, by_row)], dtype=np.int64)
        return cls(
            RowTable.build((word, number) for number, each in enumerate(flat) for word in each),
            np.asarray([sum(map(rarity, each)) for each in flat], dtype=np.float32),
            np.cumsum(counts)[:-1],
        )

    @classmethod
    def load(cls, folder: Path, rows: int) -> NameIndex:
        """Load from files that `save` wrote.

        Raises:
            IndexCorrupt: they are missing or damaged.
        """
        by_word = RowTable.load(folder / "words.npy")
        try:
            totals, starts = (np.load(folder / f"{name}.npy") for name in ("totals", "starts"))
        except (OSError, ValueError, EOFError) as error:
            raise IndexCorrupt(f"{folder} is damaged ({type(error).__name__}).") from None
        if len(starts) != rows or (rows and starts[-1] >= len(totals)):
            raise IndexCorrupt(f"{folder} is damaged (it holds something else).")
        return cls(by_word, totals, starts)

    def save(self, folder: Path) -> None:
        folder.mkdir()
        self._by_word.save(folder / "words.npy")
        np.save(folder / "totals.npy", self._totals)
        np.save(folder / "starts.npy", self._starts)

    def covered(self, words: Collection[str], rarity: Rarity) -> Floats:
        """For each row, the share of its best name that ``words`` cover, weighted by rarity."""
        if not len(self._starts):
            return np.zeros(0, dtype=np.float32)
        sums = np.zeros(len(self._totals), dtype=np.float32)
        for word in words:
            sums[self._by_word.rows(word)] += rarity(word)
        shares = sums / np.maximum(self._totals, np.float32(1e-6))
        return np.asarray(np.maximum.reduceat(shares, self._starts))
