"""What a saved exploration says of its samples' facts, read back from its notebook."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from exploracoder import document
from exploracoder.config import PROFILES
from exploracoder.state import (
    Attempt,
    Candidate,
    Exploration,
    Solution,
    Step,
    StepStatus,
    Subtask,
    Task,
)
from exploracoder_bench.chains import read_chain, read_execution
from exploracoder_kernel.observation import ErrorReport, Observation

RAN = Observation(status="ok")
LATE = Observation(status="timeout", error=ErrorReport(ename="TimeoutError", evalue="too long"))
KILLED = Observation(status="killed")


def raised(ename: str) -> Observation:
    """A run that raised."""
    return Observation(status="error", error=ErrorReport(ename=ename, evalue=""))


def saved(file: Path, *attempts: Attempt, **more: Any) -> Path:
    """The notebook of an exploration that ended with these texts."""
    task = Task(text="Make tea.", libraries=("tea",), check="assert tea")
    told: dict[str, Any] = {"solution": Solution(attempts=attempts)} if attempts else {}
    document.save(file, Exploration(task=task, settings=PROFILES["small"], **told, **more))
    return file


def step(number: int, status: StepStatus, *tried: Observation) -> Step:
    """A subtask whose last try became its experience, if it has any."""
    candidates = tuple(
        Candidate(id=f"{number}/{at}", code="", origin="draft", apis=("tea.brew",), observation=one)
        for at, one in enumerate(tried)
    )
    return Step(
        subtask=Subtask(id=f"s{number}", goal="Brew."),
        status=status,
        candidates=candidates,
        chosen=candidates[-1].id if candidates else None,
    )


def attempt(ran: Observation, checked: Observation | None) -> Attempt:
    """A text that was run, and checked if it got so far."""
    checks = "none" if checked is None else "passed" if checked.ran else "failed"
    return Attempt(code="pass", observation=ran, check_observation=checked, checks=checks)


@pytest.mark.parametrize(
    ("ran", "checked", "executed"),
    [
        (RAN, RAN, True),
        (RAN, raised("AssertionError"), True),
        (RAN, raised("NameError"), False),
        (RAN, LATE, False),
        (RAN, KILLED, False),
        (RAN, None, True),
        (raised("AssertionError"), None, False),
    ],
)
def test_a_solution_was_executed_when_nothing_but_an_assertion_of_its_check_failed(
    tmp_path: Path, ran: Observation, checked: Observation | None, executed: bool
) -> None:
    notebook = saved(tmp_path / "e.ipynb", attempt(ran, checked))

    assert read_execution(notebook) == {"executed": executed, "checked": int(checked is not None)}


def test_the_text_that_the_exploration_stands_by_is_the_one_that_tells(tmp_path: Path) -> None:
    wrong, worse = attempt(RAN, raised("AssertionError")), attempt(RAN, raised("KeyError"))

    found = [
        read_execution(saved(tmp_path / "e.ipynb", *attempts))
        for attempts in ((wrong, worse), (worse, wrong), ())
    ]

    assert found == [
        {"executed": False, "checked": 2},
        {"executed": True, "checked": 2},
        {"executed": False, "checked": 0},
    ]


def test_a_chain_tells_how_many_of_its_subtasks_ran(tmp_path: Path) -> None:
    error = raised("KeyError")
    steps = (
        step(1, "done", error, RAN),
        step(2, "done", error),
        step(3, "done", RAN),
        step(4, "pending"),
        step(5, "skipped"),
    )

    chain = read_chain(saved(tmp_path / "e.ipynb", steps=steps))

    assert (chain.explored, chain.ran, chain.broken_at) == (4, 2, 2)
    assert (chain.error, chain.apis) == ("KeyError", 3)


@pytest.mark.parametrize("status", ["skipped", "pending"])
def test_subtasks_of_which_none_was_tried_are_no_chain(tmp_path: Path, status: StepStatus) -> None:
    steps = (step(1, status), step(2, status))

    chain = read_chain(saved(tmp_path / "e.ipynb", steps=steps))

    assert (chain.explored, chain.ran) == (0, 0)
