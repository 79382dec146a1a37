"""One subtask being explored: its candidates, and the branches that they have run in."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from exploracoder_kernel.observation import Variable

from exploracoder.engine.knowing.name_problems import check, missing_attribute
from exploracoder.engine.reading.syntax import without_repetition
from exploracoder.engine.running.selection import has_good_evidence, is_sound
from exploracoder.engine.workbench import Workbench
from exploracoder.state import Candidate, CandidateOrigin, Step


@dataclass(slots=True)
class Trial:
    """The candidates of one subtask and the branches that they have run in.

    A candidate loses the statements that it repeats from earlier cells, unless it ``may_repeat``
    them: cells that were written in one request mean what they say.
    """

    bench: Workbench
    step: Step
    variables: Sequence[Variable]
    wanted_names: tuple[str, ...] = ()
    hint: str = ""
    candidates: list[Candidate] = field(default_factory=list)
    may_repeat: bool = False
    branches: dict[str, str] = field(default_factory=dict)

    @property
    def new(self) -> list[Candidate]:
        """The candidates of this trial, without those that the step brought along."""
        return self.candidates[len(self.step.candidates) :]

    @property
    def shown(self) -> Step:
        """The step as it stands, with code that ran again on this state listed once."""
        again = {candidate.code for candidate in self.new}
        old = [one for one in self.step.candidates if one.code not in again]
        return self.step.model_copy(update={"candidates": (*old, *self.new)})

    @property
    def next_number(self) -> int:
        """The number of the next candidate."""
        return next_number(one.id for one in self.candidates)

    @property
    def base(self) -> str:
        """The branch whose state a candidate starts from."""
        live = self.bench.settings.candidate_style == "live"
        return self.bench.branches.current if live else self.bench.branches.root

    @property
    def is_settled(self) -> bool:
        """Whether some new candidate has good evidence, so that no other is needed."""
        return any(has_good_evidence(candidate, self.wanted_names) for candidate in self.new)

    async def run(
        self, id_: str, code: str, origin: CandidateOrigin, debug_of: str | None
    ) -> Candidate:
        """Run code in its own fork, which replaces an earlier one of that id."""
        bench = self.bench
        base = self.base
        branch = await bench.sidecar.fork(base)
        if id_ in self.branches:
            await bench.sidecar.drop(self.branches[id_])
        self.branches[id_] = branch
        earlier = earlier_cells(bench)
        if bench.settings.candidate_style == "live" and not self.may_repeat:
            code = without_repetition(code, earlier)
        docs = self.step.recommendation.kept
        snippet = await check(bench, base, code, self.variables, earlier, docs)
        observation = await bench.branches.run(self.step.subtask.id, branch, snippet.code)
        missing = await missing_attribute(bench, base, observation)
        return Candidate(
            id=id_,
            code=snippet.code,
            origin=origin,
            debug_of=debug_of,
            added_imports=snippet.added_imports,
            problems=(*snippet.problems, *missing),
            apis=snippet.apis,
            observation=observation,
        )

    async def drop_branches(self) -> None:
        """Drop the branches of candidates that were not chosen.

        An attended session keeps those of candidates that ran, which the user may choose.
        """
        kept_branches = self.bench.branches.kept_branches
        ran = {one.id for one in self.candidates if one.ran} if self.bench.is_attended else set()
        for id_, branch in self.branches.items():
            unneeded = kept_branches.get(id_) if id_ in ran else branch
            if id_ in ran:
                kept_branches[id_] = branch
            if unneeded is not None:
                await self.bench.sidecar.drop(unneeded)


def next_number(ids: Iterable[str]) -> int:
    """The number of the next subtask or candidate: one more than the highest in use."""
    return max((int(re.split("[-/]", one)[-1]) for one in ids), default=0) + 1


def earlier_cells(bench: Workbench) -> list[str]:
    """The code that has run in the state that a candidate starts from."""
    context = [bench.exploration.task.context]
    if bench.settings.candidate_style != "live":
        return context
    return [*context, *(link.candidate.code for link in bench.exploration.trace)]


def is_in_turn(bench: Workbench, step: Step) -> bool:
    """Whether a step is still what it was, and no open one comes before it.

    The plan may be edited while code runs.
    """
    for one in bench.exploration.steps:
        if one.subtask.id == step.subtask.id:
            return one.subtask == step.subtask
        if one.is_open:
            break
    return False


async def run_again(bench: Workbench, step: Step, *, must_show: bool = True) -> Step | None:
    """Rerun a step's chosen code on the current state; returns the step as done, or None if the
    run fails or, where it ``must_show`` something, shows nothing, or if it is not in turn then."""
    if step.candidate is None:
        return None
    bench.tell(step.subtask.id, "Running a snippet")
    base = bench.branches.bases[step.subtask.id] = bench.branches.current
    code = step.candidate.code
    branch, observation = await bench.branches.run_in_fork(step.subtask.id, base, code)
    candidate = step.candidate.model_copy(update={"observation": observation})
    is_good = is_sound(candidate) if must_show else candidate.ran
    if not (is_good and is_in_turn(bench, step)):
        await bench.sidecar.drop(branch)
        return None
    bench.branches.current = branch
    return step.model_copy(update={"candidates": in_place(step, candidate), "status": "done"})


def in_place(step: Step, candidate: Candidate) -> tuple[Candidate, ...]:
    """The step's candidates with this one in place of that of its id."""
    return tuple(candidate if one.id == candidate.id else one for one in step.candidates)
