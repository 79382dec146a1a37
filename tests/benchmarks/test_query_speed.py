"""The measure of a query's time: which queries it asks, and what it says."""

from __future__ import annotations

from pathlib import Path

import pytest
from exploracoder_bench.query_speed import main

from .conftest import write_kit

SUBTASKS = ("boil the water", "count the cups")
TASKS = ("boil the water, then count the cups", "count the cups, then boil the water")


def make_kit(folder: Path, queries: tuple[str, ...]) -> Path:
    pool = [
        {"path": f"brew.act_{number}", "kind": "function", "summary": f"Pour cup {number}."}
        for number in range(8)
    ]
    questions = [
        {"id": query, "query": query, "gold": ["brew.act_1"], "library": "brew", "dataset": "one"}
        for query in queries
    ]
    return write_kit(folder, pool, questions)


def test_subtasks_and_tasks_are_timed_on_as_many_apis_as_asked_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kit = make_kit(tmp_path / "kit", SUBTASKS + TASKS)
    sizes = ["--library", "brew", "--apis", "4", "--rounds", "2"]

    code = main(["--kit", str(kit), "--cache", str(tmp_path / "cache"), *sizes])

    table = capsys.readouterr().out
    assert code == 0
    assert table.startswith("4 APIs, best of 2 rounds")
    assert "| subtask | 2 |" in table
    assert "| task of 2 to 4 clauses | 2 |" in table


def test_a_kit_without_tasks_of_several_clauses_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kit = make_kit(tmp_path / "kit", SUBTASKS)

    code = main(["--kit", str(kit), "--cache", str(tmp_path / "cache"), "--library", "brew"])

    assert code == 2
    assert "0 queries of a kind" in capsys.readouterr().err
