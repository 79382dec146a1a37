"""Solutions that are written before anything is explored, where a check can tell what is right."""

from __future__ import annotations

from exploracoder.engine.recommender import find
from exploracoder.engine.synthesis import synthesize
from exploracoder.engine.workbench import Workbench

PART = "first tries"
# Of a limit: what is too long for a few quick tries needs the rest for exploring.
_SHARE = 0.25


async def try_first(bench: Workbench) -> bool:
    """Write solutions from the docs that the task's words retrieve, before anything is explored.

    True when the user's check accepts one: then nothing need be explored, and there is no plan.
    They share a prompt, so that a server with a prefix cache reads it once. What fails is not kept,
    and nothing is said of it later: a wrong text would be copied. Raises BudgetError and
    ModelError.
    """
    task, settings = bench.exploration.task, bench.settings
    if not (settings.first_tries and task.check):
        return False
    with bench.doing("Trying without exploring"):
        bench.tell(PART, "Reading the docs")
        docs = [hit.doc for hit in await find(bench, task.text, settings.shown_apis)]
        solution = await synthesize(
            bench, docs, attempts=settings.first_tries, repairs=0, part=PART, share=_SHARE
        )
    if not solution.final.is_good:
        await bench.update(bench.exploration, "No first try passes the check")
        return False
    solved = bench.exploration.model_copy(update={"solution": solution})
    await bench.update(solved, "Solved without exploring")
    return True
