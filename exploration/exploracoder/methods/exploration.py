"""The method of the project: write first, look at what came out, explore only what fails."""

from __future__ import annotations

from exploracoder.engine.exploring import arguments
from exploracoder.engine.finishing.chain import explore_open, write_solution
from exploracoder.engine.finishing.synthesis import mend, try_solution
from exploracoder.engine.reading.cells import Script
from exploracoder.engine.running.steering import next_open
from exploracoder.engine.running.written_cells import chain_steps, replace, run_open
from exploracoder.engine.workbench import Workbench
from exploracoder.engine.writing.first_tries import try_first, try_unchecked
from exploracoder.engine.writing.looking import look
from exploracoder.engine.writing.write_cells import write
from exploracoder.methods.method import Method
from exploracoder.methods.planned import make_plan
from exploracoder.state import Attempt, Solution, Written


class ExplorationMethod(Method):
    """Writes all cells and the solution at once, looks at what they give, explores what fails."""

    name = "exploration"
    plans = True

    async def run(self, bench: Workbench) -> None:
        """Do what has not been done yet, one recorded step after another.

        In a review it returns once the cells are written, and after each that ran, for the user to
        decide. A solution that was written without exploring stands, unless a user in an attended
        session continues from it.
        """
        if not bench.exploration.is_planned:
            is_new = bench.exploration.solution is None
            if (await _solve_at_once(bench)) if is_new else (not bench.is_attended):
                return
            if not bench.exploration.is_planned:
                await (write if bench.settings.cells else make_plan)(bench)
            if bench.is_review():
                return
        if bench.is_review():
            await _review(bench)
            return
        if bench.settings.cells:
            if not await run_open(bench) and bench.is_review():
                return
            if not _has_unwritten(bench) and await _look_until_right(bench):
                return
        if await explore_open(bench) and not _is_solved(bench):
            await write_solution(bench)


async def _solve_at_once(bench: Workbench) -> bool:
    """Try whole solutions one after another, which suits models that are quick and weak."""
    if bench.settings.cells:
        return False
    if await try_first(bench):
        return True
    await arguments.give_examples(bench)
    return not bench.is_review() and await try_unchecked(bench)


async def _review(bench: Workbench) -> None:
    """Propose the next cell, or provide the solution once all cells are decided."""
    if not await explore_open(bench):
        return
    if _is_solved(bench):
        return
    attempt = await _run_solution(bench, set()) if _is_as_written(bench) else None
    if attempt is None or not attempt.leaves_no_doubt:
        await write_solution(bench)


def _is_as_written(bench: Workbench) -> bool:
    """Whether all cells were accepted as they were written: then the solution stands, too."""
    steps, script = chain_steps(bench), bench.exploration.written
    are_first = all(step.chosen == f"{step.subtask.id}/1" for step in steps)
    return bool(script.solution) and len(steps) == script.cells and are_first


def _has_unwritten(bench: Workbench) -> bool:
    """Whether the user has added steps to the plan for which nothing has been written yet."""
    steps = bench.exploration.steps
    return any(step.is_open and not step.candidates for step in steps)


def _is_solved(bench: Workbench) -> bool:
    solution = bench.exploration.solution
    return solution is not None and solution.final.is_good


async def _look_until_right(bench: Workbench) -> bool:
    """Run the solution and look at the results, until nothing needs to change.

    Returns whether it is settled. With a check, that decides: what leaves no doubt gets no look.
    """
    has_check, has_looked, seen_codes = bool(bench.exploration.task.check), False, set[str]()
    attempt = await _run_solution(bench, seen_codes)
    for _ in range(bench.settings.looks):
        if attempt is not None and attempt.leaves_no_doubt and (has_check or has_looked):
            return True
        if bench.limits.is_late:
            break
        script = await look(bench, attempt)
        if not (script.cells or script.solution):
            break
        has_looked = not script.cells
        await _take(bench, script)
        if bench.is_review() and next_open(bench.exploration) is not None:
            return True
        attempt = await _run_solution(bench, seen_codes)
    return attempt is not None and attempt.leaves_no_doubt


async def _take(bench: Workbench, script: Script) -> None:
    """Replace what was written before with the script of a look, and run what that changes."""
    before = bench.exploration.written
    after = Written(
        solution=script.solution or before.solution,
        calls=script.calls or before.calls,
        cells=before.cells,
    )
    bench.change(written=after)
    if script.cells:
        await replace(bench, script.cells)
        await run_open(bench)


async def _run_solution(bench: Workbench, seen_codes: set[str]) -> Attempt | None:
    """Run the current solution in a fresh state and record it; None if there is none.

    Names in it are mended if that is possible without asking; ``seen_codes`` are not tried
    again.
    """
    script, before = bench.exploration.written, bench.exploration.solution
    if not script.solution:
        return None
    docs = bench.cells_request.docs if bench.cells_request else ()

    async def run(code: str, base: str = "") -> Attempt:
        return await try_solution(bench, code, calls=script.calls, base=base)

    def keep(*attempts: Attempt) -> None:
        solution = Solution(attempts=attempts, apis=tuple(doc.path for doc in docs))
        bench.change(solution=solution.after(before))

    attempt = await run(script.solution)
    # Before the rest, which a limit may end.
    keep(attempt)
    repair = await mend(bench, attempt, docs, run, seen_codes)
    if repair is not None:
        keep(attempt, repair)
        bench.change(written=script.model_copy(update={"solution": repair.code}))
    await bench.update("Ran the solution")
    return repair or attempt
