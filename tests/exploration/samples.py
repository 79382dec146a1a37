"""An exploration made by hand: two steps done, one failed, a solution that was checked."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any

from exploracoder.models.model_cost import Usage
from exploracoder.settings import PROFILES
from exploracoder.state import (
    Attempt,
    Candidate,
    Exploration,
    Library,
    NameProblem,
    RankedApi,
    Recommendation,
    Solution,
    Spending,
    Step,
    Subtask,
    Task,
)
from exploracoder_kernel.observation import ErrorReport, Observation, Variable
from exploracoder_retrieval.apidoc import ApiDoc

READ = ApiDoc(
    path="tealeaf.read_leaves",
    kind="function",
    library="tealeaf",
    signature="read_leaves(text)",
    summary="Read leaves.",
    file="/somewhere/site-packages/tealeaf/leaves.py",
    line=14,
)
FLOW = ApiDoc(path="tealeaf.Flow", kind="class", library="tealeaf", url="https://tea.example/flow")


@dataclass(frozen=True)
class Snippet:
    """Code, and what is wrong with its names."""

    code: str
    problems: tuple[NameProblem, ...] = ()


def printed(text: str) -> Observation:
    """A run that printed one thing."""
    output = {"output_type": "stream", "name": "stdout", "text": text}
    return Observation(status="ok", stdout=text, outputs=(output,), seconds=0.01)


def failed(ename: str, evalue: str) -> Observation:
    """A run that raised."""
    return Observation(status="error", error=ErrorReport(ename=ename, evalue=evalue, line=1))


def step(number: int, goal: str, *candidates: Candidate, chosen: int | None = 0) -> Step:
    """A step whose candidate number ``chosen`` was chosen."""
    return Step(
        subtask=Subtask(id=f"step-{number}", goal=goal),
        status="failed" if chosen is None else "done",
        recommendation=Recommendation(
            apis=(
                RankedApi(doc=READ, score=2.0, is_kept=True),
                RankedApi(doc=FLOW, score=1.0, is_kept=True),
            )
        ),
        candidates=candidates,
        chosen=None if chosen is None else candidates[chosen].id,
    )


def exploration(**changes: Any) -> Exploration:
    """The sample, with some of its fields changed."""
    read = Candidate(
        id="step-1/2",
        code="import tealeaf\nleaves = tealeaf.read_leaves(text)\nprint(leaves[0].name)",
        origin="debug",
        debug_of="step-1/1",
        apis=("tealeaf.read_leaves",),
        observation=printed("assam\n").model_copy(
            update={"variables": (Variable(name="leaves", type="list", length=1),)}
        ),
    )
    broken = Candidate(
        id="step-1/1",
        code="leaves = tealeaf.reed(text)",
        origin="draft",
        problems=(NameProblem(name="reed", owner="tealeaf", nearest=("read_leaves",)),),
        observation=failed("AttributeError", "module 'tealeaf' has no attribute 'reed'"),
    )
    count = Candidate(
        id="step-2/1",
        code="len(leaves)",
        origin="draft",
        observation=Observation(
            status="ok",
            result="1",
            outputs=(
                {
                    "output_type": "execute_result",
                    "data": {"text/plain": "1"},
                    "metadata": {},
                    "execution_count": 9,
                },
            ),
        ),
    )
    never = Candidate(
        id="step-3/1", code="1 / 0", origin="draft", observation=failed("ZeroDivisionError", "no")
    )
    values: dict[str, Any] = {
        "id": "0" * 32,
        "created": datetime(2026, 1, 2, 3, 4, 5, tzinfo=timezone.utc),
        "task": Task(
            text="Name the leaves.",
            libraries=("tealeaf",),
            context='text = "assam 5"',
            check='assert names == ["assam"]',
        ),
        "settings": PROFILES["small"],
        "model": "scripted",
        "python": "/somewhere/python",
        "strategy": "fork: it is safe here",
        "libraries": (Library(name="tealeaf", import_name="tealeaf", version="2.1", apis=15),),
        "prompts": {"plan": "1:abc"},
        "steps": (
            step(1, "Read the leaves", broken, read, chosen=1),
            step(2, "Count them", count),
            step(3, "Divide by nothing", never, chosen=None),
        ),
        "is_planned": True,
        "solution": Solution(
            attempts=(
                Attempt(
                    code="names = []",
                    observation=Observation(status="ok"),
                    check_observation=failed("AssertionError", ""),
                    checks="failed",
                ),
                Attempt(
                    code="import tealeaf\nnames = [x.name for x in tealeaf.read_leaves(text)]",
                    observation=Observation(status="ok"),
                    check_observation=Observation(status="ok"),
                    checks="passed",
                ),
            ),
            apis=("tealeaf.read_leaves",),
        ),
        "status": "solved",
        "spending": (Spending(part="plan", usage=Usage(calls=1, prompt_tokens=100)),),
        "seconds_total": 1.5,
    }
    return Exploration(**(values | changes))
