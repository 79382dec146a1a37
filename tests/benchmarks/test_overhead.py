from __future__ import annotations

from typing import Any

import pytest
from exploracoder_bench import overhead, six_steps


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


def test_an_unknown_part_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert overhead.main(["--parts", "engine,speed"]) == 2
    assert "no part 'speed'" in capsys.readouterr().err


@pytest.mark.thorough
@pytest.mark.slow
@pytest.mark.usefixtures("own_cache")
def test_the_engine_part_explores_six_subtasks() -> None:
    measures = list(overhead.measure_engine(1))

    assert [one.unit for one in measures] == ["s", "s", "s"]
    assert all(one.value > 0 for one in measures)
