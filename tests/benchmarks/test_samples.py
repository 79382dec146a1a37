"""Single samples through the command line, with a model that plans and ranks."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from exploracoder.testing import Failure, Outcome, RecordedRequest, ScriptedModelServer
from exploracoder_bench.metrics import success_at_k
from exploracoder_bench.problems import Problem
from exploracoder_bench.results import RunResult
from exploracoder_bench.runs import ModelOptions, Way
from exploracoder_bench.samples import Sample, explore

from .made_results import NOT_COMPARED

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("own_cache")]

RIGHT = "```python\ndef spell(numbers):\n    return [frumpkin.frumple(n) for n in numbers]\n```"


class Model:
    """Plans one subtask, ranks, and solves Tiny/0, unless it is ``away`` when it is to write."""

    def __init__(self) -> None:
        self.is_away = False
        self.plan: Outcome = '{"subtasks": ["Spell the numbers"]}'

    def __call__(self, request: RecordedRequest) -> Outcome:
        form = json.dumps(request.body.get("response_format", {}))
        if "subtasks" in form:
            return self.plan
        if "relevant" in form:
            return '{"relevant": [1]}'
        return Failure(500, retry_after_s=0) if self.is_away else RIGHT


@pytest.fixture
def model() -> Model:
    return Model()


@pytest.fixture
def server(model: Model) -> Iterator[ScriptedModelServer]:
    with ScriptedModelServer(model) as scripted_server:
        yield scripted_server


def sample(problem: Problem, server: ScriptedModelServer, out: Path, method: str) -> Sample:
    model_choice = ModelOptions(server.model, server.base_url, out / "replies")
    return Sample(problem, Way(method, 0), model_choice, out, timeout_s=60, run_seconds=30)


def facts(result: RunResult) -> dict[str, Any]:
    """What must be the same however a sample went."""
    return result.model_dump(exclude=NOT_COMPARED)


def test_methods_that_ask_the_same_have_their_own_seconds(
    problems: dict[str, Problem], server: ScriptedModelServer, tmp_path: Path
) -> None:
    results = [
        explore(sample(problems["Tiny/0"], server, tmp_path, method))
        for method in ("capir", "epigen")
    ]

    assert [one.status for one in results] == ["solved", "solved"]
    assert [one.cached_calls for one in results] == [0, 0]


def test_methods_that_share_replies_ask_the_same_once_and_both_count_it(
    problems: dict[str, Problem], server: ScriptedModelServer, tmp_path: Path
) -> None:
    explore(sample(problems["Tiny/0"], server, tmp_path / "first", "capir"))
    apart = explore(sample(problems["Tiny/0"], server, tmp_path / "apart", "epigen"))
    shared = sample(problems["Tiny/0"], server, tmp_path, "capir")
    shared = replace(shared, model_options=replace(shared.model_options, shares_replies=True))
    first = explore(shared)
    before = len(server.chat_requests)

    second = explore(replace(shared, way=Way("epigen", 0)))
    other_seed = explore(replace(shared, way=Way("epigen", 1)))

    assert (first.cached_calls, second.cached_calls, other_seed.cached_calls) == (
        0,
        second.calls - 1,
        0,
    )
    assert len(server.chat_requests) == before + 1 + other_seed.calls
    assert second.calls > 1
    assert facts(second) == facts(apart)


def test_a_sample_that_was_cut_off_takes_the_replies_that_it_had_and_counts_them(
    problems: dict[str, Problem], model: Model, server: ScriptedModelServer, tmp_path: Path
) -> None:
    explore(sample(problems["Tiny/0"], server, tmp_path / "first", "capir"))
    whole = explore(sample(problems["Tiny/0"], server, tmp_path / "whole", "capir"))
    cut = sample(problems["Tiny/0"], server, tmp_path / "cut", "capir")
    model.is_away = True
    broken = explore(cut)
    model.is_away = False
    before = len(server.chat_requests)

    again = explore(cut)

    assert (broken.counts, broken.fault) == (False, "model")
    # The plan and the ranking are there; the solution alone is asked for.
    assert len(server.chat_requests) == before + 1
    assert again.cached_calls == again.calls - 1 > 0
    assert facts(again) == facts(whole)


@pytest.mark.parametrize("hides_check", [False, True])
def test_a_plan_for_which_a_prompt_is_too_long_is_the_methods_failure(
    problems: dict[str, Problem],
    model: Model,
    server: ScriptedModelServer,
    tmp_path: Path,
    hides_check: bool,
) -> None:
    explore(sample(problems["Tiny/0"], server, tmp_path / "first", "capir"))
    model.plan = Failure(400, "the request exceeds the available context size")

    base_sample = sample(problems["Tiny/0"], server, tmp_path, "capir")
    result = explore(replace(base_sample, way=replace(base_sample.way, hides_check=hides_check)))

    assert (result.status, result.fault, result.counts) == ("failed", "", True)
    assert "too long" in result.reason
    assert (result.calls, result.completion_tokens) == (0, 0)


def test_a_model_that_gives_no_plan_goes_on_with_the_whole_task_and_pays_for_its_tries(
    problems: dict[str, Problem], model: Model, server: ScriptedModelServer, tmp_path: Path
) -> None:
    explore(sample(problems["Tiny/0"], server, tmp_path / "first", "capir"))
    model.plan = '{"subtasks": ["Spell'
    whole = explore(sample(problems["Tiny/0"], server, tmp_path, "capir"))

    assert (whole.status, whole.subtasks) == ("solved", 1)
    assert whole.calls > 3


def test_a_hidden_check_has_the_seconds_that_the_samples_runs_have(
    problems: dict[str, Problem], server: ScriptedModelServer, tmp_path: Path
) -> None:
    slow = replace(problems["Tiny/0"], check="import time\ntime.sleep(20)\n")
    base_sample = sample(slow, server, tmp_path, "direct")

    result = explore(replace(base_sample, way=Way("direct", 0, hides_check=True), run_seconds=1))

    assert (result.status, result.ran) == ("failed", True)
    assert "TimeoutError: The snippet ran longer than 1 s" in result.reason


@pytest.mark.parametrize("hides_check", [False, True])
def test_a_disk_that_is_full_where_the_solution_or_its_check_writes_is_nobodys_failure(
    problems: dict[str, Problem],
    server: ScriptedModelServer,
    tmp_path: Path,
    hides_check: bool,
) -> None:
    full = "spell\nraise OSError(28, 'No space left on device')\n"
    base_sample = sample(replace(problems["Tiny/0"], check=full), server, tmp_path, "direct")

    result = explore(replace(base_sample, way=Way("direct", 0, hides_check=hides_check)))

    assert (result.status, result.fault, result.counts) == ("setup", "execution", False)
    assert "OSError: [Errno 28] No space left on device" in result.reason
    assert result.prompt_tokens > 0  # it was paid for


@pytest.mark.parametrize("hides_check", [False, True])
def test_a_function_that_raises_when_it_is_called_is_no_success(
    problems: dict[str, Problem], tmp_path: Path, hides_check: bool
) -> None:
    with ScriptedModelServer("```python\ndef spell(them):\n    return them[9]\n```") as server:
        base_sample = sample(problems["Tiny/0"], server, tmp_path, "direct")
        result = explore(replace(base_sample, way=Way("direct", 0, hides_check=hides_check)))

    assert (result.status, result.ran, result.executed) == ("failed", True, False)
    assert result.checked == (0 if hides_check else 1)
    assert success_at_k([result], 1).value == 0.0
