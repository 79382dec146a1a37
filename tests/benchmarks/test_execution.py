"""Whether a sample's solution was executed, told through the whole command."""

from __future__ import annotations

from pathlib import Path

import pytest
from exploracoder.testing import ScriptedModelServer
from exploracoder_bench.metrics import success_at_k
from exploracoder_bench.problems import Problem
from exploracoder_bench.runs import ModelOptions, Way
from exploracoder_bench.samples import Sample, explore


@pytest.mark.slow
@pytest.mark.usefixtures("own_cache")
@pytest.mark.parametrize("hides_check", [False, True])
def test_a_function_that_raises_when_it_is_called_is_no_success(
    problems: dict[str, Problem], tmp_path: Path, hides_check: bool
) -> None:
    way = Way("direct", 0, hides_check=hides_check)
    with ScriptedModelServer("```python\ndef spell(them):\n    return them[9]\n```") as server:
        model_choice = ModelOptions(server.model, server.base_url)
        sample = Sample(
            problems["Tiny/0"], way, model_choice, tmp_path / "out", timeout_s=60, run_seconds=15
        )
        result = explore(sample)

    assert (result.status, result.ran, result.executed) == ("failed", True, False)
    assert result.checked == (0 if hides_check else 1)
    assert success_at_k([result], 1).value == 0.0
