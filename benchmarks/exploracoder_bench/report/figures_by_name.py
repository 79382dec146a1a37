"""The figures that a table of results can have, by the names that ``tables.json`` calls them."""

from __future__ import annotations

import math
import re
import statistics
from collections.abc import Callable, Mapping, Sequence

from exploracoder.errors import InputError

from exploracoder_bench.intervals import Estimate
from exploracoder_bench.metrics import (
    Summary,
    after_calls,
    by_problem,
    estimate_at_k,
    invented,
    is_pass,
    is_success,
    passes_twice,
    success_at_k,
    summarize,
)
from exploracoder_bench.report.tables import number
from exploracoder_bench.results import RunResult

Samples = Sequence[RunResult]


def figure(name: str, samples: Samples) -> str:
    """A figure of samples that count, as a table cell.

    Raises InputError for an unknown name, or when there is no sample.
    """
    if not samples:
        raise InputError(f"There is no sample for the figure {name!r}.")
    at_k = re.fullmatch(r"pass@(\d+)", name)
    after = re.fullmatch(r"test rate after (\d+)", name)
    if at_k:
        return _share(estimate_at_k(samples, int(at_k[1]), is_pass))
    if after:
        return _test_rate(samples, int(after[1]))
    if name not in _FIGURES:
        raise InputError(f"There is no figure {name!r}: {', '.join(_FIGURES)}, pass@K.")
    return _FIGURES[name](samples)


def _test_rate(samples: Samples, calls: int) -> str:
    """In per cent; empty if no sample had that many oracle calls."""
    if calls > max(len(one.oracle_calls) for one in samples):
        return ""
    return f"{100 * after_calls(samples, calls, float).value:.1f}"


def _explored(samples: Samples) -> str:
    """How many samples explored, and how many this solved; empty for a method that cannot."""
    sums = summarize(samples)
    return f"{sums.explored} / {sums.solved_by_exploring}" if sums.could_explore else ""


def _subtasks_that_ran(samples: Samples) -> str:
    steps = sum(one.chain.explored for one in samples)
    return f"{sum(one.chain.ran for one in samples)} of {steps}" if steps else "-"


def _of_all(count: Callable[[RunResult], bool]) -> Callable[[Samples], str]:
    return lambda samples: f"{sum(map(count, samples))} of {len(samples)}"


def _mean(digits: int, of: Callable[[Summary], float]) -> Callable[[Samples], str]:
    return lambda samples: number(of(summarize(samples)), digits)


def _median(of: Callable[[RunResult], int]) -> Callable[[Samples], str]:
    return lambda samples: number(statistics.median(map(of, samples)))


def _share(estimate: Estimate) -> str:
    """In whole per cent, with its interval."""
    if math.isnan(estimate.value):
        return "-"
    value, low, high = (round(100 * one) for one in (estimate.value, estimate.low, estimate.high))
    return f"{value} % [{low}, {high}]"


_FIGURES: Mapping[str, Callable[[Samples], str]] = {
    "samples": lambda samples: f"{len(samples)} of {len(by_problem(samples))}",
    "solved": _of_all(is_pass),
    "solved with second data": _of_all(passes_twice),
    "executed": _of_all(is_success),
    "success@1": lambda samples: _share(success_at_k(samples, 1)),
    "explored / solved by exploring": _explored,
    "subtasks that ran": _subtasks_that_ran,
    "names that do not exist": lambda samples: _share(invented(samples)),
    "calls": _mean(1, lambda sums: sums.calls),
    "calls, median": _median(lambda one: one.calls),
    "prompt tokens": _mean(0, lambda sums: sums.prompt_tokens),
    "prompt tokens, median": _median(lambda one: one.prompt_tokens),
    "completion tokens": _mean(0, lambda sums: sums.completion_tokens),
    "completion tokens per solved": _mean(0, lambda sums: sums.tokens_per_solved),
    "seconds per solved": _mean(0, lambda sums: sums.seconds_per_solved),
}
