from __future__ import annotations

from typing import Any

import pytest
from exploracoder.engine.reading.cells import read_script
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


def test_the_model_writes_a_cell_for_each_step_and_the_solution() -> None:
    script = read_script(overhead.written_at_once())

    steps = six_steps.steps()
    assert [cell.goal for cell in script.cells] == [step.goal for step in steps]
    assert [cell.code for cell in script.cells] == [step.candidates[0] for step in steps]
    assert script.solution.strip() == six_steps.SOLUTION.strip()


@pytest.mark.slow
@pytest.mark.usefixtures("own_cache")
def test_the_first_cell_has_run_while_the_rest_is_being_written() -> None:
    read = [one.value for one in overhead.measure_first_cell(1, chars_per_second=150)]
    whole_measures = overhead.measure_first_cell(1, is_whole=True, chars_per_second=400)
    whole = [one.value for one in whole_measures]

    chars = len(overhead.written_at_once())
    assert 0 < read[0] < read[1] - chars / 150 / 3
    assert chars / 400 < whole[0] < whole[1]
    assert read[2] == pytest.approx(100 * read[0] / read[1])


@pytest.mark.thorough
@pytest.mark.slow
@pytest.mark.usefixtures("own_cache")
def test_the_engine_part_explores_six_subtasks() -> None:
    measures = list(overhead.measure_engine(1))

    assert [one.unit for one in measures] == ["s", "s", "s"]
    assert all(one.value > 0 for one in measures)
