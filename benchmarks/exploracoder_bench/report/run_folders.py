"""What folders of runs hold, read for a report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from exploracoder.errors import InputError

from exploracoder_bench.harness import RESULTS
from exploracoder_bench.ledger import Ledger
from exploracoder_bench.plan import Plan, read_plan
from exploracoder_bench.results import RunResult


@dataclass(frozen=True, slots=True)
class Runs:
    """A folder of runs: what it was started with, and its results in the order of the plan.

    ``label`` tells it from others in a table.
    """

    folder: Path
    label: str
    plan: Plan
    results: tuple[RunResult, ...]


def read_all(folders: Sequence[Path]) -> list[Runs]:
    """Read folders, each with a label of its own. Raises InputError when ``bench run`` did not make
    one, or one is named twice.
    """
    return [_read(folder, label) for folder, label in zip(folders, _labels(folders), strict=True)]


def read_method(runs: Runs, spec: str) -> tuple[str, tuple[RunResult, ...]]:
    """The label and the results of what ``DIR`` or ``DIR:METHOD`` stands for.

    Raises InputError when there are none, or the folder has several methods and none is named.
    """
    method = spec.rpartition(":")[2] if folder_of(spec) != Path(spec) else ""
    methods = sorted({one.method for one in runs.results})
    if not method:
        if len(methods) != 1:
            raise InputError(f"{spec} has the methods {', '.join(methods)}: say {spec}:METHOD.")
        method = methods[0]
    results = tuple(one for one in runs.results if one.method == method)
    if not results:
        raise InputError(f"{runs.folder} has no runs of {method!r}; it has {', '.join(methods)}.")
    return f"{method} ({runs.plan.model}, {runs.label})", results


def folder_of(spec: str) -> Path:
    """The folder that ``DIR`` or ``DIR:METHOD`` names."""
    name, colon, _ = spec.rpartition(":")
    return Path(name) if colon and Path(name).is_dir() else Path(spec)


def _read(folder: Path, label: str) -> Runs:
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
    return Runs(folder, label, plan, tuple(results))


def _labels(folders: Sequence[Path]) -> list[str]:
    """The shortest ends of their paths that tell them apart."""
    parts = [folder.absolute().parts for folder in folders]
    for length in range(1, max(map(len, parts)) + 1):
        labels = ["/".join(one[-length:]) for one in parts]
        if len(set(labels)) == len(labels):
            return labels
    twice = next(folder for folder in folders if folders.count(folder) > 1)
    raise InputError(f"{twice} is named twice. Name each folder once.")
