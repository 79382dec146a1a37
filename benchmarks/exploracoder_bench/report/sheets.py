"""The numbers as CSV, for whoever wants to draw their own tables."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path

from exploracoder_bench.metrics import recall
from exploracoder_bench.results import RunResult

_LEFT_OUT = {"chain", "gold", "oracle_calls", "options", "solution"}


def write_samples(out: Path, results: Sequence[RunResult]) -> None:
    """Write samples.csv, a row for each."""
    rows = [_sample(one) for one in results]
    with (out / "samples.csv").open("w", encoding="utf-8", newline="") as sheet:
        writer = csv.DictWriter(sheet, fieldnames=list(rows[0]) if rows else [])
        writer.writeheader()
        writer.writerows({key: _plain(value) for key, value in row.items()} for row in rows)


def _sample(one: RunResult) -> dict[str, object]:
    row = {key: value for key, value in one.model_dump().items() if key not in _LEFT_OUT}
    chain = one.chain.model_dump(exclude={"recommended", "explored", "ran"})
    chain |= {"subtasks_in_chain": one.chain.explored, "subtasks_ran": one.chain.ran}
    calls = {"oracle_calls": " ".join(f"{share:g}" for share in one.oracle_calls)}
    return row | chain | {"recall": recall(one)} | calls


def _plain(value: object) -> object:
    """Text that a spreadsheet does not take for a formula: some of it is written by models."""
    is_formula = isinstance(value, str) and value.startswith(("=", "+", "-", "@", "\t", "\r"))
    return f"'{value}" if is_formula else value
