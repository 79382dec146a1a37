"""The one data model: what is saved, sent and shown.

Everything here is frozen; a change makes a new value (`model_copy`). Other packages contribute
their own types: `ApiDoc` comes from retrieval, `Observation` from the kernel tools.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime, timezone
from typing import Literal
from uuid import uuid4

from exploracoder_kernel.observation import Observation
from exploracoder_retrieval.apidoc import ApiDoc
from pydantic import BaseModel, ConfigDict, Field, model_validator

from exploracoder.models.model_choice import ModelChoice
from exploracoder.models.model_cost import Usage
from exploracoder.settings import Settings

SCHEMA_VERSION = 8

CandidateOrigin = Literal["draft", "debug", "user"]
# ``review``: candidates have run and one is proposed; the user has not accepted it yet.
StepStatus = Literal["pending", "review", "done", "failed", "skipped"]
CheckResult = Literal["passed", "failed", "none"]
Outcome = Literal["solved", "unverified", "failed"]
# ``waiting``: for the user's review; ``paused``: work is left, but none is in progress.
ExplorationStatus = Literal[
    "running", "waiting", "paused", "solved", "unverified", "failed", "cancelled"
]


class State(BaseModel):
    """Base class of everything that is saved or sent."""

    # JSON can represent neither infinity nor NaN.
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class Target(State):
    """Where a class is to be written: ``file`` is relative to ``root``, with forward slashes.

    Nothing below ``root`` is changed: what the model writes goes into a copy.
    """

    root: str
    file: str


class Task(State):
    """What the user wants, with what they brought along.

    ``context`` is code that runs before anything else, ``check`` code that runs after the solution
    and raises when it is wrong. ``stub`` is unfinished code which the solution must complete: a
    function's head, or an assignment whose right side is missing. With a ``target`` the class
    ``entry_point`` is wanted, and the check runs in a copy of the target's repository.
    """

    text: str
    libraries: tuple[str, ...]
    context: str = ""
    check: str = ""
    entry_point: str | None = None
    stub: str = ""
    target: Target | None = None


class Example(State):
    """Example code from a library's own documentation."""

    title: str
    code: str


class Library(State):
    """A library as it was when the exploration ran.

    ``apis`` counts its public APIs; ``examples`` are those of its documentation that the prompts
    show.
    """

    name: str
    import_name: str
    version: str
    apis: int
    summary: str = ""
    examples: tuple[Example, ...] = ()


class Subtask(State):
    """One or two API calls' worth of the task (ExploraCoder, section 3.2)."""

    id: str = Field(pattern=r"^step-[0-9]{1,9}$")
    goal: str


class RankedApi(State):
    """An ApiDoc that was retrieved, and whether it was kept for the prompt."""

    doc: ApiDoc
    score: float
    is_kept: bool


class Recommendation(State):
    """What was retrieved for a subtask, best first (section 3.3)."""

    apis: tuple[RankedApi, ...] = ()

    @property
    def kept(self) -> tuple[ApiDoc, ...]:
        """The ApiDocs that the prompt shows."""
        return tuple(api.doc for api in self.apis if api.is_kept)


class NameProblem(State):
    """A name in a snippet which the installed library does not have."""

    name: str
    owner: str
    nearest: tuple[str, ...] = ()

    def __str__(self) -> str:
        """Describe it in a sentence."""
        hint = f"; it has {', '.join(self.nearest)}" if self.nearest else ""
        return f"{self.owner} has no {self.name!r}{hint}"


class Candidate(State):
    """A snippet for a subtask, and its outcome. ``added_imports`` did not come from the model."""

    id: str
    code: str
    origin: CandidateOrigin
    debug_of: str | None = None
    added_imports: tuple[str, ...] = ()
    problems: tuple[NameProblem, ...] = ()
    apis: tuple[str, ...] = ()
    observation: Observation | None = None

    @property
    def ran(self) -> bool:
        """Whether it was run and finished without an error."""
        return self.observation is not None and self.observation.ran


class Step(State):
    """One subtask's exploration; ``chosen`` is the candidate that became the experience, by id."""

    subtask: Subtask
    status: StepStatus = "pending"
    recommendation: Recommendation = Recommendation()
    candidates: tuple[Candidate, ...] = ()
    chosen: str | None = None

    @model_validator(mode="after")
    def _check(self) -> Step:
        ids = [one.id for one in self.candidates]
        _check_ids(ids, "candidates")
        if not all(re.fullmatch("step-[0-9]{1,9}/[0-9]{1,9}", one) for one in ids):
            raise ValueError("a candidate's id is no subtask's id, a slash and a number")
        # An open step's choice is only a proposal, which a repair may have replaced.
        if self.status == "done" and (self.candidate is None or not self.candidate.observation):
            raise ValueError("it is done, and its candidate is not there or never ran")
        return self

    @property
    def is_open(self) -> bool:
        """Whether it is neither done nor skipped nor failed."""
        return self.status in ("pending", "review")

    @property
    def candidate(self) -> Candidate | None:
        """The chosen candidate."""
        return next((one for one in self.candidates if one.id == self.chosen), None)


class Experience(State):
    """A subtask, the chosen candidate, and what it showed: one link of the trace."""

    subtask: Subtask
    candidate: Candidate

    @property
    def observation(self) -> Observation:
        """What running the candidate showed."""
        if self.candidate.observation is None:
            raise ValueError(f"candidate {self.candidate.id} was chosen without having been run")
        return self.candidate.observation


class Search(State):
    """An API search that the model made while writing (ToolCoder, section 3.4).

    ``line`` is where in the code it was made, from 1; None if the model asked before it wrote.
    ``note`` says why there is no ``answer``.
    """

    line: int | None = None
    query: str = ""
    answer: str = ""
    note: str = ""


class ExampleCall(State):
    """Calls of the function that was written, with example values, and their results.

    ``called`` are the calls alone, for people.
    """

    code: str
    called: str
    observation: Observation

    @property
    def failure(self) -> str:
        """What was raised by the call, or while reading its result; empty if nothing was."""
        if not self.observation.ran:
            error = self.observation.error
            return f"{error.ename}: {error.evalue}" if error else self.observation.status
        errors = [one.preview_error for one in self.observation.variables if one.preview_error]
        return errors[0] if errors else ""


class Attempt(State):
    """One text of the solution, run in a fresh state with the user's checks after it.

    Without a check, a function is called with the example arguments, if there are any: that is
    ``call``, and not a verdict. ``notes`` are what the model had found out before it wrote this:
    answers of tools, its comments on the previous attempt. ``searches`` are those that it made
    while writing. ``docs`` are those of the library APIs it uses, shown to the model or not.
    ``only_defines`` means that it ran, but only defined functions or classes and called none.
    """

    code: str
    observation: Observation
    check_observation: Observation | None = None
    checks: CheckResult = "none"
    call: ExampleCall | None = None
    added_imports: tuple[str, ...] = ()
    problems: tuple[NameProblem, ...] = ()
    notes: tuple[str, ...] = ()
    searches: tuple[Search, ...] = ()
    docs: tuple[ApiDoc, ...] = ()
    only_defines: bool = False

    @property
    def is_good(self) -> bool:
        """Whether it ran and no check failed."""
        return self.observation.ran and self.checks != "failed"

    @property
    def leaves_no_doubt(self) -> bool:
        """Whether it is good and the example call, if there was one, did not fail either."""
        return self.is_good and (self.call is None or not self.call.failure)

    @property
    def failure(self) -> Observation | None:
        """The observation that says what went wrong."""
        if not self.observation.ran:
            return self.observation
        return self.check_observation if self.checks == "failed" else None


class Solution(State):
    """The attempts, and the APIs that the prompt showed; the attempt that counts is `final`."""

    attempts: tuple[Attempt, ...]
    apis: tuple[str, ...] = ()

    @property
    def final(self) -> Attempt:
        """The attempt that the exploration stands by: the last that leaves no doubt, or else the
        last good one, or else the last."""
        good = [attempt for attempt in self.attempts if attempt.is_good]
        best = [attempt for attempt in good if attempt.leaves_no_doubt] or good
        return best[-1] if best else self.attempts[-1]

    def after(self, before: Solution | None) -> Solution:
        """The same after earlier attempts."""
        earlier = before.attempts if before is not None else ()
        return self.model_copy(update={"attempts": (*earlier, *self.attempts)})

    @property
    def outcome(self) -> Outcome:
        """The outcome, whatever the status of the exploration."""
        if not self.final.is_good:
            return "failed"
        return "solved" if self.final.checks == "passed" else "unverified"


class Written(State):
    """What the model wrote along with the cells: the solution, and calls of it.

    ``cells`` is how many there were as first written; they may have changed since.
    """

    solution: str = ""
    calls: str = ""
    cells: int = 0


class Spending(State):
    """What one part of the work cost: ``part`` is ``plan``, a subtask's id, ``solution``, ..."""

    part: str
    usage: Usage = Usage()
    seconds_execution: float = 0.0


class BroughtVariable(State):
    """A variable brought along from the user's kernel. Its value is never saved."""

    name: str
    type: str


class LeftVariable(State):
    """A variable of the user's kernel that could not be brought along, and why, in words."""

    name: str
    type: str
    reason: str


class Brought(State):
    """What was brought from the user's running kernel to the root branch, and what was not."""

    variables: tuple[BroughtVariable, ...] = ()
    left: tuple[LeftVariable, ...] = ()


class Exploration(State):
    """A whole exploration, from the task to the solution.

    ``choice`` is the model that the user chose, ``model`` the one that was asked. ``prompts`` maps
    each prompt's name to its version and the head of its hash. ``sandbox`` describes the sandbox
    of the last run and requests nothing: whoever opens somebody else's notebook chooses their own.
    """

    schema_version: int = SCHEMA_VERSION
    id: str = Field(default_factory=lambda: uuid4().hex)
    created: datetime = Field(default_factory=lambda: datetime.now(timezone.utc))
    task: Task
    settings: Settings
    method: str = "exploration"
    seed: int = 0
    choice: ModelChoice = ModelChoice()
    model: str = ""
    python: str = ""
    strategy: str = ""
    sandbox: str = ""
    brought: Brought = Brought()
    libraries: tuple[Library, ...] = ()
    prompts: dict[str, str] = Field(default_factory=dict)
    steps: tuple[Step, ...] = ()
    is_planned: bool = False
    overall: Recommendation = Recommendation()
    written: Written = Written()
    solution: Solution | None = None
    status: ExplorationStatus = "running"
    reason: str = ""
    spending: tuple[Spending, ...] = ()
    seconds_total: float = 0.0

    @model_validator(mode="after")
    def _check(self) -> Exploration:
        _check_ids([step.subtask.id for step in self.steps], "steps")
        if self.solution is not None and not self.solution.attempts:
            raise ValueError("it has a solution without an attempt")
        return self

    @property
    def trace(self) -> tuple[Experience, ...]:
        """The chain of experiences so far (section 3.4, equation 7)."""
        pairs = ((step.subtask, step.candidate) for step in self.steps if step.status == "done")
        return tuple(
            Experience(subtask=subtask, candidate=candidate)
            for subtask, candidate in pairs
            if candidate is not None
        )

    @property
    def summary(self) -> str:
        """What the prompts say of the libraries."""
        return "\n\n".join(library.summary for library in self.libraries if library.summary)

    @property
    def examples(self) -> tuple[Example, ...]:
        """The example code that the prompts show."""
        return tuple(example for library in self.libraries for example in library.examples)

    @property
    def usage(self) -> Usage:
        """The usage of the model, summed over all parts."""
        return sum((part.usage for part in self.spending), Usage())

    @property
    def seconds_execution(self) -> float:
        """Wall seconds spent running snippets."""
        return sum(part.seconds_execution for part in self.spending)

    def position(self, step: Step) -> int:
        """The index of the step that has this subtask's id."""
        return [one.subtask.id for one in self.steps].index(step.subtask.id)

    def with_step(self, step: Step) -> Exploration:
        """Replace the step that has the same subtask id by ``step``."""
        steps = tuple(step if old.subtask.id == step.subtask.id else old for old in self.steps)
        return self.model_copy(update={"steps": steps})

    def with_spending(self, part: str, usage: Usage, seconds_execution: float = 0.0) -> Exploration:
        """Add usage and time to what ``part`` has cost."""
        parts = {one.part: one for one in self.spending}
        old = parts.get(part, Spending(part=part))
        parts[part] = Spending(
            part=part,
            usage=old.usage + usage,
            seconds_execution=old.seconds_execution + seconds_execution,
        )
        return self.model_copy(update={"spending": tuple(parts.values())})


def ended_as(observation: Observation) -> str:
    """What a run that failed raised, or how it ended."""
    error = observation.error
    return f"{error.ename}: {error.evalue}" if error else f"the run ended as {observation.status}"


def _check_ids(ids: Sequence[str], of_what: str) -> None:
    if len(set(ids)) < len(ids):
        raise ValueError(f"several {of_what} have the same id")
