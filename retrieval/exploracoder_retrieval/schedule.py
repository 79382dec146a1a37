"""In which portions the vectors of a collection are written."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

# So many texts are embedded, at most, between two reports of progress.
_PORTION = 1_000
# Chroma saves its graph after so many portions; where there are very many, so often in all.
_TOGETHER = 5
_SAVES = 20


@dataclass(frozen=True, slots=True)
class Schedule:
    """``count`` vectors in even portions; chroma saves its graph ``saves`` times while they come.

    What chroma was given since it last saved its graph is put into the graph again by every process
    that opens the collection: up to a thousand vectors at its own setting, half a second for each
    process. So the portions are even, and the last of them makes chroma save: nothing is left over.
    """

    count: int
    saves: int
    portions: int

    @classmethod
    def of(cls, count: int) -> Schedule:
        """For a collection of ``count`` vectors."""
        wanted = max(1, math.ceil(count / _PORTION))
        together = min(wanted, max(_TOGETHER, wanted // _SAVES))
        saves = math.ceil(wanted / together)
        return cls(count, saves, saves * together)

    @property
    def sync(self) -> int:
        """After how many vectors chroma is to save."""
        return self.count // self.saves

    def spans(self) -> Iterator[slice]:
        """The rows of each portion."""
        for number in range(self.portions):
            start, end = (each * self.count // self.portions for each in (number, number + 1))
            if end > start:
                yield slice(start, end)
