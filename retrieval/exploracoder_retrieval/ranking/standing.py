"""What speaks for an API before anything is asked: is it used, and does it lie where much is used?

All figures are relative to the library, so that what was learned on one holds for another.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

from exploracoder_retrieval.apidoc import ApiDoc
from exploracoder_retrieval.ranking.fields import is_member, names, owner_name
from exploracoder_retrieval.ranking.usage import read_usage

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Matrix: TypeAlias = NDArray[np.float32]

AMOUNTS = ("used", "mentioned", "owner_mentioned", "share_of_name", "depth", "doc_length")
FLAGS = ("is_exception", "has_summary", "is_deprecated")
STANDING = (*AMOUNTS, *FLAGS)
_EXCEPTION = re.compile(r"(?:Error|Warning|Exception)$")


def figures(docs: Sequence[ApiDoc], examples: Iterable[str] = ()) -> Matrix:
    """A row for each doc, a column for each of STANDING, as `standing` takes them.

    ``examples`` stand in no doc. Uses are counts, for more may be found later.
    """
    import numpy as np

    usage = read_usage(docs, examples)
    owners = [usage.mentioned[owner_name(doc)] for doc in docs]
    shallowest = min((_depth(doc) for doc in docs), default=0)
    columns = [
        [usage.of(doc) for doc in docs],
        _relative([usage.mentions(doc) for doc in docs]),
        _relative(owners),
        _shares(docs, owners),
        [_depth(doc) - shallowest for doc in docs],
        _relative([len(doc.doc) for doc in docs]),
        [bool(_EXCEPTION.search(doc.path)) for doc in docs],
        [bool(doc.summary) for doc in docs],
        [doc.is_deprecated for doc in docs],
    ]
    rows = np.asarray(columns, dtype=np.float32).T
    return np.asarray(rows.reshape(len(docs), len(STANDING)))


def standing(made: Matrix, more_uses: Mapping[int, int]) -> Matrix:
    """What `figures` made, with more uses of some rows, all relative to the library."""
    import numpy as np

    rows: Matrix = made.copy()
    used = rows[:, STANDING.index("used")]
    for row, count in more_uses.items():
        used[row] += count
    amounts = np.log1p(used, dtype=np.float64)
    used[:] = amounts / (amounts.max(initial=0.0) or 1.0)
    return rows


def best_standing(rows: Matrix, count: int) -> NDArray[np.intp]:
    """The rows that any query may want, whatever its words."""
    import numpy as np

    weights = {"used": 2.0, "owner_mentioned": 0.5, "share_of_name": 0.5, "depth": -0.1}
    merit = rows @ np.asarray([weights.get(name, 0.0) for name in STANDING], dtype=np.float32)
    return np.asarray(np.argsort(-merit, kind="stable")[:count])


def _depth(doc: ApiDoc) -> int:
    """Modules passed on the way; the class of a member is none."""
    return doc.path.count(".") - is_member(doc)


def _relative(counts: Sequence[int]) -> list[float]:
    """Logarithms, as parts of the largest: 10 is to 1 as 100 is to 10."""
    most = math.log1p(max(counts, default=0)) or 1.0
    return [math.log1p(count) / most for count in counts]


def _shares(docs: Sequence[ApiDoc], owners: Sequence[int]) -> list[float]:
    """How likely each doc is what its name means, when several have that name.

    The more its owner is spoken of and the less deep it lies, the likelier.
    """
    weights = [
        (1 + owner) * 0.5 ** doc.path.count(".") for doc, owner in zip(docs, owners, strict=True)
    ]
    totals: dict[str, float] = defaultdict(float)
    for doc, weight in zip(docs, weights, strict=True):
        for name in names(doc):
            totals[name] += weight
    return [
        max(weight / totals[name] for name in names(doc))
        for doc, weight in zip(docs, weights, strict=True)
    ]
