"""Results as Markdown tables."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from exploracoder_bench.runs import RunResult


@dataclass(frozen=True, slots=True)
class Tally:
    """A group of runs added up. Runs whose set-up failed, or that Ctrl-C ended, count apart."""

    solved: int
    ran: int
    counted: int
    apart: int
    prompt_tokens: int
    completion_tokens: int
    cached_tokens: int
    median_seconds: float
    total_seconds: float


def tally(results: Iterable[RunResult]) -> Tally:
    """Add up."""
    given = list(results)
    counted = [one for one in given if one.status not in ("setup", "cancelled")]
    seconds = [one.seconds for one in counted]
    return Tally(
        solved=sum(one.is_solved for one in counted),
        ran=sum(one.ran for one in counted),
        counted=len(counted),
        apart=len(given) - len(counted),
        prompt_tokens=sum(one.prompt_tokens for one in counted),
        completion_tokens=sum(one.completion_tokens for one in counted),
        cached_tokens=sum(one.cached_tokens for one in counted),
        median_seconds=statistics.median(seconds) if seconds else 0.0,
        total_seconds=sum(seconds),
    )


def methods_table(results: Sequence[RunResult]) -> str:
    """A line a method: what it solved and what that cost."""
    head = (
        "method",
        "solved",
        "ran",
        "runs",
        "not counted",
        "prompt tokens",
        "of them cached",
        "completion tokens",
        "median s",
        "total s",
    )
    rows = []
    for method, group in _grouped(results, lambda one: one.method).items():
        sums = tally(group)
        counts = (sums.solved, sums.ran, sums.counted, sums.apart)
        tokens = (sums.prompt_tokens, sums.cached_tokens, sums.completion_tokens)
        times = (f"{sums.median_seconds:.1f}", f"{sums.total_seconds:.0f}")
        rows.append((method, *counts, *(f"{count:,}" for count in tokens), *times))
    return markdown(head, rows)


def datasets_table(results: Sequence[RunResult]) -> str:
    """A line a data set, a column a method: solved / ran / runs."""
    methods = list(_grouped(results, lambda one: one.method))
    rows = []
    for dataset, group in sorted(_grouped(results, lambda one: one.dataset).items()):
        cells = []
        for method in methods:
            sums = tally(one for one in group if one.method == method)
            cells.append(f"{sums.solved} / {sums.ran} / {sums.counted}")
        rows.append((dataset, *cells))
    return markdown(("solved / ran / runs", *methods), rows)


def setup_failures(results: Iterable[RunResult]) -> str:
    """The runs that do not count, a line each with the reason; empty when there are none."""
    failed = [one for one in results if one.status in ("setup", "cancelled")]
    rows = [(one.problem, one.method, one.exit_code, _one_line(one.reason)) for one in failed]
    return markdown(("not counted", "method", "exit code", "reason"), rows) if rows else ""


def markdown(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A Markdown table; all columns but the first are right-aligned."""
    lines = [_row(head), "| --- |" + " ---: |" * (len(head) - 1)]
    return "\n".join([*lines, *(_row(row) for row in rows)])


def _row(cells: Sequence[object]) -> str:
    return "| " + " | ".join(str(cell).replace("|", "\\|") for cell in cells) + " |"


def _one_line(text: str) -> str:
    return " ".join(text.split())[:160]


def _grouped(
    results: Iterable[RunResult], key: Callable[[RunResult], str]
) -> dict[str, list[RunResult]]:
    groups: dict[str, list[RunResult]] = {}
    for one in results:
        groups.setdefault(key(one), []).append(one)
    return groups
