"""What an exploration says of its sample."""

from __future__ import annotations

from typing import Any

import pytest
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
from exploracoder_bench.chains import chain_of, execution_of
from exploracoder_bench.exploring import exploring_facts
from exploracoder_kernel.observation import ErrorReport, Observation
from exploracoder_retrieval.apidoc import ApiDoc

RAN = Observation(status="ok")
LATE = Observation(status="timeout", error=ErrorReport(ename="TimeoutError", evalue="too long"))
KILLED = Observation(status="killed")


def raised(ename: str) -> Observation:
    """A run that raised."""
    return Observation(status="error", error=ErrorReport(ename=ename, evalue=""))


def exploration(*attempts: Attempt, **more: Any) -> Exploration:
    """An exploration that ended with these texts."""
    task = Task(text="Make tea.", libraries=("tea",), check="assert tea")
    fields: dict[str, Any] = {"solution": Solution(attempts=attempts)} if attempts else {}
    return Exploration(task=task, settings=PROFILES["small"], **fields, **more)


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
    ran: Observation, checked: Observation | None, executed: bool
) -> None:
    facts = execution_of(exploration(attempt(ran, checked)))

    assert facts == {"executed": executed, "checked": int(checked is not None)}


def test_the_text_that_the_exploration_stands_by_is_the_one_that_tells() -> None:
    wrong, worse = attempt(RAN, raised("AssertionError")), attempt(RAN, raised("KeyError"))

    facts = [
        execution_of(exploration(*attempts)) for attempts in ((wrong, worse), (worse, wrong), ())
    ]

    assert facts == [
        {"executed": False, "checked": 2},
        {"executed": True, "checked": 2},
        {"executed": False, "checked": 0},
    ]


def test_a_chain_tells_how_many_of_its_subtasks_ran() -> None:
    error = raised("KeyError")
    steps = (
        step(1, "done", error, RAN),
        step(2, "done", error),
        step(3, "done", RAN),
        step(4, "pending"),
        step(5, "skipped"),
    )

    chain = chain_of(exploration(steps=steps))

    assert (chain.explored, chain.ran, chain.broken_at) == (4, 2, 2)
    assert (chain.error, chain.apis) == ("KeyError", 3)


@pytest.mark.parametrize("status", ["skipped", "pending"])
def test_subtasks_of_which_none_was_tried_are_no_chain(status: StepStatus) -> None:
    steps = (step(1, status), step(2, status))

    chain = chain_of(exploration(steps=steps))

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
def test_a_step_is_explored_when_the_model_was_asked_for_it_alone(case: str) -> None:
    calls, attempts, (steps, looks, came_of_it) = EXPLORED[case]
    chain = (step(1, "done", RAN), step(2, "done", raised("KeyError"), RAN))
    facts = exploring_facts(exploration(*attempts, spending=spent(**calls), steps=chain))

    assert facts == {"explored_steps": steps, "looks": looks, "came_of_exploring": came_of_it}


def test_docs_ranked_for_a_subtask_and_example_arguments_are_no_exploring() -> None:
    example = step(1, "done", RAN).model_copy(update={"subtask": Subtask(id=STEP, goal="Give.")})
    steps = (example, step(2, "skipped"))
    spending = spent(step_0=1, step_2=1, solution=1)

    ours = exploration(attempt(RAN, RAN), steps=steps, spending=spending)
    other = exploration(attempt(RAN, RAN), method="capir", spending=spending)

    assert exploring_facts(ours)["explored_steps"] == 0
    assert exploring_facts(other) == {}


def test_what_a_cell_uses_was_not_recommended_unless_it_was_explored() -> None:
    steps = (written(1, RAN), written(2, raised("KeyError"), RAN))

    alone = exploration(steps=steps, spending=spent(write=1))
    explored = exploration(steps=steps, spending=spent(write=1, step_2=1))

    assert chain_of(alone).recommended == ()
    assert chain_of(explored).recommended == ("tea.pour_2",)
    assert [chain_of(one).explored for one in (alone, explored)] == [2, 2]
