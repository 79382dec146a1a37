"""Results as Markdown tables."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence

from exploracoder.models.model_cost import Price

from exploracoder_bench.intervals import Estimate
from exploracoder_bench.markdown_table import markdown
from exploracoder_bench.metrics import (
    after_calls,
    by_problem,
    doubly_judged,
    estimate_at_k,
    invented,
    is_pass,
    passes_all,
    passes_twice,
    success_at_k,
    summarize,
)
from exploracoder_bench.results import RunResult

KS = (1, 3, 5, 10, 20)


def methods_table(results: Sequence[RunResult], price: Price | None = None) -> str:
    """A row per method: what it solved and what a sample cost."""
    has_second = bool(doubly_judged(results))
    head = ["method", "problems", "samples", "pass@1"]
    head += ["with second data too"] if has_second else []
    head += ["success@1", "test rate"]
    head += ["names that do not exist", "checked texts", "calls", "prompt tokens"]
    head += ["of them cached", "completion tokens", "median s", "mean s", "at a time", "apart"]
    has_price = price is not None and price != Price()
    rows = []
    for method, group in grouped(results, lambda one: one.method).items():
        sums = summarize(group, price)
        row: list[object] = [method, sums.problems, sums.samples]
        row += [estimate_at_k(group, 1, is_pass)]
        row += [estimate_at_k(doubly_judged(group), 1, passes_twice)] if has_second else []
        row += [success_at_k(group, 1), percent(sums.test_rate)]
        row += [invented(group), number(sums.checked, 1)]
        row += [number(sums.calls, 1), number(sums.prompt_tokens)]
        row += [number(sums.cached_tokens), number(sums.completion_tokens)]
        row += [number(sums.seconds, 1), interval(sums.mean_seconds), sums.jobs or "-"]
        row += [sums.apart]
        rows.append([*row, f"{sums.money:.2f}"] if has_price else row)
    return markdown([*head, "money in all"] if has_price else head, rows)


def at_k_table(
    results: Sequence[RunResult], title: str, criterion: Callable[[RunResult], bool]
) -> str:
    """A row per method, a column for each k for which all its problems have enough samples."""
    groups = grouped(results, lambda one: one.method)
    most = max(map(_samples, groups.values()), default=0)
    ks = [k for k in KS if k <= most]
    rows = [
        (method, *(estimate_at_k(group, k, criterion) if k <= _samples(group) else "-" for k in ks))
        for method, group in groups.items()
    ]
    return markdown([title, *(f"k = {k}" for k in ks)], rows)


def oracle_table(results: Sequence[RunResult]) -> str:
    """A row per method and figure, a column for each oracle call; empty if there was none.

    Source: RepoClassBench, table 10.
    """
    groups = grouped((one for one in results if one.counts), lambda one: one.method)
    most = max((len(one.oracle_calls) for one in results if one.counts), default=0)
    if not most:
        return ""
    columns = range(1, most + 1)
    rows: list[Sequence[object]] = []
    for method, group in groups.items():
        rows.append((method, "pass@1", *(after_calls(group, n, passes_all) for n in columns)))
        rates = (after_calls(group, n, float) for n in columns)
        rows.append((method, "test rate", *(percent(one.value) for one in rates)))
    return markdown(("after oracle calls", "", *map(str, columns)), rows)


def chains_table(results: Sequence[RunResult]) -> str:
    """A row per method: where its chains break, what was recommended, what was explored."""
    head = ["chains", "subtasks", "subtasks that ran", "all ran", "APIs per subtask"]
    head += ["recall of needed names", "explored", "solved", "solved by exploring"]
    head += ["completion tokens per solved", "seconds per solved"]
    rows = []
    for method, group in grouped(results, lambda one: one.method).items():
        sums = summarize(group)
        row: list[object] = [method, number(sums.subtasks, 1), sums.subtask_rate]
        row += [percent(sums.chain_rate), number(sums.apis_per_subtask, 2)]
        could = sums.could_explore
        row += [percent(sums.recall), f"{sums.explored} of {could}" if could else "-"]
        row += [sums.solved, sums.solved_by_exploring if could else "-"]
        row += [number(sums.tokens_per_solved), number(sums.seconds_per_solved, 1)]
        rows.append(row)
    return markdown(head, rows)


def datasets_table(results: Sequence[RunResult]) -> str:
    """A row per data set, a column per method: pass@1 of its problems."""
    methods = list(grouped(results, lambda one: one.method))
    rows = []
    for dataset, group in sorted(grouped(results, lambda one: one.dataset).items()):
        cells = (
            estimate_at_k([one for one in group if one.method == method], 1, is_pass)
            for method in methods
        )
        rows.append((dataset, *cells))
    return markdown(("pass@1", *methods), rows)


def apart_table(results: Iterable[RunResult]) -> str:
    """The samples that do not count, a row each with whose fault it is; empty if there are none."""
    rows = [
        (one.problem, f"{one.method}-{one.seed}", one.fault or one.status, one_line(one.reason))
        for one in results
        if not one.counts
    ]
    return markdown(("not counted", "sample", "whose fault", "reason"), rows) if rows else ""


def excluded_table(exclusions: dict[str, str]) -> str:
    """The problems that do not count, with the reason; empty if there are none."""
    rows = [(name, one_line(reason)) for name, reason in exclusions.items()]
    return markdown(("excluded problem", "reason"), rows) if rows else ""


def grouped(
    results: Iterable[RunResult], key: Callable[[RunResult], str]
) -> dict[str, list[RunResult]]:
    """The results grouped by ``key``, in their order."""
    groups: dict[str, list[RunResult]] = {}
    for one in results:
        groups.setdefault(key(one), []).append(one)
    return groups


def number(value: float, digits: int = 0) -> str:
    """A number for a table; a dash when it is not known."""
    return "-" if math.isnan(value) else f"{value:,.{digits}f}"


def interval(estimate: Estimate) -> str:
    """An amount with its interval, if it is of several problems; a dash when it is not known."""
    if not estimate.problems:
        return "-"
    if estimate.problems == 1:
        return number(estimate.value, 1)
    return f"{estimate.value:,.1f} [{estimate.low:,.1f}, {estimate.high:,.1f}]"


def percent(value: float) -> str:
    """A share for a table; a dash when it is not known."""
    return "-" if math.isnan(value) else f"{value:.1%}"


def one_line(text: str) -> str:
    """A reason on one line, truncated."""
    return " ".join(text.split())[:160]


def _samples(results: Sequence[RunResult]) -> int:
    """The number of samples that every problem has at least."""
    return min(map(len, by_problem(results).values()), default=0)
