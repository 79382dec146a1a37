"""A report in a folder: report.md, CSV files, pictures, and the page of failures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from exploracoder_bench.metrics import CONFIDENCE, RESAMPLES, is_pass, is_success
from exploracoder_bench.plan import Plan, Price
from exploracoder_bench.problems import slug_of
from exploracoder_bench.report.browser import write_browser
from exploracoder_bench.report.figures import draw
from exploracoder_bench.report.reading import Runs, read_runs
from exploracoder_bench.report.sheets import write_sheets
from exploracoder_bench.report.tables import (
    apart_table,
    at_k_table,
    chains_table,
    datasets_table,
    excluded_table,
    methods_table,
    oracle_table,
)
from exploracoder_bench.results import RunResult
from exploracoder_bench.runs import NOTEBOOK
from exploracoder_bench.samples import trace_folder

_PICTURES = {
    "pass-at-k.svg": "pass@k of each method",
    "cost.svg": "tokens of a sample against pass@1",
    "breaks.svg": "where chains break",
}


def write_report(
    folders: Sequence[Path], out: Path, price: Price | None, say: Callable[[str], None]
) -> str:
    """Write the report of one or more runs; its tables. Raises InputError, SetupError."""
    runs = [read_runs(folder) for folder in folders]
    results = [result for one in runs for result in _labelled(one, is_alone=len(runs) == 1)]
    traces = {id(result): _trace(runs, result) for result in results}
    cost = price or runs[0].plan.price
    out.mkdir(parents=True, exist_ok=True)
    drawn = draw(out, results)
    if not drawn:
        say("No pictures: they need matplotlib (pip install 'exploracoder[bench]').")
    write_sheets(out, results, cost)
    write_browser(out / "failures.html", results, traces)
    tables = _tables(results, cost, {k: v for one in runs for k, v in one.plan.excluded.items()})
    about = "\n\n".join(_about(one) for one in runs)
    pictures = "\n\n".join(f"![{_PICTURES[name]}]({name})" for name in drawn)
    links = "The failures, one by one: [failures.html](failures.html)."
    text = "\n\n".join(filter(None, ("# Benchmark report", about, tables, pictures, links)))
    (out / "report.md").write_text(text + "\n", encoding="utf-8")
    return tables


def _labelled(runs: Runs, *, is_alone: bool) -> list[RunResult]:
    """With several folders, a method's name says which it is from."""
    if is_alone:
        return list(runs.results)
    return [
        one.model_copy(update={"method": f"{one.method} ({runs.label})"}) for one in runs.results
    ]


def _trace(runs: Sequence[Runs], result: RunResult) -> Path:
    for one in runs:
        method = result.method.removesuffix(f" ({one.label})")
        if len(runs) == 1 or method != result.method:
            folder = trace_folder(one.folder, slug_of(result.problem), method, result.seed)
            return folder / NOTEBOOK
    return Path(NOTEBOOK)


def _tables(results: Sequence[RunResult], price: Price, excluded: dict[str, str]) -> str:
    note = (
        f"Shares are means over problems, with {CONFIDENCE:.0%} intervals from {RESAMPLES}"
        " resamples of problems; tokens and calls are means of a sample."
    )
    parts = (
        methods_table(results, price),
        note,
        at_k_table(results, "pass@k", is_pass),
        at_k_table(results, "success@k", is_success),
        datasets_table(results),
        oracle_table(results),
        chains_table(results),
        apart_table(results),
        excluded_table(excluded),
    )
    return "\n\n".join(filter(None, parts))


def _about(runs: Runs) -> str:
    plan: Plan = runs.plan
    lines = (
        f"- `{plan.command}`",
        f"- begun {plan.created:%Y-%m-%d %H:%M} UTC, ExploraCoder {plan.version}, Python"
        f" {plan.python}",
        f"- model {plan.model}, identity `{plan.identity}`",
        f"- {len(plan.problems)} problems count, {len(plan.excluded)} are excluded;"
        f" {plan.samples} samples each, at most {plan.timeout_s:g} s;"
        f" options: {' '.join(plan.options) or 'none'}",
    )
    return f"## {runs.label}\n\n" + "\n".join(lines)
