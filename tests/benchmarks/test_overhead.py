from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from exploracoder_bench import overhead, six_steps
from exploracoder_bench.overhead import Measure


def test_every_candidate_runs_after_the_first_ones_before_it() -> None:
    prefix: dict[str, Any] = {}
    exec(six_steps.CONTEXT, prefix)
    for step in six_steps.steps():
        for code in step.candidates[1:]:
            exec(code, dict(prefix))
        exec(step.candidates[0], prefix)

    assert len(prefix["best"]) == 3
    assert [len(step.candidates) for step in six_steps.steps()] == [3] * 6


def test_the_solution_passes_the_check_and_nothing_passes_it_before() -> None:
    names: dict[str, Any] = {}
    exec(six_steps.CONTEXT, names)

    with pytest.raises(NameError):
        exec(six_steps.CHECK, dict(names))
    exec(six_steps.SOLUTION, names)
    exec(six_steps.CHECK, names)


def test_a_promise_says_whether_it_is_kept() -> None:
    assert Measure("a", "b", 99, "ms", 100).promise == "at most 100 ms: kept"
    assert Measure("a", "b", 19, "times", 20, is_floor=True).promise == (
        "at least 20 times: BROKEN"
    )
    assert Measure("a", "b", 19, "s").promise == ""


def test_an_unknown_part_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert overhead.main(["--parts", "engine,speed"]) == 2
    assert "no part 'speed'" in capsys.readouterr().err


@pytest.mark.thorough
@pytest.mark.slow
@pytest.mark.usefixtures("own_cache")
def test_the_engine_part_explores_six_subtasks_and_keeps_its_figures(tmp_path: Path) -> None:
    file = tmp_path / "figures.jsonl"

    assert overhead.main(["--parts", "engine", "--rounds", "1", "--out", str(file)]) == 0

    figures = [json.loads(line) for line in file.read_text().splitlines()]
    assert [figure["unit"] for figure in figures] == ["s", "s", "s"]
    assert all(figure["value"] > 0 for figure in figures)
