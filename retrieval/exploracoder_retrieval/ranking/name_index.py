"""How much of an API's name a query says, worked out for a whole library when it is indexed."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from exploracoder_retrieval.apidoc import ApiDoc
from exploracoder_retrieval.errors import IndexCorrupt
from exploracoder_retrieval.ranking.fields import is_member, name_words, names, owner_name
from exploracoder_retrieval.rows import RowTable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Rarity = Callable[[str], float]


@dataclass(frozen=True, slots=True)
class NameIndex:
    """The words of the names of each row and of its owner, and the names as code writes them."""

    names: CoverTable
    owners: CoverTable
    written: RowTable

    @classmethod
    def build(cls, docs: Sequence[ApiDoc], rarity: Rarity) -> NameIndex:
        """From documents in row order; ``rarity`` says how much a word counts."""
        called = [names(doc) for doc in docs]
        owners = [name_words(owner_name(doc)) if is_member(doc) else frozenset() for doc in docs]
        return cls(
            names=CoverTable.build(
                [[name_words(name) for name in each] for each in called], rarity
            ),
            owners=CoverTable.build([[each] for each in owners], rarity),
            written=RowTable.build(
                (name, row)
                for row, each in enumerate(called)
                for name in {name.lower() for name in each}
            ),
        )

    @classmethod
    def load(cls, folder: Path, rows: int) -> NameIndex:
        """From files that `save` wrote.

        Raises:
            IndexCorrupt: they are missing or damaged.
        """
        return cls(
            names=CoverTable.load(folder / "names", rows),
            owners=CoverTable.load(folder / "owners", rows),
            written=RowTable.load(folder / "written.npy"),
        )

    def save(self, folder: Path) -> None:
        folder.mkdir()
        self.names.save(folder / "names")
        self.owners.save(folder / "owners")
        self.written.save(folder / "written.npy")

    def is_written(self, identifiers: Collection[str]) -> NDArray[np.bool_]:
        """Whether one of some lower-cased identifiers is the row's name, for each row."""
        import numpy as np

        found = np.zeros(self.names.rows, dtype=bool)
        for identifier in identifiers:
            found[self.written.rows(identifier)] = True
        return found


class CoverTable:
    """For each row some sets of words, one at least: how much of the best set is said.

    ``sets`` finds the sets by their words; ``totals`` are the sets' words' rarities, added up;
    ``starts`` is each row's first set.
    """

    def __init__(self, sets: RowTable, totals: Any, starts: Any) -> None:
        self._sets = sets
        self._totals = totals
        self._starts = starts

    @property
    def rows(self) -> int:
        return len(self._starts)

    @classmethod
    def build(cls, rows: Sequence[Sequence[frozenset[str]]], rarity: Rarity) -> CoverTable:
        import numpy as np

        flat = [each for sets in rows for each in sets]
        counts = np.asarray([0, *(len(sets) for sets in rows)], dtype=np.int64)
        return cls(
            RowTable.build((word, number) for number, each in enumerate(flat) for word in each),
            np.asarray([sum(map(rarity, each)) for each in flat], dtype=np.float32),
            np.cumsum(counts)[:-1],
        )

    @classmethod
    def load(cls, folder: Path, rows: int) -> CoverTable:
        """Raises IndexCorrupt when a file of `save` is missing or damaged."""
        import numpy as np

        sets = RowTable.load(folder / "sets.npy")
        try:
            totals, starts = (np.load(folder / f"{name}.npy") for name in ("totals", "starts"))
        except (OSError, ValueError, EOFError) as error:
            raise IndexCorrupt(f"{folder} is damaged ({type(error).__name__}).") from None
        if len(starts) != rows or (rows and starts[-1] >= len(totals)):
            raise IndexCorrupt(f"{folder} is damaged (it holds something else).")
        return cls(sets, totals, starts)

    def save(self, folder: Path) -> None:
        import numpy as np

        folder.mkdir()
        self._sets.save(folder / "sets.npy")
        np.save(folder / "totals.npy", self._totals)
        np.save(folder / "starts.npy", self._starts)

    def shares(self, said: Collection[str], rarity: Rarity) -> NDArray[np.float32]:
        """For each row the part of its best set that is said, rare words counting more."""
        import numpy as np

        if not self.rows:
            return np.zeros(0, dtype=np.float32)
        found = np.zeros(len(self._totals), dtype=np.float32)
        for word in said:
            found[self._sets.rows(word)] += rarity(word)
        shares = found / np.maximum(self._totals, np.float32(1e-6))
        return np.asarray(np.maximum.reduceat(shares, self._starts))
