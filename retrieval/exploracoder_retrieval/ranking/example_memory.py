"""What kept examples say about a query: which APIs were used for something similar."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from exploracoder_retrieval.arrays import Floats, RowNumbers, Vectors, np

# Even unrelated sentences about one library have about this similarity.
_UNLIKE = 0.3


@dataclass(frozen=True)
class Memory:
    """Examples of one library, each with the vector of its purpose and the rows that it uses.

    There are a few hundred vectors: comparing all of them is exact, and faster than a graph.
    """

    vectors: Vectors
    uses: Sequence[RowNumbers]

    @cached_property
    def counts(self) -> Mapping[int, int]:
        """In how many examples each row is used."""
        return Counter(int(row) for rows in self.uses for row in rows)

    def nearness(self, query: Floats, rows: int) -> Floats:
        """For each of ``rows``, how similar the query is to the most similar example that uses it.

        0 if none is, at most 0.7.
        """
        near = np.zeros(rows, dtype=np.float32)
        likeness = self.vectors @ query - _UNLIKE
        for used_rows, like in zip(self.uses, likeness, strict=True):
            if like > 0:
                near[used_rows] = np.maximum(near[used_rows], like)
        return near
