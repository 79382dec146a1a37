"""Writes solutions before anything is explored.

With a check, the first that passes is right. Without one, a solution that runs on example values is
as likely right as what a small model would find by exploring, which costs more. If all of them
fail, exploring continues from the one that got farthest: what ran need not be found again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from exploracoder_retrieval.apidoc import ApiDoc

from exploracoder.engine.exploring import arguments
from exploracoder.engine.finishing.synthesis import synthesize, try_solution
from exploracoder.engine.knowing.examples import example_chars, used_before
from exploracoder.engine.knowing.recommender import find, find_meant
from exploracoder.engine.reading import stub
from exploracoder.engine.reading.cells import Cell, body_of, cells_of
from exploracoder.engine.reading.library_map import library_map
from exploracoder.engine.running.substituting import wrong_names
from exploracoder.engine.running.written_cells import add, run_open
from exploracoder.engine.workbench import Workbench
from exploracoder.engine.writing.agreement import can_compare, groups
from exploracoder.errors import NoCodeError
from exploracoder.state import Attempt, Exploration, Solution
from exploracoder.texts import Text

PART = "first tries"
# The share of a limit: a task too long for a few quick tries needs the rest for exploring.
_SHARE = 0.25
# Without a check, two with the same result are enough, and no more than three are requested.
_UNCHECKED = 3
# If this many functions fail alike, the example values may be at fault.
_ALIKE = 2
# APIs found with a task's words: those not shown in full get a line each.
_FOUND = 30
_MAP_CHARS = 2400
# One that is the same for every task may be longer: a server reads it once and keeps it.
_WHOLE_MAP_CHARS = 6000


async def try_first(bench: Workbench) -> bool:
    """Write solutions from the docs that the task's words retrieve, before anything is explored.

    True if the user's check accepts one: no exploration or plan is needed then. They share a
    prompt, so that a server with a prefix cache reads it once. Failed ones are not kept, or
    mentioned later: the model would copy wrong code. Raises BudgetError and ModelError.
    """
    task, settings = bench.exploration.task, bench.settings
    if not (settings.first_tries and task.check):
        return False
    with bench.doing("Trying without exploring"):
        solution = await _sketch(bench)
        if not (solution.attempts and solution.final.is_good):
            docs = await _docs(bench, solution.attempts)
            solution = await _write(bench, docs, settings.first_tries)
    if not (solution.attempts and solution.final.is_good):
        await bench.update("No first try passes the check")
        return False
    await _finish(bench, "Solved without exploring", solution)
    return True


async def try_unchecked(bench: Workbench) -> bool:
    """The same without a check: True if a try runs, with names that exist, and gives a result.

    A sketch that does so is taken as it is: a model that knows the names knows the library.
    Otherwise, two with the same result end the tries, or else the first is taken. A function's
    result is that of its example call. If no result can be seen, any solution counts. Raises
    BudgetError and ModelError.
    """
    task, settings = bench.exploration.task, bench.settings
    if not settings.first_tries or task.check or task.target is not None:
        return False
    if not can_compare(bench.exploration):
        return await _write_unseen(bench)

    def keep(written: Solution) -> None:
        best = _best(bench.exploration, (*sketches, *written.attempts))
        if best is not None:
            bench.change(solution=Solution(attempts=(best,), apis=written.apis))

    with bench.doing("Trying without exploring"):
        solution = await _sketch(bench)
        sketches = solution.attempts
        attempt = _best(bench.exploration, sketches[:1])
        if attempt is None:
            keep(Solution(attempts=()))
            solution = await _write(
                bench,
                await _docs(bench, sketches),
                min(settings.first_tries, _UNCHECKED),
                is_enough=lambda attempts: _agree(bench.exploration, (*sketches, *attempts)),
                keep=keep,
            )
            attempt = await _choose(bench, (*sketches, *solution.attempts))
    if attempt is None:
        await bench.update("No first try gives anything")
        await _begin_with(bench, (*sketches, *solution.attempts))
        return False
    final_solution = Solution(attempts=(attempt,), apis=solution.apis)
    await _finish(bench, "Written without exploring", final_solution)
    return True


async def _write_unseen(bench: Workbench) -> bool:
    """Write a solution from the docs, and repair failures, if none of its values can be seen.

    Exploring could not tell from them whether it is right, either. False if no code was written.
    """

    def keep(solution: Solution) -> None:
        # A failed one would count as written when the work goes on.
        if solution.final.is_good:
            bench.change(solution=solution)

    with bench.doing("Writing without exploring"):
        sketches = (await _sketch(bench)).attempts
        settings, docs = bench.settings, await _docs(bench, sketches)
        count, repairs = settings.solution_attempts, settings.repair_rounds
        solution = await _write(bench, docs, count, repairs=repairs, keep=keep)
    if not solution.attempts:
        return False
    await _finish(bench, "Written without exploring", solution)
    return True


async def _finish(bench: Workbench, message: str, solution: Solution) -> None:
    """Record the solution, then run it in cells, so that readers see what each part gives.

    Whatever happens to the cells, the solution stays. In a review, where cells are proposals, there
    are none.
    """
    await bench.update(message, solution=solution)
    await _show(bench, cells_of(solution.final.code), solution)


async def _show(bench: Workbench, cells: Sequence[Cell], solution: Solution | None = None) -> None:
    runs = not bench.is_review()
    for cell in cells if runs else ():
        add(bench, cell)
        await bench.update(Text("Written: %1", cell.goal), solution=solution)
        runs = runs and await run_open(bench)


async def _begin_with(bench: Workbench, attempts: Sequence[Attempt]) -> None:
    """Record the cells of the attempt that came farthest before it raised an error.

    Does nothing if none raised an error or the code cannot be cut into cells: planning follows.
    """
    failures = [one for one in attempts if _has_failed(one)]
    farthest = max(failures, key=_progress, default=None)
    if farthest is None:
        return
    name = stub.wanted_function(bench.exploration.task)
    code = body_of(farthest.code, name, arguments.RESULT) if name else farthest.code
    cells = cells_of(code)
    if len(cells) > 1 and "#" in code:
        await _show(bench, cells)
    elif cells:
        # Nothing says what its parts are for.
        await _show(bench, (Cell(1, bench.exploration.task.text, code),))


def _has_failed(attempt: Attempt) -> bool:
    """Whether the attempt's own code raised an error, when it ran or when it was called."""
    is_failing = attempt.call is not None and bool(attempt.call.failure)
    return is_failing or not attempt.observation.ran


def _progress(attempt: Attempt) -> tuple[int, int]:
    """The sort key: fewer names that do not exist come first, then the line that was reached."""
    error = attempt.observation.error
    line = (error.line or 0) if error else len(attempt.code)
    return -len(attempt.problems), line


async def _sketch(bench: Workbench) -> Solution:
    """Write a solution from memory, and variants of it with other names."""
    bench.tell(PART, "Writing from memory")
    return await _write(bench, (), 1, from_memory=True)


async def _write(
    bench: Workbench, docs: Sequence[ApiDoc], attempts: int, repairs: int = 0, **options: Any
) -> Solution:
    """Write solutions, by default without repairs; returns no attempts, instead of raising, if the
    model wrote no code.

    Besides the ``docs`` more of the library is shown: one API per line, all of them if they fit,
    and examples.
    """
    if docs:
        hits = await find(bench, bench.exploration.task.text, _FOUND)
        examples = options["examples"] = await used_before(bench, hits, _MAP_CHARS // 2)
        known = bench.libraries.known.docs
        api_map = library_map(known, _WHOLE_MAP_CHARS)
        if not api_map.is_whole:
            best = [hit.doc.path for hit in hits if hit.doc not in docs]
            api_map = library_map(known, _MAP_CHARS - example_chars(examples), best)
        options["api_map"] = api_map
    try:
        return await synthesize(
            bench,
            docs,
            attempts=attempts,
            repairs=repairs,
            part=PART,
            share=_SHARE,
            **options,
        )
    except NoCodeError:
        return Solution(attempts=())


async def _docs(bench: Workbench, sketches: Sequence[Attempt]) -> tuple[ApiDoc, ...]:
    """The docs retrieved by the task's words, and by names that the sketches took for granted."""
    bench.tell(PART, "Reading the docs")
    names = dict.fromkeys(name for one in sketches for name in sorted(wrong_names(one)))
    return await find_meant(bench, bench.exploration.task.text, names, bench.settings.shown_apis)


async def _choose(bench: Workbench, attempts: Sequence[Attempt]) -> Attempt | None:
    """One of two with the same result, or else the first that gives a result.

    If the model chose the example values and several attempts fail alike on them, with all names
    right, other values are tried; if the attempts fail on these as well, the values are to blame.
    """
    best = _best(bench.exploration, attempts)
    if best is not None:
        return best
    valid_attempts = [one for one in attempts if one.call is not None and not one.problems]
    failures = Counter(one.call.failure for one in valid_attempts if one.call and one.call.failure)
    failure, count = failures.most_common(1)[0] if failures else ("", 0)
    if count < _ALIKE or not await arguments.give_others(bench, failure):
        return None
    again = [await try_solution(bench, one.code, PART) for one in valid_attempts]
    return _best(bench.exploration, again) or again[0]


def _best(exploration: Exploration, attempts: Sequence[Attempt]) -> Attempt | None:
    clusters = groups(exploration, attempts)
    return clusters[0][-1] if clusters else None


def _agree(exploration: Exploration, attempts: Sequence[Attempt]) -> bool:
    """Whether two attempts give the same result."""
    clusters = groups(exploration, attempts)
    return bool(clusters) and len(clusters[0]) > 1
