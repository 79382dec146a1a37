"""What a saved exploration says of its samples' facts, read back from its notebook."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from exploracoder import document
from exploracoder.engine.exploring.arguments import STEP
from exploracoder.models.model_cost import Usage
from exploracoder.settings import PROFILES
from exploracoder.state import (
    Attempt,
    Candidate,
    ExampleCall,
    Exploration,
    RankedApi,
    Recommendation,
    Solution,
    Spending,
    Step,
    StepStatus,
    Subtask,
    Task,
)
from exploracoder_bench.chains import read_chain, read_execution
from exploracoder_bench.exploring import read_exploring
from exploracoder_kernel.observation import ErrorReport, Observation
from exploracoder_retrieval.apidoc import ApiDoc

RAN = Observation(status="ok")
LATE = Observation(status="timeout", error=ErrorReport(ename="TimeoutError", evalue="too long"))
KILLED = Observation(status="killed")


def raised(ename: str) -> Observation:
    """A run that raised."""
    return Observation(status="error", error=ErrorReport(ename=ename, evalue=""))


def saved(file: Path, *attempts: Attempt, **more: Any) -> Path:
    """The notebook of an exploration that ended with these texts."""
    task = Task(text="Make tea.", libraries=("tea",), check="assert tea")
    fields: dict[str, Any] = {"solution": Solution(attempts=attempts)} if attempts else {}
    document.save(file, Exploration(task=task, settings=PROFILES["small"], **fields, **more))
    return file


def step(number: int, status: StepStatus, *observations: Observation) -> Step:
    """A subtask whose last try became its experience, if it has any."""
    candidates = tuple(
        Candidate(
            id=f"step-{number}/{at}", code="", origin="draft", apis=("tea.brew",), observation=one
        )
        for at, one in enumerate(observations)
    )
    return Step(
        subtask=Subtask(id=f"step-{number}", goal="Brew."),
        status=status,
        candidates=candidates,
        chosen=candidates[-1].id if candidates else None,
    )


def attempt(ran: Observation, check_observation: Observation | None) -> Attempt:
    """A text that was run, and checked if it got so far."""
    checks = (
        "none" if check_observation is None else "passed" if check_observation.ran else "failed"
    )
    return Attempt(code="pass", observation=ran, check_observation=check_observation, checks=checks)


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

    facts = [
        read_execution(saved(tmp_path / "e.ipynb", *attempts))
        for attempts in ((wrong, worse), (worse, wrong), ())
    ]

    assert facts == [
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


def spent(**calls: int) -> tuple[Spending, ...]:
    """What parts of the work asked the model; underscores stand for what is between words."""
    return tuple(
        Spending(part=part.replace("_", "-"), usage=Usage(calls=count))
        for part, count in calls.items()
    )


def written(number: int, *observations: Observation) -> Step:
    """A cell that was written, with the docs of what it uses."""
    doc = ApiDoc(path=f"tea.pour_{number}", kind="function", library="tea")
    recommendation = Recommendation(apis=(RankedApi(doc=doc, score=1.0, is_kept=True),))
    return step(number, "done", *observations).model_copy(update={"recommendation": recommendation})


DOUBTFUL = attempt(RAN, None).model_copy(
    update={"call": ExampleCall(code="brew(0)", called="brew(0)", observation=raised("ValueError"))}
)
EXPLORED: dict[str, tuple[dict[str, int], tuple[Attempt, ...], tuple[int, int, bool]]] = {
    "written alone": ({"write": 1, "look": 1}, (attempt(RAN, RAN),), (0, 1, False)),
    "composed": ({"write": 1, "look": 3, "step_2": 2}, (attempt(RAN, RAN),), (1, 3, True)),
    "written again": (
        {"step_1": 1, "step_2": 2, "solution": 1},
        (attempt(RAN, RAN),) * 2,
        (2, 0, True),
    ),
    "made of the steps": (
        {"write": 1, "look": 1, "step_2": 2},
        (attempt(RAN, raised("AssertionError")), attempt(RAN, RAN)),
        (1, 1, True),
    ),
    "kept": ({"write": 1, "look": 2, "step_2": 1}, (attempt(RAN, None),) * 3, (1, 2, False)),
    "in doubt": ({"write": 1, "look": 1, "step_2": 1}, (DOUBTFUL,), (1, 1, False)),
    "without any": ({"write": 1, "step_1": 1}, (), (1, 0, False)),
}


@pytest.mark.parametrize("case", EXPLORED)
def test_a_step_is_explored_when_the_model_was_asked_for_it_alone(
    tmp_path: Path, case: str
) -> None:
    calls, attempts, (steps, looks, came_of_it) = EXPLORED[case]
    chain = (step(1, "done", RAN), step(2, "done", raised("KeyError"), RAN))
    notebook = saved(tmp_path / "e.ipynb", *attempts, spending=spent(**calls), steps=chain)

    facts = read_exploring(notebook)

    assert facts == {"explored_steps": steps, "looks": looks, "came_of_exploring": came_of_it}


def test_docs_ranked_for_a_subtask_and_example_arguments_are_no_exploring(tmp_path: Path) -> None:
    example = step(1, "done", RAN).model_copy(update={"subtask": Subtask(id=STEP, goal="Give.")})
    steps = (example, step(2, "skipped"))
    spending = spent(step_0=1, step_2=1, solution=1)

    ours = saved(tmp_path / "ours.ipynb", attempt(RAN, RAN), steps=steps, spending=spending)
    other = saved(tmp_path / "other.ipynb", attempt(RAN, RAN), method="capir", spending=spending)

    assert read_exploring(ours)["explored_steps"] == 0
    assert read_exploring(other) == {}


def test_what_a_cell_uses_was_not_recommended_unless_it_was_explored(tmp_path: Path) -> None:
    steps = (written(1, RAN), written(2, raised("KeyError"), RAN))

    alone = saved(tmp_path / "alone.ipynb", steps=steps, spending=spent(write=1))
    explored = saved(tmp_path / "explored.ipynb", steps=steps, spending=spent(write=1, step_2=1))

    assert read_chain(alone).recommended == ()
    assert read_chain(explored).recommended == ("tea.pour_2",)
    assert [read_chain(one).explored for one in (alone, explored)] == [2, 2]
