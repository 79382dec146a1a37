"""The data model and the settings."""

from __future__ import annotations

import pytest
from exploracoder.errors import InputError
from exploracoder.models.model_cost import Usage
from exploracoder.settings import PROFILES, make_settings
from exploracoder.state import Attempt, Candidate, Experience, Exploration, Solution, Step, Subtask
from exploracoder.tasks import make_task
from exploracoder_kernel.observation import Observation
from pydantic import ValidationError

from .samples import exploration

RAN = Observation(status="ok")
FAILED = Observation(status="error")


def test_an_exploration_survives_json() -> None:
    whole = exploration()

    assert Exploration.model_validate_json(whole.model_dump_json()) == whole


@pytest.mark.parametrize(
    "path", [(), ("task",), ("steps", 0), ("steps", 0, "candidates", 0), ("solution",)]
)
def test_a_field_that_nobody_knows_is_refused(path: tuple[str | int, ...]) -> None:
    data = exploration().model_dump(mode="json")
    place = data
    for key in path:
        place = place[key]  # type: ignore[index]
    place["tea"] = 1

    with pytest.raises(ValidationError, match="tea"):
        Exploration.model_validate(data)


CONTRADICTIONS: dict[str, tuple[tuple[str | int, ...], object, str]] = {
    "a step's id of another form": (("steps", 0, "subtask", "id"), "task", "should match"),
    "a candidate's id of another form": (("steps", 1, "candidates", 0, "id"), "x", "a slash"),
    "two steps of one id": (("steps", 0, "subtask", "id"), "step-2", "several steps"),
    "two candidates of one id": (("steps", 0, "candidates", 0, "id"), "step-1/2", "several cand"),
    "a choice that is not there": (("steps", 1, "chosen"), "step-2/9", "is not there"),
    "a choice that never ran": (("steps", 1, "candidates", 0, "observation"), None, "never ran"),
    "a solution without a text": (("solution", "attempts"), [], "without an attempt"),
    "endless time": (("seconds_total",), float("inf"), "finite number"),
}


@pytest.mark.parametrize(("path", "value", "said"), CONTRADICTIONS.values(), ids=CONTRADICTIONS)
def test_an_exploration_that_contradicts_itself_is_refused(
    path: tuple[str | int, ...], value: object, said: str
) -> None:
    data = exploration().model_dump(mode="json")
    place = data
    for key in path[:-1]:
        place = place[key]  # type: ignore[index]
    place[path[-1]] = value  # type: ignore[index]

    with pytest.raises(ValidationError, match=said):
        Exploration.model_validate(data)


def test_a_saved_exploration_cannot_be_changed_in_place() -> None:
    with pytest.raises(ValidationError):
        exploration().seed = 3  # type: ignore[misc]


def test_a_step_takes_the_place_of_the_one_with_its_id() -> None:
    whole = exploration()
    copy = whole.with_step(Step(subtask=whole.steps[1].subtask, status="skipped"))

    assert [step.status for step in copy.steps] == ["done", "skipped", "failed"]
    assert [step.status for step in whole.steps] == ["done", "done", "failed"]


def test_spending_is_added_up_by_part() -> None:
    once = Usage(calls=1, prompt_tokens=10, seconds=0.5)
    whole = exploration().model_copy(update={"spending": ()})
    whole = whole.with_spending("plan", once).with_spending("plan", once, 0.25)
    whole = whole.with_spending("step-1", Usage(), 1.0)

    assert [part.part for part in whole.spending] == ["plan", "step-1"]
    assert whole.usage == Usage(calls=2, prompt_tokens=20, seconds=1.0)
    assert whole.seconds_execution == 1.25


def test_the_trace_holds_what_was_chosen_in_steps_that_are_done() -> None:
    trace = exploration().trace

    assert [link.subtask.id for link in trace] == ["step-1", "step-2"]
    assert trace[0].observation.stdout == "assam\n"


def test_an_experience_without_a_run_is_a_contradiction() -> None:
    link = Experience(
        subtask=Subtask(id="step-1", goal="Read"),
        candidate=Candidate(id="step-1/1", code="x", origin="draft"),
    )

    with pytest.raises(ValueError, match="step-1/1"):
        _ = link.observation


@pytest.mark.parametrize(
    ("attempts", "final"),
    [
        ([("a", RAN, "none")], "a"),
        ([("a", FAILED, "none"), ("b", RAN, "passed")], "b"),
        ([("a", RAN, "passed"), ("b", RAN, "failed")], "a"),
        ([("a", RAN, "failed"), ("b", FAILED, "none")], "b"),
    ],
    ids=["only one", "repaired", "good before bad", "none good"],
)
def test_the_final_solution_is_the_last_good_attempt_or_else_the_last(
    attempts: list[tuple[str, Observation, str]], final: str
) -> None:
    solution = Solution(
        attempts=tuple(
            Attempt.model_validate({"code": code, "observation": observation, "checks": checks})
            for code, observation, checks in attempts
        )
    )

    assert solution.final.code == final


def test_an_attempt_s_failure_is_the_run_or_else_the_check() -> None:
    check = Observation(status="error", stderr="check")

    assert Attempt(code="", observation=FAILED).failure is FAILED
    assert Attempt(code="", observation=RAN).failure is None
    assert (
        Attempt(code="", observation=RAN, check_observation=check, checks="failed").failure is check
    )


def test_settings_start_from_the_profile_and_none_changes_nothing() -> None:
    settings = make_settings("small", candidates=7, temperature=None)

    assert settings.candidates == 7
    assert settings.temperature == PROFILES["small"].temperature
    assert settings.profile == "small"


def test_settings_are_read_from_words() -> None:
    settings = make_settings("standard", candidates="2", sift="false", top_p="0.5")

    assert (settings.candidates, settings.sift, settings.top_p) == (2, False, 0.5)


@pytest.mark.parametrize(
    "values",
    [
        *({"candidates": 0}, {"top_p": 1.5}, {"selection": "best"}, {"tea": 1}),
        *({"run_seconds": "x"}, {"run_seconds": "inf"}, {"max_seconds": float("inf")}),
    ],
)
def test_a_setting_that_cannot_be_used_is_named(values: dict[str, object]) -> None:
    with pytest.raises(InputError, match=next(iter(values))):
        make_settings("standard", **values)


def test_an_unknown_profile_is_answered_with_those_there_are() -> None:
    with pytest.raises(InputError, match=r"'huge'.*standard, paper, small"):
        make_settings("huge")


def test_a_function_s_head_in_a_task_is_its_stub_and_names_the_entry_point() -> None:
    task = make_task("Complete.\n```python\ndef brew(leaf):\n```", libraries=["tealeaf"])

    assert task.stub == "def brew(leaf):"
    assert task.entry_point == "brew"


def test_the_unfinished_end_of_a_context_is_the_stub() -> None:
    task = make_task("Brew.", libraries=["tealeaf"], context="leaf = 1\ncup =")

    assert task.context == "leaf = 1"
    assert task.stub == "cup ="


def test_a_task_without_a_library_is_refused() -> None:
    with pytest.raises(InputError, match="--library"):
        make_task("Brew.", libraries=[])
