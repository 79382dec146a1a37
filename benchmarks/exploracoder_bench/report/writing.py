"""A report in a folder: report.md, samples.csv, pictures, and the page of failures."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from exploracoder.errors import SetupError, raised_as
from exploracoder.models.model_cost import Price

from exploracoder_bench.intervals import CONFIDENCE, RESAMPLES
from exploracoder_bench.metrics import is_pass, is_success, telling
from exploracoder_bench.plan import Plan
from exploracoder_bench.problems import slug_of
from exploracoder_bench.provenance import Provenance
from exploracoder_bench.report.browser import write_browser
from exploracoder_bench.report.differences import differences_table
from exploracoder_bench.report.figures import draw
from exploracoder_bench.report.missing import missing_table
from exploracoder_bench.report.of_code import codes_of
from exploracoder_bench.report.of_split import runs_of_split
from exploracoder_bench.report.run_folders import Runs, read_all
from exploracoder_bench.report.sheets import write_samples
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
    folders: Sequence[Path],
    out: Path,
    price: Price | None,
    say: Callable[[str], None],
    *,
    split: str | None = None,
    any_code: bool = False,
) -> str:
    """Write the report of one or more runs; return its tables. Raises InputError, SetupError.

    ``split`` is passed to `runs_of_split`; with ``any_code``, runs of different code share one
    table, which says so.
    """
    runs, of_split = runs_of_split(read_all(folders), split)
    codes = codes_of(runs, may_differ=any_code)
    results: list[RunResult] = []
    traces: dict[int, Path] = {}
    for one in runs:
        for sample in one.results:
            result = _named(sample, one.label, codes) if len(runs) > 1 else sample
            traces[id(result)] = _trace(one, sample)
            results.append(result)
    parts = (
        of_split,
        _tables(results, price or _common_price(runs), _excluded(runs)),
        missing_table(runs),
        differences_table(runs),
    )
    tables = "\n\n".join(filter(None, parts))
    about = "\n\n".join(_about(one) for one in runs)
    with raised_as(SetupError, OSError, of=f"--out {out}"):
        out.mkdir(parents=True, exist_ok=True)
        names = draw(out, results)
        if names is None:
            say("No pictures: they need matplotlib (pip install 'exploracoder[bench]').")
        write_samples(out, results)
        write_browser(out / "failures.html", results, traces)
        pictures = "\n\n".join(f"![{_PICTURES[name]}]({name})" for name in names or ())
        links = "The failures, one by one: [failures.html](failures.html)."
        text = "\n\n".join(filter(None, ("# Benchmark report", about, tables, pictures, links)))
        (out / "report.md").write_text(text + "\n", encoding="utf-8")
    return tables


def _common_price(runs: Sequence[Runs]) -> Price | None:
    """The price that all runs were begun with; None if they differ."""
    first, *others = (one.plan.price for one in runs)
    return first if all(one == first for one in others) else None


def _named(result: RunResult, label: str, codes: Mapping[str, str]) -> RunResult:
    """Add the folder to a method's name; with several codes, the code as well."""
    where = ", ".join([label, *([f"code {codes[label]}"] if label in codes else [])])
    return result.model_copy(update={"method": f"{result.method} ({where})"})


def _trace(runs: Runs, result: RunResult) -> Path:
    folder = trace_folder(runs.folder, slug_of(result.problem), result.method, result.seed)
    return folder / NOTEBOOK


def _excluded(runs: Sequence[Runs]) -> dict[str, str]:
    return {
        f"{name} ({one.label})" if len(runs) > 1 else name: reason
        for one in runs
        for name, reason in one.plan.excluded.items()
    }


def _tables(results: Sequence[RunResult], price: Price | None, exclusions: dict[str, str]) -> str:
    note = (
        f"Shares are means over problems, with {CONFIDENCE:.0%} intervals from {RESAMPLES}"
        " resamples of problems, or by Wilson where all problems came out alike; tokens and calls"
        " are means of a sample."
    )
    telling_results = telling(results)
    parts = (
        methods_table(results, price),
        note,
        at_k_table(results, "pass@k", is_pass),
        at_k_table(telling_results, "success@k", is_success) if telling_results else "",
        datasets_table(results),
        oracle_table(results),
        chains_table(results),
        apart_table(results),
        excluded_table(exclusions),
    )
    return "\n\n".join(filter(None, parts))


def _about(runs: Runs) -> str:
    plan: Plan = runs.plan
    lines = (
        f"- `{plan.command}`",
        f"- begun {plan.created:%Y-%m-%d %H:%M} UTC, ExploraCoder {plan.version}, Python"
        f" {plan.python}{_gone_on(plan)}",
        f"- model {plan.model}, identity `{plan.identity}`",
        f"- {len(plan.problems)} problems count, {len(plan.excluded)} are excluded;"
        f" {plan.samples} samples each, at most {plan.timeout_s:g} s; checks: {plan.checks};"
        f" options: {' '.join(plan.options) or 'none'}",
        *(_made_with(one) for one in plan.provenance.values()),
    )
    return f"## {runs.label}\n\n" + "\n".join(lines)


def _made_with(one: Provenance) -> str:
    changes = f"; changed: {', '.join(one.code.changed)}" if one.code.changed else ""
    versions = ", ".join(f"{name} {version}" for name, version in one.versions.items())
    return (
        f"- code {one.code}{changes}; server: {one.server}; sandbox: {one.sandbox}; {one.executor};"
        f" {one.machine}; {versions}; settings: {one.settings}"
    )


def _gone_on(plan: Plan) -> str:
    return f"; gone on with {'; '.join(plan.also_with)}" if plan.also_with else ""
