"""What folders of runs hold, read for a report."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from exploracoder.errors import InputError

from exploracoder_bench.harness import RESULTS
from exploracoder_bench.ledger import Ledger
from exploracoder_bench.plan import Plan, read_plan
from exploracoder_bench.results import RunResult


@dataclass(frozen=True, slots=True)
class Runs:
    """A folder of runs: what it was begun with, and its results in the order of the plan."""

    folder: Path
    plan: Plan
    results: tuple[RunResult, ...]

    @property
    def label(self) -> str:
        """What tells it from others in a table."""
        return self.folder.name


def read_runs(folder: Path) -> Runs:
    """Read a folder. Raises InputError when ``bench run`` did not make it."""
    plan = read_plan(folder)
    if plan is None or not (folder / RESULTS).exists():
        raise InputError(
            f"{folder} holds no runs. Make some: exploracoder bench run … --out {folder}"
        )
    order = {method: number for number, method in enumerate(plan.methods)}
    results = sorted(
        (one for one in Ledger(folder / RESULTS) if one.problem in plan.problems),
        key=lambda one: (order.get(one.method, len(order)), one.seed, one.dataset, one.problem),
    )
    return Runs(folder, plan, tuple(results))


def read_method(spec: str) -> tuple[str, tuple[RunResult, ...]]:
    """The results that ``DIR`` or ``DIR:METHOD`` means, and what to call them.

    Raises InputError when there are none, or the folder has several methods and none is named.
    """
    name, colon, method = spec.rpartition(":")
    folder = Path(name) if colon and Path(name).is_dir() else Path(spec)
    runs = read_runs(folder)
    methods = sorted({one.method for one in runs.results})
    if folder == Path(spec):
        if len(methods) != 1:
            raise InputError(f"{folder} has the methods {', '.join(methods)}: say {spec}:METHOD.")
        method = methods[0]
    found = tuple(one for one in runs.results if one.method == method)
    if not found:
        raise InputError(f"{folder} has no runs of {method!r}; it has {', '.join(methods)}.")
    return f"{method} ({runs.plan.model}, {runs.label})", found
