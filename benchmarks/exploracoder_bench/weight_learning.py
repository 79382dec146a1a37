"""Learns the weights of the ranking's features from queries whose answers are known.

A list-wise logistic loss: for each query, the candidates' scores are turned into probabilities, and
those of the gold APIs should be high. Every query is weighted by one over the square root of its
data set's size, so that a large set does not drown the others.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from exploracoder_retrieval.ranking.candidates import FEATURES
from exploracoder_retrieval.search import Candidates

from exploracoder_bench.retrieval_kit import Question

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float32]

ROUNDS = 250
# Figures for the optimiser (Adam) and the penalty on large weights, in units of the loss.
_STEP = 0.05
_PENALTY = 0.03

# What the sets cannot teach: nearly all of their libraries are used all over in their own docs.
FIXED = {"hybrid_where_unused": 2.0}

# Libraries that are one library under several names, in the kit that this was written for. bcb
# holds a hundred libraries; which of the others a query of it needs is told from its gold paths.
FAMILIES = {
    "pandas": ("pandas", "monkey", "monkey_orig", "monkbeat"),
    "numpy": ("numpy", "beatnum", "beatnum_orig", "monkbeat"),
    "torchdata": ("torchdata", "torchdata_surface"),
    "bcb": ("bcb",),
}


@dataclass(frozen=True)
class Lesson:
    """A query's candidates, by the features of each, and which of them are gold."""

    question: Question
    features: Array
    is_gold: NDArray[np.bool_]

    @classmethod
    def of(cls, question: Question, candidates: Candidates) -> Lesson:
        """The lesson in what a search looked at for a question."""
        import numpy as np

        gold = set(question.gold)
        return cls(
            question, candidates.features, np.asarray([doc.path in gold for doc in candidates.docs])
        )


def learn(lessons: Sequence[Lesson], *, without: str = "") -> Array:
    """The weights that rank the gold APIs of all lessons best, one feature left out if named."""
    import numpy as np

    gold_lessons = [lesson for lesson in lessons if lesson.is_gold.any()]
    rows = np.concatenate([lesson.features for lesson in gold_lessons])
    spread = rows.std(axis=0)
    spread[spread < 1e-4] = 1.0
    rows = (rows - rows.mean(axis=0)) / spread
    sizes = np.asarray([len(lesson.features) for lesson in gold_lessons])
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    target = np.concatenate([lesson.is_gold / lesson.is_gold.sum() for lesson in gold_lessons])
    importance = np.repeat(_importance(gold_lessons), sizes)
    fixed_weights = FIXED | ({without: 0.0} if without else {})
    weights = np.asarray([fixed_weights.get(name, 0.0) for name in FEATURES]) * spread
    is_free = np.asarray([name not in fixed_weights for name in FEATURES])
    first, second = np.zeros_like(weights), np.zeros_like(weights)
    for turn in range(1, ROUNDS + 1):
        chances = _chances(rows @ weights.astype(np.float32), starts, sizes)
        slope = rows.T @ ((chances - target) * importance).astype(np.float32) + _PENALTY * weights
        slope *= is_free
        first = 0.9 * first + 0.1 * slope
        second = 0.99 * second + 0.01 * slope**2
        pace = np.sqrt(second / (1 - 0.99**turn)) + 1e-8
        weights -= _STEP * (first / (1 - 0.9**turn)) / pace
    return np.asarray(weights / spread, dtype=np.float32)


def learn_elsewhere(lessons: Sequence[Lesson], *, without: str = "") -> dict[str, Array]:
    """For each library, weights from lessons that have nothing to do with it or its family.

    One feature is left out if it is named.
    A library for which there are no such lessons is left out.
    """
    others = {
        members: [each for each in lessons if not _touches(each.question, members)]
        for members in {_relatives(lesson.question.library) for lesson in lessons}
    }
    weights = {members: learn(group, without=without) for members, group in others.items() if group}
    return {
        library: weights[_relatives(library)]
        for library in {lesson.question.library for lesson in lessons}
        if _relatives(library) in weights
    }


def _relatives(library: str) -> frozenset[str]:
    """The libraries that share an origin with one; it alone if it is of no known family."""
    of = [name for name in FAMILIES.values() if library in name]
    return frozenset(member for name in of for member in name) | {library}


def _touches(question: Question, members: frozenset[str]) -> bool:
    if question.library in members:
        return True
    return any(path.partition(".")[0] in members for path in question.gold)


def _importance(lessons: Sequence[Lesson]) -> NDArray[np.float64]:
    import numpy as np

    sizes = Counter(lesson.question.dataset for lesson in lessons)
    each = np.asarray([sizes[lesson.question.dataset] ** -0.5 for lesson in lessons])
    return np.asarray(each / each.sum())


def _chances(scores: Array, starts: NDArray[np.int64], sizes: NDArray[np.int64]) -> Array:
    """A softmax over the candidates of each lesson."""
    import numpy as np

    powers = np.exp(scores - np.repeat(np.maximum.reduceat(scores, starts), sizes))
    return np.asarray(powers / np.repeat(np.add.reduceat(powers, starts), sizes))
