"""ExploraCoder: plan, explore the chain, synthesize (seed paper, section 3).

With the ``paper`` profile it is the published system: ExploraCoder* with ``self_debug``,
ExploraCoder without. The other profiles are our live-state variant.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from exploracoder.engine.backtracking import doubt_checked_step, doubt_step_before
from exploracoder.engine.briefing import Briefing, brief, choose_examples
from exploracoder.engine.explorer import explore
from exploracoder.engine.planner import plan
from exploracoder.engine.recommender import recommend, recommend_overall
from exploracoder.engine.steering import OPEN
from exploracoder.engine.synthesis import compose, solution_apis, synthesize
from exploracoder.engine.workbench import Workbench
from exploracoder.state import Attempt, Solution, Step


class ExploraCoder:
    """The method of the project."""

    name = "exploracoder"
    overrides: Mapping[str, object] = {}

    async def run(self, bench: Workbench) -> None:
        """Do what has not been done yet, one recorded step after another."""
        if not bench.exploration.is_planned:
            await make_plan(bench)
        backtracks = bench.settings.backtracks
        for step in bench.exploration.steps:
            if step.status not in OPEN:
                continue
            explored = await _explore(bench, step)
            if explored.status == "failed" and backtracks:
                backtracks -= 1
                await _go_back(bench, explored)
        if bench.exploration.solution is None:
            await write_solution(bench)


async def make_plan(bench: Workbench, kept: Sequence[Step] = ()) -> None:
    """Plan the task, or what of it remains after the steps that are ``kept``."""
    briefings = await _brief(bench)
    made = await plan(bench, briefings, [step.subtask for step in kept])
    steps = (*kept, *(Step(subtask=subtask) for subtask in made.subtasks))
    planned = bench.exploration.model_copy(update={"steps": steps, "is_planned": True})
    await bench.update(planned, f"Planned {len(made.subtasks)} subtasks")


async def _brief(bench: Workbench) -> list[Briefing]:
    briefings, libraries = [], []
    for library in bench.exploration.libraries:
        info = bench.index.info(library.name)
        briefing = await brief(bench, info)
        briefings.append(briefing)
        task, count = bench.exploration.task.text, bench.settings.shown_examples
        told = {
            "summary": briefing.summary,
            "examples": choose_examples(task, info, count),
        }
        libraries.append(library.model_copy(update=told))
    briefed = bench.exploration.model_copy(update={"libraries": tuple(libraries)})
    await bench.update(briefed, "Read the library's overview")
    return briefings


async def _explore(bench: Workbench, step: Step) -> Step:
    goal = step.subtask.goal
    step = step.model_copy(update={"recommendation": await recommend(bench, step.subtask)})
    await bench.update(bench.exploration.with_step(step), f"Exploring: {goal}")
    step = await explore(bench, step)
    await bench.update(bench.exploration.with_step(step), f"{_verdict(step)}: {goal}")
    return step


async def _go_back(bench: Workbench, failed: Step) -> None:
    changed = await doubt_step_before(bench, failed)
    said = "explored both steps again" if changed else "found no other way"
    await bench.update(bench.exploration, f"Went back one step: {said}")


def _verdict(step: Step) -> str:
    chosen = step.candidate
    return "Explored" if chosen is not None and chosen.ran else "No candidate ran"


async def _compose(bench: Workbench) -> Attempt | None:
    """A solution from the steps alone that the user's checks accept, going back to the steps which
    the checks find wrong."""
    for _ in range(1 + bench.settings.backtracks):
        attempt = await compose(bench)
        if attempt is None or attempt.is_good:
            return attempt
        if not await doubt_checked_step(bench, attempt):
            return None
        await bench.update(bench.exploration, "Went back to the step that a check found wrong")
    return None


async def write_solution(bench: Workbench) -> None:
    """Compose or write the solution from the trace, run it, and record it."""
    composed = await _compose(bench)
    if composed is not None:
        solution = Solution(attempts=(composed,))
    else:
        overall = await recommend_overall(bench, bench.exploration.steps)
        told = bench.exploration.model_copy(update={"overall": overall})
        await bench.update(told, "Writing the solution")
        solution = await synthesize(bench, solution_apis(bench))
    await bench.update(
        bench.exploration.model_copy(update={"solution": solution}), "Wrote the solution"
    )
