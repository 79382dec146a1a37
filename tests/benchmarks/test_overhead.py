from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from exploracoder_bench import candidate_speed, overhead, six_steps
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


def test_a_snippet_that_fails_stops_the_measurement() -> None:
    step = six_steps.Step("fail", ("1 / 0",))

    with pytest.raises(RuntimeError, match="nothing was measured:\n1 / 0"):
        asyncio.run(candidate_speed._in_sidecar("", [step]))


def test_an_unknown_part_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert overhead.main(["--parts", "kernels,speed"]) == 2
    assert "no part 'speed'" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.usefixtures("own_cache")
def test_the_engine_part_explores_six_subtasks_and_keeps_its_figures(tmp_path: Path) -> None:
    file = tmp_path / "figures.jsonl"

    assert overhead.main(["--parts", "engine", "--rounds", "1", "--out", str(file)]) == 0

    figures = [json.loads(line) for line in file.read_text().splitlines()]
    assert [figure["unit"] for figure in figures] == ["s", "s", "s"]
    assert all(figure["value"] > 0 for figure in figures)
