"""The failures as one self-contained page without scripts."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from urllib.parse import quote

from exploracoder_bench.report.tables import grouped
from exploracoder_bench.results import RunResult

_TEMPLATE = Path(__file__).with_name("failures.html")


def write_browser(file: Path, results: Sequence[RunResult], traces: Mapping[int, Path]) -> None:
    """Write the page. ``traces`` maps a result's ``id()`` to its notebook's path."""
    from jinja2 import Environment, StrictUndefined

    # Everything here was written by models, or by those who made the data: all of it is escaped.
    environment = Environment(autoescape=True, undefined=StrictUndefined)
    template = environment.from_string(_TEMPLATE.read_text(encoding="utf-8"))
    samples = [one for one in results if one.counts]
    methods = [
        _method(name, group, traces, file.parent)
        for name, group in grouped(samples, lambda one: one.method).items()
    ]
    failures = sum(not one.is_solved for one in samples)
    page = template.render(methods=methods, failures=failures, samples=len(samples))
    file.write_text(page, encoding="utf-8")


def _method(
    name: str, results: Sequence[RunResult], traces: Mapping[int, Path], base: Path
) -> dict[str, object]:
    failures = [one for one in results if not one.is_solved]
    kinds = sorted(grouped(failures, _kind).items(), key=lambda item: -len(item[1]))
    return {
        "name": name,
        "samples": len(results),
        "failures": len(failures),
        "kinds": [
            {"name": kind, "samples": [_shown(one, traces.get(id(one)), base) for one in group]}
            for kind, group in kinds
        ],
    }


def _kind(one: RunResult) -> str:
    error = one.chain.error or one.reason.partition(":")[0][:60] or "no reason"
    if one.chain.broken_at:
        return f"the chain broke: {error}"
    return f"the check failed: {error}" if one.ran else f"the solution did not run: {error}"


def _shown(one: RunResult, trace: Path | None, base: Path) -> dict[str, object]:
    where = f"at subtask {one.chain.broken_at}" if one.chain.broken_at else ""
    link = quote(os.path.relpath(trace, base)) if trace is not None and trace.exists() else ""
    return {"result": one, "where": where, "link": link}
