"""The file of training text: a line of JSON for each function that was examined, kept or not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from exploracoder.state import State

from exploracoder_bench.datasets.json_lines import GrowingFile
from exploracoder_bench.toolcoder.annotation import AnnotatedFunction


class Statistics(State):
    """The figures of the paper's table 3, and what the filters dropped.

    Lengths are in words, as there. ``libraries`` is the share of texts with a search for each.
    """

    functions: int
    kept: int
    searches_per_text: float
    words_before: float
    words_after: float
    libraries: dict[str, float]
    dropped_functions: dict[str, int]
    dropped_searches: dict[str, int]


def training_text(path: Path) -> GrowingFile[AnnotatedFunction]:
    """The file of this path, which need not be there yet."""
    return GrowingFile(path, AnnotatedFunction, "training text")


def statistics(rows: Sequence[AnnotatedFunction]) -> Statistics:
    """The statistics of some lines of a file."""
    kept_rows = [row for row in rows if row.is_kept]
    libraries = Counter(
        name
        for row in kept_rows
        for name in {one.api.partition(".")[0] for one in row.searches if one.is_public}
    )
    return Statistics(
        functions=len(rows),
        kept=len(kept_rows),
        searches_per_text=_mean([len(row.searches) for row in kept_rows]),
        words_before=_mean([len(row.code.split()) for row in kept_rows]),
        words_after=_mean([len(row.text.split()) for row in kept_rows]),
        libraries={name: count / len(kept_rows) for name, count in libraries.most_common()},
        dropped_functions=dict(Counter(row.reason for row in rows if row.reason).most_common()),
        dropped_searches=dict(Counter(why for row in rows for why in row.dropped).most_common()),
    )


def _mean(values: Sequence[int]) -> float:
    return sum(values) / len(values) if values else 0.0
