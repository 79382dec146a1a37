"""Recall of rankings, by data set and as the mean of the sets."""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Mapping, Sequence

from exploracoder_bench.markdown_table import markdown
from exploracoder_bench.retrieval_kit import Question

CUTS = (3, 5, 10, 15)
Recalls = tuple[float, ...]


def recall(gold: Sequence[str], ranking: Sequence[str]) -> Recalls:
    """The part of the gold paths within each of CUTS, in per cent; a path counts once."""
    gold_paths, distinct = set(gold), list(dict.fromkeys(ranking))
    return tuple(100 * len(gold_paths & set(distinct[:cut])) / len(gold_paths) for cut in CUTS)


def by_dataset(
    questions: Sequence[Question], rankings: Mapping[str, Sequence[str]]
) -> dict[str, Recalls]:
    """The mean recalls of each data set; a query without a ranking counts as finding nothing."""
    rows: dict[str, list[Recalls]] = defaultdict(list)
    for question in questions:
        rows[question.dataset].append(recall(question.gold, rankings.get(question.id, ())))
    return {dataset: _mean(recalls) for dataset, recalls in rows.items()}


def macro(scores: Mapping[str, Recalls]) -> Recalls:
    """The mean of the data sets, each counting the same."""
    return _mean(list(scores.values()))


def recall_table(scores: Mapping[str, Mapping[str, Recalls]]) -> str:
    """A row per recipe, named ``ranker · index · method``, and a column of macro means per cut."""
    head = ("ranker", "index", "method", *(f"Recall@{cut}" for cut in CUTS))
    rows = ((*name.split(" · "), *_shown(macro(recalls))) for name, recalls in scores.items())
    return markdown(head, rows)


def dataset_table(scores: Mapping[str, Mapping[str, Recalls]]) -> str:
    """A row per data set and a column per recipe: the recall at 10."""
    column = CUTS.index(10)
    datasets = list(next(iter(scores.values())))
    rows = [
        (name, *(f"{recalls[name][column]:.1f}" for recalls in scores.values()))
        for name in datasets
    ]
    means = ("macro mean", *(f"{macro(recalls)[column]:.1f}" for recalls in scores.values()))
    return markdown(("Recall@10", *scores), [*rows, means])


def _mean(rows: Sequence[Recalls]) -> Recalls:
    return tuple(statistics.fmean(column) for column in zip(*rows, strict=True))


def _shown(recalls: Recalls) -> list[str]:
    return [f"{each:.1f}" for each in recalls]
