from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from exploracoder.testing import Failure, Outcome, RecordedRequest, ScriptedModelServer
from exploracoder_bench.children import Children
from exploracoder_bench.problems import Problem
from exploracoder_bench.results import RunResult
from exploracoder_bench.runs import ModelOptions, Way, brief, command, result, run

NOBODY = ModelOptions("embedded")
SPELLED = "    return [frumpkin.frumple(number) for number in numbers]"

SOLVED: dict[str, Any] = {
    "status": "solved",
    "verified": {"ran": True, "checks": "passed"},
    "subtasks": [{"id": "s1", "candidates": 3}, {"id": "s2", "candidates": 1}],
    "usage": {"calls": 5, "prompt_tokens": 90, "completion_tokens": 40, "seconds_total": 2.5},
    "usage_by_part": {
        "plan": {"completion_tokens": 9},
        "s1": {"completion_tokens": 20},
        "s2": {"completion_tokens": 5},
    },
}


@pytest.fixture
def problem(problems: dict[str, Problem]) -> Problem:
    return problems["Tiny/0"]


def read(problem: Problem, exit_code: int, report: dict[str, Any], messages: str = "") -> RunResult:
    way = Way("direct", 0)
    return result(problem, way, exit_code=exit_code, report=report, messages=messages, seconds=3.0)


def test_a_result_holds_what_the_command_reported(problem: Problem) -> None:
    run_result = read(problem, 0, SOLVED)

    assert (run_result.status, run_result.ran, run_result.checks) == ("solved", True, "passed")
    assert (run_result.subtasks, run_result.candidates, run_result.subtask_tokens) == (2, 4, 25)
    assert (run_result.calls, run_result.completion_tokens) == (5, 40)
    assert (run_result.seconds_exploration, run_result.seconds) == (2.5, 3.0)


@pytest.mark.parametrize(
    ("exit_code", "report", "status"),
    [
        (0, SOLVED, "solved"),
        (0, {"status": "unverified"}, "unverified"),
        (0, {}, "setup"),
        (1, {"status": "failed"}, "failed"),
        (1, {}, "setup"),
        (2, {"status": "failed", "error": "No such library."}, "setup"),
        (130, {"status": "cancelled"}, "cancelled"),
        (-9, {}, "setup"),
    ],
)
def test_only_an_orderly_failure_is_the_methods(
    problem: Problem, exit_code: int, report: dict[str, Any], status: str
) -> None:
    assert read(problem, exit_code, report).status == status


def test_relative_paths_hold_in_the_working_folder_and_names_stay(problem: Problem) -> None:
    variant = dataclasses.replace(
        problem, python="venv/bin/python", libraries=("frumpkin", "./lib")
    )

    arguments = command(variant, Way("direct", 3), NOBODY, 60)

    assert arguments[arguments.index("--python") + 1] == str(Path("venv/bin/python").absolute())
    libraries = [arguments[at + 1] for at, one in enumerate(arguments) if one == "--library"]
    assert libraries == ["frumpkin", str(Path("lib").absolute())]


@dataclasses.dataclass
class Refusing(Children):
    """Runs nothing: each command is noted, and fails for want of a reply."""

    words: list[str] = dataclasses.field(default_factory=list)

    def call(self, command: Sequence[str], folder: Path, **_: Any) -> tuple[int, bool]:
        self.words += command
        report = {"error": "It has no reply.", "error_kind": "model"}
        (folder / "report.json").write_text(json.dumps(report))
        (folder / "messages.txt").touch()
        return 2, False


def test_a_briefing_has_kept_replies_of_its_own_and_lacking_one_ends_no_run(
    problem: Problem, tmp_path: Path
) -> None:
    choice = ModelOptions("strong", replies=tmp_path / "replies", answers_kept=True)
    children = Refusing()

    outcome = brief(
        problem, Way("capir", 0), choice, tmp_path / "new", timeout_s=60, children=children
    )

    assert children.words[children.words.index("--replies") + 1].endswith("replies/briefing")
    assert "--replies-only" in children.words
    assert (outcome.message, outcome.fault) == ("It has no reply.", "execution")


def test_the_reason_is_the_error_or_else_the_last_words(problem: Problem) -> None:
    assert read(problem, 2, {"error": "No such library."}, "Error: x").reason == "No such library."
    assert read(problem, 1, {}, "Traceback\nKeyError: 'x'\n").reason == "KeyError: 'x'"


@pytest.mark.slow
@pytest.mark.usefixtures("own_cache")
def test_a_wrong_answer_is_a_failure_with_its_tokens_counted(
    problem: Problem, tmp_path: Path
) -> None:
    with ScriptedModelServer("```python\ndef spell(numbers):\n    return []\n```") as server:
        model_choice = ModelOptions(server.model, server.base_url)
        run_result = run(problem, Way("direct", 0), model_choice, tmp_path / "work", timeout_s=60)

    assert (run_result.status, run_result.ran, run_result.executed, run_result.checks) == (
        "failed",
        True,
        True,
        "failed",
    )
    assert run_result.calls == 1
    assert run_result.completion_tokens > 0
    assert (tmp_path / "work/exploration.ipynb").exists()


def explored_by_hand(request: RecordedRequest) -> Outcome:
    """A cell that fails and a wrong solution, nothing to say of them, and then better ones."""
    message = request.last_user_message
    if "This is what came out" in message:
        return "### Done"
    if "### Solution" in message:
        cell = '### 1. Spell a number\n```python\nword = {}["word"]\n```'
        return f"{cell}\n### Solution\n```python\ndef spell(numbers):\n    return []\n```"
    if request.body.get("n", 1) > 1:
        return "```python\nword = frumpkin.frumple(1)\nword\n```"
    return f"```python\ndef spell(numbers):\n{SPELLED}\n```"


@pytest.mark.slow
@pytest.mark.usefixtures("own_cache")
def test_a_solution_that_came_of_exploring_is_told_from_one_that_was_written_at_once(
    problem: Problem, tmp_path: Path
) -> None:
    at_once = f"### Solution\n```python\ndef spell(numbers):\n{SPELLED}\n```"
    way = Way("exploration", 0, ("--set=rerank=none",))
    run_results = []
    for number, script in enumerate((explored_by_hand, at_once)):
        with ScriptedModelServer(script) as server:
            model_choice = ModelOptions(server.model, server.base_url)
            run_results.append(
                run(problem, way, model_choice, tmp_path / str(number), timeout_s=60)
            )

    assert [one.status for one in run_results] == ["solved", "solved"]
    assert [(one.explored_steps, one.looks) for one in run_results] == [(1, 1), (0, 0)]
    assert [one.is_solved_by_exploring for one in run_results] == [True, False]
    assert [one.chain.explored for one in run_results] == [1, 0]


@pytest.mark.parametrize(
    ("report", "fault"),
    [
        ({"status": "failed", "error": "No answer.", "error_kind": "model"}, "model"),
        ({"status": "failed", "error": "No such field.", "error_kind": "request"}, "request"),
        ({"status": "failed", "error": "No library.", "error_kind": "setup"}, "execution"),
        ({}, "harness"),
    ],
)
def test_what_does_not_count_is_said_to_be_the_models_the_executions_or_our_fault(
    problem: Problem, report: dict[str, Any], fault: str
) -> None:
    assert read(problem, 2, report).fault == fault
    assert read(problem, 1, SOLVED | {"status": "failed"}).fault == ""


def test_an_answer_that_could_not_be_used_is_the_methods_failure(problem: Problem) -> None:
    report = SOLVED | {"status": "failed", "error": "No plan.", "error_kind": "reply"}

    run_result = read(problem, 2, report | {"verified": {"ran": False, "checks": "none"}})

    assert (run_result.status, run_result.fault, run_result.counts, run_result.reason) == (
        "failed",
        "",
        True,
        "No plan.",
    )
    assert run_result.calls == 5


@pytest.mark.parametrize(
    ("failure", "fault"),
    [
        ("OSError: [Errno 28] No space left on device: 'out.csv'", "execution"),
        ("OSError: [Errno 122] Disk quota exceeded", "execution"),
        ("OSError: [Errno 2] No such file or directory", ""),
        (None, ""),
    ],
)
def test_a_full_disk_is_no_failure_of_the_methods(
    problem: Problem, failure: str | None, fault: str
) -> None:
    run_result = read(problem, 1, SOLVED | {"status": "failed", "failure": failure})

    assert (run_result.fault, run_result.counts) == (fault, not fault)
    if fault:
        assert failure is not None and failure in run_result.reason


@pytest.mark.slow
@pytest.mark.usefixtures("own_cache")
def test_a_model_that_cannot_be_asked_is_the_models_fault(problem: Problem, tmp_path: Path) -> None:
    with ScriptedModelServer(lambda _: Failure(401, "no key")) as server:
        model_choice = ModelOptions(server.model, server.base_url)
        run_result = run(problem, Way("direct", 0), model_choice, tmp_path / "work", timeout_s=60)

    assert (run_result.status, run_result.fault, run_result.counts) == ("setup", "model", False)
