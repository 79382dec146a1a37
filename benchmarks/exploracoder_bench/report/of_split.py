"""The runs of one split: seen and held-out problems must not share a figure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from exploracoder.errors import InputError

from exploracoder_bench.report.run_folders import Runs
from exploracoder_bench.splits import ALL, Split, in_words, read_splits, tally


def runs_of_split(runs: Sequence[Runs], choice: str | None) -> tuple[list[Runs], str]:
    """The runs with the problems of the requested split, and a line that says which it is.

    Raises InputError when no problem is left, a problem is in two splits, or there are problems of
    both and no split was chosen.
    """
    splits = splits_of(runs)
    names = dict.fromkeys(name for one in runs for name in one.plan.problems)
    counts = tally(splits, names)
    if choice is None and len({split for split in counts if split}) > 1:
        raise InputError(
            f"{in_words(counts)} A table of both says nothing of either: choose with --split seen"
            f" or --split held-out, or say --split {ALL}."
        )
    if choice in (None, ALL):
        return list(runs), in_words(counts)
    split_names = [name for name in names if splits.get(name) == choice]
    if not split_names:
        raise InputError(f"No problem is left with --split {choice}. {in_words(counts)}")
    return [_only(one, splits, choice) for one in runs], in_words(tally(splits, split_names))


def splits_of(runs: Sequence[Runs]) -> dict[str, Split]:
    """The splits when the problems ran, or today's if an earlier version did not record them."""
    known_splits, splits = read_splits(), dict[str, Split]()
    for one in runs:
        for name in (*one.plan.problems, *one.plan.excluded):
            split = one.plan.splits.get(name) or known_splits.of(name)
            if split and splits.setdefault(name, split) != split and name in one.plan.problems:
                raise InputError(
                    f"{name} stands in two splits: it was {split} when {one.label} ran, and"
                    f" {splits[name]} in another of these folders. Report them apart."
                )
    return splits


def _only(runs: Runs, splits: Mapping[str, Split], choice: str) -> Runs:
    def those(problems: Mapping[str, str]) -> dict[str, str]:
        return {name: each for name, each in problems.items() if splits.get(name) == choice}

    plan = runs.plan
    plan = plan.model_copy(
        update={"problems": those(plan.problems), "excluded": those(plan.excluded)}
    )
    return replace(
        runs, plan=plan, results=tuple(one for one in runs.results if one.problem in plan.problems)
    )
