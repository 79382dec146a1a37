"""The numbers as CSV, for whoever wants to draw their own tables."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from exploracoder.models.model_cost import Price

from exploracoder_bench.metrics import by_problem, is_success, recall, summarize
from exploracoder_bench.report.tables import grouped
from exploracoder_bench.results import RunResult

_LEFT_OUT = {"chain", "gold", "oracle_calls", "options", "solution"}


def write_sheets(out: Path, results: Sequence[RunResult], price: Price) -> None:
    """Write samples.csv, problems.csv (a row per problem and method) and methods.csv."""
    _write(out / "samples.csv", [_sample(one) for one in results])
    methods = grouped(results, lambda one: one.method)
    _write(
        out / "problems.csv",
        [
            {
                "method": method,
                "problem": name,
                "dataset": group[0].dataset,
                "samples": len(group),
                "solved": sum(one.is_solved for one in group),
                "ran": sum(one.ran for one in group),
                "executed": sum(map(is_success, group)),
            }
            for method, all_of_it in methods.items()
            for name, group in by_problem(all_of_it).items()
        ],
    )
    _write(
        out / "methods.csv",
        [
            {"method": method, **_flat(asdict(summarize(group, price)))}
            for method, group in methods.items()
        ],
    )


def _flat(sums: dict[str, Any]) -> dict[str, object]:
    """A summary with a column for each end of an interval."""
    row: dict[str, object] = {}
    for name, value in sums.items():
        if name == "apart":
            row[name] = sum(value.values())
        elif isinstance(value, dict):
            row |= {name: value["value"]}
            row |= {f"{name}_{end}": value[end] for end in ("low", "high")}
        else:
            row[name] = value
    return row


def _sample(one: RunResult) -> dict[str, object]:
    row = {key: value for key, value in one.model_dump().items() if key not in _LEFT_OUT}
    chain = one.chain.model_dump(exclude={"recommended", "explored", "ran"})
    chain |= {"subtasks_in_chain": one.chain.explored, "subtasks_ran": one.chain.ran}
    calls = {"oracle_calls": " ".join(f"{share:g}" for share in one.oracle_calls)}
    return row | chain | {"recall": recall(one)} | calls


def _write(file: Path, rows: list[dict[str, object]]) -> None:
    with file.open("w", encoding="utf-8", newline="") as sheet:
        writer = csv.DictWriter(sheet, fieldnames=list(rows[0]) if rows else [])
        writer.writeheader()
        writer.writerows({key: _plain(value) for key, value in row.items()} for row in rows)


def _plain(value: object) -> object:
    """Text that a spreadsheet does not take for a formula: some of it is written by models."""
    is_formula = isinstance(value, str) and value.startswith(("=", "+", "-", "@", "\t", "\r"))
    return f"'{value}" if is_formula else value
