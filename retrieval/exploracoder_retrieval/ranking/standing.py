"""What speaks for an API whatever the query: whether it is used, and its owner mentioned.

All figures are relative to the library, so that weights learned on one hold for another.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

from exploracoder_retrieval.apidoc import ApiDoc
from exploracoder_retrieval.arrays import Matrix, RowNumbers, np
from exploracoder_retrieval.ranking.searched_fields import owner_name
from exploracoder_retrieval.ranking.usage_counts import read_usage

STANDING = ("used", "mentioned", "owner_mentioned")


def figures(docs: Sequence[ApiDoc], examples: Iterable[str] = ()) -> Matrix:
    """A row for each doc, a column for each of STANDING, as `standing` takes them.

    ``examples`` are outside the docs. Uses stay counts, because more may be added later.
    """
    usage = read_usage(docs, examples)
    columns = [
        [usage.of(doc) for doc in docs],
        _relative([usage.mentions(doc) for doc in docs]),
        _relative([usage.mention_counts[owner_name(doc)] for doc in docs]),
    ]
    rows = np.asarray(columns, dtype=np.float32).T
    return np.asarray(rows.reshape(len(docs), len(STANDING)))


def standing(matrix: Matrix, more_uses: Mapping[int, int]) -> tuple[Matrix, float]:
    """The result of `figures` with more uses of some rows, all relative to the library; and how
    much that says, from 0 for a library without examples towards 1 for one used everywhere.
    """
    rows: Matrix = matrix.copy()
    uses = rows[:, STANDING.index("used")]
    for row, count in more_uses.items():
        uses[row] += count
    for_each = float(uses.mean()) if len(uses) else 0.0
    amounts = np.log1p(uses, dtype=np.float64)
    uses[:] = amounts / (amounts.max(initial=0.0) or 1.0)
    return rows, for_each / (1 + for_each)


def best_standing(rows: Matrix, count: int) -> RowNumbers:
    """The rows that any query may need, whatever its words."""
    weights = {"used": 2.0, "owner_mentioned": 0.5}
    merit = rows @ np.asarray([weights.get(name, 0.0) for name in STANDING], dtype=np.float32)
    return np.asarray(np.argsort(-merit, kind="stable")[:count])


def _relative(counts: Sequence[int]) -> list[float]:
    """The logarithms of the counts, relative to the largest: 10 is to 1 as 100 is to 10."""
    most = math.log1p(max(counts, default=0)) or 1.0
    return [math.log1p(count) / most for count in counts]
