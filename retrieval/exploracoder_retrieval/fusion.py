"""Merges several rankings into one."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Sequence
from typing import TypeVar

# Small, so that first place in one ranking outweighs middling places in both.
RRF_CONSTANT = 5.0

Item = TypeVar("Item", bound=Hashable)


def fuse(
    rankings: Iterable[Sequence[Item]], *, constant: float = RRF_CONSTANT
) -> list[tuple[Item, float]]:
    """Reciprocal rank fusion: each item's sum of 1 / (constant + rank), best first, ranks from 1.

    Items of equal score keep the order in which the rankings first named them.

    Source: Cormack, Clarke and Büttcher, SIGIR 2009.
    """
    scores: dict[Item, float] = defaultdict(float)
    for ranking in rankings:
        for rank, item in enumerate(ranking, start=1):
            scores[item] += 1.0 / (constant + rank)
    return sorted(scores.items(), key=lambda pair: -pair[1])
