"""Conditions that differ between runs, so that not only the methods make figures differ."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from exploracoder_bench.markdown_table import markdown
from exploracoder_bench.plan import Plan
from exploracoder_bench.provenance import UNKNOWN
from exploracoder_bench.report.run_folders import Runs

_SHOWN = 20
_HEAD = 12

_FACTS: dict[str, Callable[[Plan], str]] = {
    "model": lambda plan: f"{plan.model} ({plan.identity[:_HEAD]})",
    "checks": lambda plan: plan.checks,
    "options": lambda plan: " ".join(plan.options) or "none",
    "seconds for a sample": lambda plan: f"{plan.timeout_s:g}",
    "ExploraCoder": lambda plan: plan.version,
    "Python": lambda plan: plan.python,
    "code": lambda plan: str(plan.code or UNKNOWN),
    "server": lambda plan: _said(plan, "server"),
    "sandbox": lambda plan: _said(plan, "sandbox"),
    "machine": lambda plan: _said(plan, "machine"),
    "gone on with": lambda plan: "; ".join(plan.also_with) or "nothing else",
}


def differences_table(runs: Sequence[Runs]) -> str:
    """A row per fact that differs between the runs, including problems with different content.

    Empty if there is none. A problem that only one run has is not a difference.
    """
    rows = [(name, *map(fact, (one.plan for one in runs))) for name, fact in _FACTS.items()]
    rows = [row for row in rows if len(set(row[1:])) > 1]
    problem_rows = _problems(runs)
    rows += problem_rows[:_SHOWN]
    if len(problem_rows) > _SHOWN:
        rows.append((f"{len(problem_rows) - _SHOWN} more problems", *("" for _ in runs)))
    return markdown(("differs", *(one.label for one in runs)), rows) if rows else ""


def _said(plan: Plan, fact: str) -> str:
    """A fact of the plan's provenance, in words."""
    values = dict.fromkeys(str(getattr(one, fact)) for one in plan.provenance.values())
    return "; ".join(values) or UNKNOWN


def _problems(runs: Sequence[Runs]) -> list[tuple[str, ...]]:
    names = dict.fromkeys(name for one in runs for name in one.plan.problems)
    rows = []
    for name in names:
        digests = [one.plan.problems.get(name, "") for one in runs]
        if len({digest for digest in digests if digest}) > 1:
            rows.append((f"problem {name}", *digests))
    return rows
