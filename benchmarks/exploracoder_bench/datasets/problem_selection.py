"""Select problems by name."""

from __future__ import annotations

from collections.abc import Sequence

from exploracoder.errors import InputError

from exploracoder_bench.problems import Problem
from exploracoder_bench.splits import ALL, in_words, tally

SMOKE_PROBLEMS = 2


def select(problems: Sequence[Problem], names: Sequence[str]) -> list[Problem]:
    """The problems that ``names`` stand for, each once, in their original order.

    A name is ``smoke`` (the first two of each data set), a data set, or a problem. Raises
    InputError for any other name.
    """
    sets: dict[str, list[Problem]] = {}
    for problem in problems:
        sets.setdefault(problem.dataset, []).append(problem)
    problem_names: set[str] = set()
    for name in names:
        matches = _named(sets, name)
        if not matches:
            raise InputError(
                f"No problem or data set is named {name!r}. Data sets: {', '.join(sets)}."
            )
        problem_names |= {problem.name for problem in matches}
    return [problem for problem in problems if problem.name in problem_names]


def of_split(problems: Sequence[Problem], split: str) -> list[Problem]:
    """The problems of a split, or all. Raises InputError when the split has none."""
    matches = [problem for problem in problems if split in (ALL, problem.split)]
    if problems and not matches:
        splits = {problem.name: problem.split for problem in problems if problem.split}
        summary = in_words(tally(splits, (problem.name for problem in problems)))
        raise InputError(f"No problem is left with --split {split}. {summary}")
    return matches


def _named(sets: dict[str, list[Problem]], name: str) -> list[Problem]:
    if name == "smoke":
        return [problem for group in sets.values() for problem in group[:SMOKE_PROBLEMS]]
    if name in sets:
        return sets[name]
    return [problem for group in sets.values() for problem in group if problem.name == name]
