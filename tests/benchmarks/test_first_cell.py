"""The measure of when the first cell has run: what its model writes, and what it says."""

from __future__ import annotations

import pytest
from exploracoder.engine.reading.cells import read_script
from exploracoder_bench import first_cell, six_steps
from exploracoder_bench.first_cell import Times, written_at_once


def test_the_model_writes_a_cell_for_each_step_and_the_solution() -> None:
    script = read_script(written_at_once())

    steps = six_steps.steps()
    assert [cell.goal for cell in script.cells] == [step.goal for step in steps]
    assert [cell.code for cell in script.cells] == [step.candidates[0] for step in steps]
    assert script.solution.strip() == six_steps.SOLUTION.strip()


def test_the_share_is_of_the_whole_time() -> None:
    assert Times("exploration", first_cell=2.0, whole=8.0).share == 0.25


@pytest.mark.slow
@pytest.mark.usefixtures("own_cache")
def test_the_first_cell_has_run_while_the_rest_is_being_written() -> None:
    (read,) = first_cell.measure(1, 150, is_whole=False)
    (whole,) = first_cell.measure(1, 400, is_whole=True)

    chars = len(written_at_once())
    assert read.method == "exploration"
    assert 0 < read.first_cell < read.whole - chars / 150 / 3
    assert chars / 400 < whole.first_cell < whole.whole
