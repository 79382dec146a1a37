"""What can be asked of an exploration as it stands."""

from __future__ import annotations

import pytest
from exploracoder import commands as c
from exploracoder.abilities import abilities_of, check
from exploracoder.errors import CommandError
from exploracoder.events import Abilities, Progress, changed_abilities
from exploracoder.state import Attempt, Candidate, Exploration, Solution, Step, Subtask
from exploracoder_kernel.observation import Observation

from .samples import exploration as sample

RAN = Observation(status="ok")
FAILED = Observation(status="error")
REVIEW = Progress(activity="review", mode="review")


def step(number: int, status: str, *runs: Observation | None, chosen: int | None = 1) -> Step:
    candidates = tuple(
        Candidate(id=f"step-{number}/{place}", code="x", origin="draft", observation=run)
        for place, run in enumerate(runs, 1)
    )
    return Step.model_validate(
        {
            "subtask": Subtask(id=f"step-{number}", goal="Do it"),
            "status": status,
            "candidates": candidates,
            "chosen": f"step-{number}/{chosen}" if candidates and chosen else None,
        }
    )


def plan(*steps: Step, **changes: object) -> Exploration:
    return sample(**{"steps": steps, "solution": None, "status": "waiting", **changes})


def can(exploration: Exploration, progress: Progress = REVIEW) -> Abilities:
    return abilities_of(exploration, progress)


def test_only_what_ran_is_accepted_and_only_in_the_first_open_subtask() -> None:
    now = can(plan(step(1, "review", RAN, FAILED, None), step(2, "review", RAN)))

    assert now["step-1/1"] == ("accept", "debug")
    assert now["step-1/2"] == ("debug",)
    assert now["step-1/3"] == ("debug",)
    assert "step-2/1" not in now
    assert "draft" in now["step-1"]
    assert "draft" not in now["step-2"]


def test_of_a_subtask_that_is_done_another_candidate_is_accepted_not_the_same_again() -> None:
    now = can(plan(step(1, "done", RAN, RAN)))

    assert now["step-1/1"] == ("debug",)
    assert now["step-1/2"] == ("accept", "debug")


def test_while_there_is_work_it_can_be_cancelled_and_the_plan_edited_elsewhere() -> None:
    working = Progress(activity="working", part="step-1", message="Asking the model")
    steps = (step(1, "review", RAN), step(2, "pending"), step(3, "skipped"))
    now = can(plan(*steps), working)

    edits = ("add_subtask", "rename_subtask", "delete_subtask", "move_subtask")
    assert now == {
        "": ("cancel", "add_subtask"),
        "step-2": edits,
        "step-3": edits,
    }
    with pytest.raises(CommandError, match="Asking the model"):
        check(c.Accept(subtask="step-1"), plan(*steps), working)


def test_nothing_is_put_before_what_is_being_explored() -> None:
    working = Progress(activity="working", part="step-2")
    steps = (step(1, "skipped"), step(2, "pending"), step(3, "pending"))

    for edit in (
        c.AddSubtask(goal="Look", before="step-1"),
        c.AddSubtask(goal="Look", before="step-2"),
        c.MoveSubtask(subtask="step-3", before="step-2"),
    ):
        with pytest.raises(CommandError, match="step-2 is being explored"):
            check(edit, plan(*steps), working)
    check(c.AddSubtask(goal="Look", before="step-3"), plan(*steps), working)


def test_what_is_done_is_gone_back_to_and_nothing_is_put_before_it() -> None:
    now = can(plan(step(1, "skipped"), step(2, "done", RAN), step(3, "pending")))

    assert now["step-1"] == (
        "rename_subtask",
        "delete_subtask",
        "move_subtask",
        "draft",
        "try_code",
        "go_back",
    )
    assert now["step-2"] == ("skip", "draft", "try_code", "go_back")
    assert {"add_subtask", "replan", "skip"} <= set(now["step-3"])
    assert "go_back" not in now["step-3"]


def test_what_was_left_out_waits_until_what_stands_before_is_decided() -> None:
    now = can(plan(step(1, "pending"), step(2, "skipped", RAN)))

    assert "go_back" not in now["step-2"]
    assert "step-2/1" not in now


@pytest.mark.parametrize(
    ("status", "mode", "is_possible"),
    [("pending", "review", True), ("review", "review", False), ("review", "auto", True)],
)
def test_going_on_needs_no_decision_first(status: str, mode: c.Mode, is_possible: bool) -> None:
    now = can(plan(step(1, status, RAN)), Progress(activity="review", mode=mode))

    assert ("go_on" in now[""]) is is_possible


@pytest.mark.parametrize(
    ("run", "checks", "is_good"),
    [
        (RAN, "passed", True),
        (RAN, "none", True),
        (RAN, "failed", False),
        (FAILED, "none", False),
    ],
)
def test_a_solution_that_failed_is_not_inserted_but_written_anew(
    run: Observation, checks: str, is_good: bool
) -> None:
    attempt = Attempt.model_validate({"code": "x", "observation": run, "checks": checks})
    now = can(plan(step(1, "done", RAN), solution=Solution(attempts=(attempt,))), Progress())

    assert ("insert" in now[""]) is is_good
    assert ("go_on" in now[""]) is not is_good
    assert "synthesize" in now[""]


def test_a_solution_is_written_once_something_is_accepted() -> None:
    assert "synthesize" not in can(plan(step(1, "pending")))[""]
    assert "synthesize" in can(plan(step(1, "done", RAN)))[""]


def test_without_a_plan_there_is_nothing_to_edit() -> None:
    now = can(plan(step(1, "pending"), is_planned=False))

    assert now[""] == ("go_on",)
    assert "delete_subtask" not in now["step-1"]


def test_only_what_changed_is_told_again() -> None:
    before: Abilities = {"": ("go_on",), "step-1": ("skip",), "step-2": ("skip",)}
    after: Abilities = {"": ("go_on",), "step-2": ("skip", "draft"), "step-3": ("skip",)}

    changes = changed_abilities(before, after)

    assert changes == {"step-1": (), "step-2": ("skip", "draft"), "step-3": ("skip",)}
