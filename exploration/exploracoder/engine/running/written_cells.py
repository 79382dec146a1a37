"""Cells that were written before they run: recorded as steps, run one after another, replaced."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from exploracoder.engine.knowing.recommender import trim
from exploracoder.engine.reading.cells import Cell
from exploracoder.engine.running import mending
from exploracoder.engine.running.steering import find_step, next_open, propose, reopen
from exploracoder.engine.running.trial import Trial, is_in_turn, next_number
from exploracoder.engine.workbench import Workbench
from exploracoder.state import Candidate, RankedApi, Recommendation, Step, Subtask
from exploracoder.texts import Text


def chain_steps(bench: Workbench) -> list[Step]:
    """The steps that a prompt numbers, from 1: all but those that were left out."""
    return [step for step in bench.exploration.steps if step.status != "skipped"]


def others(bench: Workbench, ids: Collection[str]) -> tuple[Step, ...]:
    """The steps as they are now, without those with these ids."""
    return tuple(one for one in bench.exploration.steps if one.subtask.id not in ids)


async def record(bench: Workbench, cell: Cell) -> None:
    """Add a cell that was just written as an open step, and save that."""
    add(bench, cell)
    await bench.update(Text("Written: %1", cell.goal))


def add(bench: Workbench, cell: Cell, replaced_ids: Collection[str] = ()) -> str:
    """Append a cell that was just written to the plan, as an open step; returns its subtask's id.

    The task then counts as planned; the open steps ``replaced_ids`` and any solution are removed.
    """
    number = next_number(step.subtask.id for step in bench.exploration.steps)
    step = _written(Subtask(id=f"step-{number}", goal=cell.goal), cell.code)
    bench.change(steps=(*others(bench, replaced_ids), step), is_planned=True, solution=None)
    return step.subtask.id


async def take_back(bench: Workbench, ids: Sequence[str]) -> None:
    """Remove steps from the plan, and the state of those that ran from the chain."""
    first = next((step for step in bench.exploration.steps if step.subtask.id in ids), None)
    if first is not None and not first.is_open:
        await reopen(bench, first)
    bench.change(steps=others(bench, ids))


async def run_open(bench: Workbench) -> bool:
    """Run the open steps in order, as they were written, up to the first that fails.

    In a review they wait. Returns whether all of them are done.
    """
    while (step := next_open(bench.exploration)) is not None:
        if bench.is_review() or step.chosen is None or not (await run_written(bench, step)):
            return False
    return True


async def run_written(bench: Workbench, step: Step) -> bool:
    """Run an open step's code on the state of the chain; returns whether it ran.

    Names that do not exist are mended if that is possible without asking. A failure leaves the step
    open and the state as it was; so does an edit that changes the step or puts another before it.
    In a review, the result is a proposal.
    """
    assert step.candidate is not None, "a step without code is explored"
    # From now on nobody may edit it, or put another one before it.
    bench.tell(step.subtask.id, "Running a snippet")
    base = bench.branches.bases[step.subtask.id] = bench.branches.current
    candidate = step.candidate
    rest = tuple(one for one in step.candidates if one.id != candidate.id)
    step = step.model_copy(update={"candidates": rest, "chosen": None})
    variables = await bench.sidecar.variables(base)
    trial = Trial(bench, step, variables, candidates=list(rest), may_repeat=True)
    try:
        new_candidate = await trial.run(
            candidate.id, candidate.code, candidate.origin, candidate.debug_of
        )
        trial.candidates.append(new_candidate)
        await mending.rename(trial, [new_candidate])
        if not is_in_turn(bench, step):
            return False
        choice = next((one for one in reversed(trial.new) if one.ran), None)
        if choice is not None:
            bench.branches.current = trial.branches.pop(choice.id)
    finally:
        await trial.drop_branches()
    new_step = trial.shown.model_copy(
        update={
            "status": "done" if choice else "pending",
            "chosen": choice.id if choice else None,
            "recommendation": _docs_of(bench, choice or new_candidate),
        }
    )
    if bench.is_review():
        new_step = propose(bench, new_step, base)
    elif choice is not None:
        await bench.branches.let_go()
    verdict = "Ran" if choice else "Failed"
    bench.put(new_step)
    await bench.update(Text(f"{verdict}: %1", step.subtask.goal))
    return choice is not None


async def replace(bench: Workbench, cells: Sequence[Cell]) -> None:
    """Replace the cells with these numbers, and append the cells that have no valid number.

    The chain goes back to the state before the first replaced one: it and later ones are open.
    """
    steps = chain_steps(bench)
    replacements = {
        cell.number or 0: cell for cell in cells if 1 <= (cell.number or 0) <= len(steps)
    }
    new_cells = [cell for cell in cells if cell not in replacements.values()]
    if replacements:
        first = steps[min(replacements) - 1]
        if not first.is_open:
            await reopen(bench, first)
    for number, cell in replacements.items():
        step = find_step(bench.exploration, steps[number - 1].subtask.id)
        bench.put(_rewritten(step, cell))
    for cell in new_cells:
        await record(bench, cell)


def _written(subtask: Subtask, code: str) -> Step:
    candidate = Candidate(id=f"{subtask.id}/1", code=code, origin="draft")
    return Step(subtask=subtask, candidates=(candidate,), chosen=candidate.id)


def _rewritten(step: Step, cell: Cell) -> Step:
    """The step with the cell's code as a candidate that has not run yet, and with its goal."""
    earlier = step.chosen or (step.candidates[-1].id if step.candidates else None)
    candidate = Candidate(
        id=f"{step.subtask.id}/{next_number(one.id for one in step.candidates)}",
        code=cell.code,
        origin="debug" if earlier else "draft",
        debug_of=earlier,
    )
    return step.model_copy(
        update={
            "subtask": step.subtask.model_copy(update={"goal": cell.goal}),
            "status": "pending",
            "candidates": (*step.candidates, candidate),
            "chosen": candidate.id,
        }
    )


def _docs_of(bench: Workbench, candidate: Candidate) -> Recommendation:
    """The docs behind a cell, for whoever reads it."""
    docs = (bench.libraries.known.at(path) for path in candidate.apis)
    excerpts = [trim(bench, doc, is_kept=True) for doc in docs if doc is not None]
    return Recommendation(
        apis=tuple(RankedApi(doc=doc, score=1.0, is_kept=True) for doc in excerpts)
    )
