"""Samples that a plan asks for but that are missing: the run was interrupted, or is not over."""

from __future__ import annotations

from collections.abc import Sequence

from exploracoder_bench.markdown_table import markdown
from exploracoder_bench.report.run_folders import Runs

_SHOWN = 8


def missing_table(runs: Sequence[Runs]) -> str:
    """A row per method with fewer samples than its plan asks for; empty if there is none.

    A sample that does not count is missing, too: the same command runs it again.
    """
    rows: list[Sequence[object]] = []
    for one in runs:
        finished_samples = {(r.method, r.problem, r.seed) for r in one.results if r.counts}
        total = len(one.plan.problems) * one.plan.samples
        for method in one.plan.methods:
            there = {(problem, seed) for name, problem, seed in finished_samples if name == method}
            if len(there) < total:
                name = f"{method} ({one.label})" if len(runs) > 1 else method
                rows.append((name, len(there), total, _problems(one, there)))
    return markdown(("not finished", "samples", "of", "problems without any"), rows) if rows else ""


def _problems(runs: Runs, there: set[tuple[str, int]]) -> str:
    """The first problems without a sample, and how many more there are."""
    sampled_problems = {problem for problem, _ in there}
    without = [name for name in runs.plan.problems if name not in sampled_problems]
    more = [f"{len(without) - _SHOWN} more"] if len(without) > _SHOWN else []
    return ", ".join([*without[:_SHOWN], *more])
