"""The measure of when the first cell has run: what its model writes, and what it says."""

from __future__ import annotations

import json
from pathlib import Path

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
def test_the_first_cell_has_run_while_the_rest_is_being_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "times.jsonl"
    options = ["--rounds", "1", "--tokens-per-second", "100", "--out", str(file)]

    assert first_cell.main(options) == 0
    assert first_cell.main([*options, "--whole"]) == 0

    read, whole = (json.loads(line) for line in file.read_text().splitlines())
    written_s = len(written_at_once()) / 400
    assert read["method"] == "exploration"
    assert 0 < read["first_cell"] < read["whole"] - written_s / 3
    assert written_s < whole["first_cell"] < whole["whole"]
    assert capsys.readouterr().out.splitlines()[2].startswith("| exploration | ")
