"""What a user can do to the chain: accept a candidate, try their own code, skip, go back.

Done steps come before open ones, with failed and skipped ones among them. A reopened step keeps its
candidates, and its earlier choice as the proposal. Nothing here asks the model or saves anything:
the caller records the result on the bench.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from exploracoder_kernel.observation import Observation

from exploracoder.engine.knowing.name_problems import check
from exploracoder.engine.running.selection import is_sound
from exploracoder.engine.running.trial import (
    earlier_cells,
    in_place,
    is_in_turn,
    next_number,
    run_again,
)
from exploracoder.engine.workbench import Workbench
from exploracoder.errors import CommandError, InputError
from exploracoder.state import Candidate, Exploration, Step
from exploracoder.texts import Text


def find_step(exploration: Exploration, subtask: str) -> Step:
    """The step of a subtask. Raises InputError when there is none."""
    step = find_in(exploration, subtask)
    if step is None:
        raise InputError(Text("There is no subtask %1. It may have been deleted.", repr(subtask)))
    return step


def find_in(exploration: Exploration, subtask: str) -> Step | None:
    """The step of a subtask, if it is still there."""
    return next((one for one in exploration.steps if one.subtask.id == subtask), None)


def find_candidate(step: Step, candidate: str | None) -> Candidate:
    """A candidate of a step, the proposed one when none is named.

    Raises InputError when there is none.
    """
    if candidate is None:
        if step.candidate is None:
            raise InputError(Text("%1 has no proposed candidate. Name one.", step.subtask.id))
        return step.candidate
    for one in step.candidates:
        if one.id == candidate:
            return one
    raise InputError(Text("%1 has no candidate %2.", step.subtask.id, repr(candidate)))


def next_open(exploration: Exploration) -> Step | None:
    """The first step that is neither done nor left out."""
    return next((step for step in exploration.steps if step.is_open), None)


def propose(bench: Workbench, step: Step, base: str) -> Step:
    """Turn the choice of a step that was just explored into a proposal: the user decides."""
    if step.status != "done" or step.chosen is None:
        return step
    if bench.branches.current != base:
        bench.branches.kept_branches[step.chosen] = bench.branches.current
        bench.branches.current = base
    return step.model_copy(update={"status": "review"})


async def accept(bench: Workbench, step: Step, candidate: Candidate) -> None:
    """Make ``candidate`` the step's experience and its state that of the chain.

    Later done steps are rerun on the new state; the first that does not run, and those after it,
    are open again. Raises CommandError if the candidate does not run on this state.
    """
    kept_branches = bench.branches.kept_branches
    kept_branch = kept_branches.pop(candidate.id, None)
    try:
        with all_or_nothing(bench):
            later = await reopen(bench, step) if not step.is_open else ()
            branch, choice = await _branch_of(bench, candidate, kept_branch)
            bench.branches.bases[step.subtask.id] = bench.branches.current
            bench.branches.current = branch
            bench.put(_done(step, choice))
            await bench.branches.let_go()
            await _carry_over(bench, later)
    except BaseException:
        if kept_branch is not None:
            kept_branches[candidate.id] = kept_branch
        raise


@contextmanager
def all_or_nothing(bench: Workbench) -> Iterator[None]:
    """Put the chain back as it was if what is done to it fails or is interrupted.

    What was accepted stands until there is something better. Edits to the plan of open steps stay.
    """
    put_back = remember_chain(bench)
    try:
        yield
    except BaseException:
        put_back()
        raise


def remember_chain(bench: Workbench) -> Callable[[], None]:
    """A function that puts the settled steps, the solution and the state back as they are now."""
    before, branch, bases = bench.exploration, bench.branches.current, dict(bench.branches.bases)
    old = {step.subtask.id: step for step in before.steps}
    done = [number for number, step in enumerate(before.steps, 1) if step.status == "done"]
    # Nobody can edit the plan before the last step that is done.
    settled = before.steps[: done[-1] if done else 0]
    ids = {step.subtask.id for step in settled}

    def as_before(step: Step) -> Step:
        then = old.get(step.subtask.id, step)
        is_edited = step.subtask != then.subtask
        return step if is_edited or (step.is_open and then.is_open) else then

    def put_back() -> None:
        others = [as_before(one) for one in bench.exploration.steps if one.subtask.id not in ids]
        bench.change(steps=(*settled, *others), solution=before.solution)
        bench.branches.current, bench.branches.bases = branch, bases

    return put_back


async def own(bench: Workbench, step: Step, code: str) -> Candidate:
    """Run the user's own code unchanged, on the state that a step starts from.

    The candidate is added to the step; its branch is kept if it ran.
    """
    base = await _base(bench, step)
    branch, observation = await bench.branches.run_in_fork(step.subtask.id, base, code)
    return await adopt(bench, step, code, branch, observation)


async def _base(bench: Workbench, step: Step) -> str:
    return bench.branches.current if step.is_open else await bench.branches.base_of(step)


async def adopt(
    bench: Workbench, step: Step, code: str, branch: str, observation: Observation
) -> Candidate:
    """Add code that the user has run in ``branch`` to the step as a candidate.

    The branch is kept if it came from the state that the step starts from now: what comes before
    may be different since.
    """
    variables = await bench.sidecar.variables(branch)
    snippet = await check(bench, branch, code, variables, earlier_cells(bench), ())
    twin = next((one for one in step.candidates if one.code == code), None)
    number = next_number(one.id for one in step.candidates)
    candidate = Candidate(
        id=twin.id if twin else f"{step.subtask.id}/{number}",
        code=code,
        origin=twin.origin if twin else "user",
        debug_of=twin.debug_of if twin else None,
        problems=snippet.problems,
        apis=snippet.apis,
        observation=observation,
    )
    if step.status == "done" and candidate.id == step.chosen and not observation.ran:
        # What was accepted ran, and still does where it stands.
        await bench.sidecar.drop(branch)
        return candidate
    candidates = (*step.candidates, candidate) if twin is None else in_place(step, candidate)
    bench.put(step.model_copy(update={"candidates": candidates}))
    replaced_branch = bench.branches.kept_branches.pop(candidate.id, branch)
    base, branches = await _base(bench, step), await bench.sidecar.measure()
    if observation.ran and any(one.id == branch and one.parent == base for one in branches):
        bench.branches.kept_branches[candidate.id] = branch
    for one in {replaced_branch, branch} - set(bench.branches.kept_branches.values()):
        await bench.sidecar.drop(one)
    return candidate


async def reopen(bench: Workbench, step: Step) -> tuple[Step, ...]:
    """Go back to the state before a step, reopening it and all later ones.

    Skipped steps stay skipped. Returns the later steps as they were.
    """
    exploration = bench.exploration
    position = exploration.position(step)
    if not step.is_open:
        bench.branches.current = await bench.branches.base_of(step)
    await bench.branches.let_go()
    later = exploration.steps[position + 1 :]
    open_steps = [step, *(one for one in later if one.status != "skipped")]
    ids = {one.subtask.id for one in open_steps}
    steps = [
        one.model_copy(update={"status": "pending"}) if one.subtask.id in ids else one
        for one in exploration.steps
    ]
    for one in steps[position:]:
        bench.branches.bases.pop(one.subtask.id, None)
    bench.exploration = exploration.model_copy(update={"steps": tuple(steps), "solution": None})
    return later


async def skip(bench: Workbench, step: Step) -> None:
    """Leave a step out of the chain, and rerun the later done ones without it."""
    with all_or_nothing(bench):
        later = await reopen(bench, step) if not step.is_open else ()
        bench.put(step.model_copy(update={"status": "skipped", "chosen": None}))
        await bench.branches.let_go()
        await _carry_over(bench, later)


async def _carry_over(bench: Workbench, later: Sequence[Step]) -> None:
    """Bring later steps to the new state, as far as they run on it."""
    for step in later:
        if step.status == "skipped":
            continue
        if step.is_open or not is_in_turn(bench, step):
            return
        new_step: Step | None = step
        if step.status == "done":
            # Imports and definitions alone never show anything, and were accepted all the same.
            must_show = step.candidate is not None and is_sound(step.candidate)
            new_step = await run_again(bench, step, must_show=must_show)
        if new_step is None:
            return
        bench.put(new_step)


async def _branch_of(
    bench: Workbench, candidate: Candidate, kept_branch: str | None
) -> tuple[str, Candidate]:
    """The branch that a candidate has run in, or a new one in which it runs again."""
    if kept_branch is not None:
        return kept_branch, candidate
    part, base = candidate.id.rpartition("/")[0], bench.branches.current
    branch, observation = await bench.branches.run_in_fork(part, base, candidate.code)
    if not observation.ran:
        await bench.sidecar.drop(branch)
        reason = observation.error.evalue if observation.error else observation.status
        raise CommandError(Text("%1 does not run on the current state: %2", candidate.id, reason))
    return branch, candidate.model_copy(update={"observation": observation})


def _done(step: Step, candidate: Candidate) -> Step:
    candidates = in_place(step, candidate)
    fields = {"status": "done", "chosen": candidate.id, "candidates": candidates}
    return step.model_copy(update=fields)
