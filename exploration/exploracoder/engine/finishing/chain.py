"""The chain of steps: explored one after another, with backtracking, and joined to a solution.
ExploraCoder, section 3.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from exploracoder.engine.exploring.backtracking import (
    doubt_checked_step,
    doubt_step_before,
)
from exploracoder.engine.exploring.explorer import explore
from exploracoder.engine.finishing.composing import compose
from exploracoder.engine.finishing.synthesis import mend, solution_apis, synthesize, try_solution
from exploracoder.engine.knowing.recommender import recommend, recommend_overall
from exploracoder.engine.reading.result_names import result_names
from exploracoder.engine.running.steering import find_step, next_open, propose
from exploracoder.engine.running.trial import run_again
from exploracoder.engine.running.written_cells import run_written
from exploracoder.engine.workbench import Workbench
from exploracoder.state import Attempt, Solution, Step
from exploracoder.texts import Text


async def explore_open(bench: Workbench) -> bool:
    """Explore the open steps in order, backtracking where nothing runs.

    Returns False if the user decides next, or if the steps so far pass the check.
    """
    backtracks, refused_codes = bench.settings.backtracks, set[str]()
    is_open = next_open(bench.exploration) is not None
    # Cells that were written in one request have run already.
    if is_open and not bench.is_review() and await is_enough(bench, refused_codes):
        return False
    while (step := next_open(bench.exploration)) is not None and not bench.limits.is_late:
        if not bench.is_review() and _was_written_after_a_failure(bench, step):
            await _run_or_give_up(bench, step)
            continue
        result = await explore_step(bench, step)
        if bench.is_review() or await is_enough(bench, refused_codes):
            return False
        if result.status == "failed" and backtracks and not bench.limits.is_late:
            backtracks -= 1
            await _go_back(bench, result)
    return True


async def is_enough(bench: Workbench, refused_codes: set[str]) -> bool:
    """Whether the steps so far pass the user's check; the open ones are then skipped.

    What it refuses is added to ``refused_codes``, and not tried again.
    Without a check this cannot be known: a step that is still open may change the results.
    """
    wanted_names = set(result_names(bench.exploration.task))
    made_names = {name for step in bench.exploration.steps for name in _made(step)}
    if not (bench.exploration.task.check and wanted_names and wanted_names <= made_names):
        return False
    attempt = await compose(bench, refused_codes)
    if attempt is None or not attempt.is_good:
        return False
    steps = tuple(
        step.model_copy(update={"status": "skipped"}) if step.is_open else step
        for step in bench.exploration.steps
    )
    solution = Solution(attempts=(attempt,)).after(bench.exploration.solution)
    await bench.update("The check passes with what is there", steps=steps, solution=solution)
    return True


def _made(step: Step) -> Iterator[str]:
    """The variables that any candidate of a step made."""
    for candidate in step.candidates:
        if candidate.observation is not None:
            yield from (variable.name for variable in candidate.observation.variables)


async def explore_step(bench: Workbench, step: Step) -> Step:
    """Explore an open step, starting with its docs; an earlier choice is tried first.

    In a review the choice is only a proposal, and the chain stays as it was.
    """
    base = bench.branches.current
    again = None
    if step.candidate is not None and step.candidate.observation is None:
        if await run_written(bench, step):
            return find_step(bench.exploration, step.subtask.id)
        step = find_step(bench.exploration, step.subtask.id)
    elif step.chosen is not None:
        again = await run_again(bench, step)
    if again is None:
        step = await read_docs(bench, step.model_copy(update={"chosen": None}))
        again = await explore(bench, step)
    verdict = _verdict(again)
    if bench.is_review():
        bench.put(again := propose(bench, again, base))
    else:
        bench.put(again)
        await bench.branches.let_go()
    await bench.update(Text(f"{verdict}: %1", step.subtask.goal))
    return again


def _was_written_after_a_failure(bench: Workbench, step: Step) -> bool:
    """Whether the step has code that has not run yet and may depend on a step that failed."""
    if step.candidate is None or step.candidate.observation is not None:
        return False
    before = itertools.takewhile(
        lambda one: one.subtask.id != step.subtask.id, bench.exploration.steps
    )
    return any(one.status == "failed" for one in before)


async def _run_or_give_up(bench: Workbench, step: Step) -> None:
    """Run the step as written; if it fails, mark it failed instead of exploring it."""
    if await run_written(bench, step):
        return
    failed_step = find_step(bench.exploration, step.subtask.id)
    bench.put(failed_step.model_copy(update={"status": "failed"}))
    await bench.update(Text("Needs an earlier step: %1", step.subtask.goal))


async def read_docs(bench: Workbench, step: Step) -> Step:
    """Recommend docs for a step and record them; returns the step with them."""
    bench.tell(step.subtask.id, "Reading the docs")
    step = step.model_copy(update={"recommendation": await recommend(bench, step.subtask)})
    bench.put(step)
    await bench.update(Text("Exploring: %1", step.subtask.goal))
    return step


async def _go_back(bench: Workbench, step: Step) -> None:
    bench.tell(step.subtask.id, "Going back one step")
    has_changed = await doubt_step_before(bench, step)
    outcome = "explored both steps again" if has_changed else "found no other way"
    await bench.update(f"Went back one step: {outcome}")


def _verdict(step: Step) -> str:
    candidate = step.candidate
    return "Explored" if candidate is not None and candidate.ran else "No candidate ran"


async def _compose(bench: Workbench) -> Attempt | None:
    """Compose a solution from the steps, without asking for its text.

    If the user's check refuses it, near names and other APIs are tried in it (in the strict sandbox
    only), and then the step that the check blames is done again, unless a limit is near. None if
    nothing helps.
    """
    backtracks, seen_codes, refused_codes = bench.settings.backtracks, set[str](), set[str]()
    while (attempt := await compose(bench, refused_codes)) is not None and not attempt.is_good:
        variant = await _mend_composed(bench, attempt, seen_codes)
        if variant is not None:
            await bench.update("The check passes with other names in the steps")
            return variant
        if not backtracks or bench.limits.is_late or not await doubt_checked_step(bench, attempt):
            return None
        backtracks -= 1
        await bench.update("Went back to the step that a check found wrong")
    return attempt


async def _mend_composed(
    bench: Workbench, attempt: Attempt, seen_codes: set[str]
) -> Attempt | None:
    """The composed attempt with other names and APIs, if the check accepts that.

    Not where a step is missing, which nothing here mends, nor late in a limit: what is left then is
    for writing the solution.
    """
    steps = bench.exploration.steps
    if bench.limits.is_late or any(one.status not in ("done", "skipped") for one in steps):
        return None
    known = bench.libraries.known
    kept = [doc for step in reversed(steps) for doc in step.recommendation.kept]
    shown_apis = [known.at(doc.path) or doc for doc in kept]
    apis = tuple({doc.path: doc for doc in (*shown_apis, *solution_apis(bench))}.values())

    async def run(code: str, base: str) -> Attempt:
        return await try_solution(bench, code, base=base)

    return await mend(bench, attempt, apis, run, seen_codes)


async def write_solution(bench: Workbench) -> None:
    """Compose or write the solution from the trace, run it, and record it after earlier attempts.

    What has been written when a limit or the model ends that is recorded, too.
    """
    before = bench.exploration.solution
    attempt = await _compose(bench)
    if attempt is not None:
        solution = Solution(attempts=(attempt,))
    else:
        overall = await recommend_overall(bench, bench.exploration.steps)
        await bench.update("Writing the solution", overall=overall)
        solution = await synthesize(
            bench, solution_apis(bench), keep=lambda one: bench.change(solution=one.after(before))
        )
    await bench.update("Wrote the solution", solution=solution.after(before))
