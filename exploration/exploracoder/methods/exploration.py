"""ExploraCoder: plan, explore the chain, synthesize (seed paper, section 3).

By itself it is our live-state variant; `paper` has the settings that make it the published systems.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field

from exploracoder_retrieval.harvest import LibraryInfo

from exploracoder.engine import arguments
from exploracoder.engine.backtracking import doubt_checked_step, doubt_step_before, run_again
from exploracoder.engine.briefing import Briefing, brief, choose_examples
from exploracoder.engine.composing import compose
from exploracoder.engine.explorer import explore
from exploracoder.engine.first_tries import try_first, try_unchecked
from exploracoder.engine.planner import plan, renumbered
from exploracoder.engine.recommender import recommend, recommend_overall
from exploracoder.engine.results import result_names
from exploracoder.engine.steering import OPEN, next_open, propose
from exploracoder.engine.synthesis import solution_apis, synthesize
from exploracoder.engine.workbench import Workbench
from exploracoder.errors import AnswerTimeoutError, PromptError, RefusedError
from exploracoder.state import Attempt, Solution, Step


@dataclass(frozen=True, slots=True)
class Exploring:
    """The method of the project; its settings make variants of it."""

    name: str
    published: Mapping[str, object] = field(default_factory=dict)
    overrides: Mapping[str, object] = field(default_factory=dict)
    writes_class: bool = False
    plans: bool = True

    async def run(self, bench: Workbench) -> None:
        """Do what has not been done yet, one recorded step after another.

        In a review it ends after the plan and after each step, for the user to decide. A solution
        that was written without exploring stands, unless somebody who attends goes on from it.
        """
        if not bench.exploration.is_planned:
            is_new = bench.exploration.solution is None
            if (await solve_at_once(bench)) if is_new else (not bench.is_attended):
                return
            await make_plan(bench)
            if bench.is_review():
                return
        backtracks = bench.settings.backtracks
        while (step := next_open(bench.exploration)) is not None and not bench.is_late:
            explored = await explore_step(bench, step)
            if bench.is_review() or await is_enough(bench):
                return
            if explored.status == "failed" and backtracks:
                backtracks -= 1
                await _go_back(bench, explored)
        solution = bench.exploration.solution
        if solution is None or not solution.final.is_good:
            await write_solution(bench)


async def solve_at_once(bench: Workbench) -> bool:
    """Try to solve the task without exploring, and give its parameters example values.

    In a review the user sees the steps: then nothing but a check ends it before there are any.
    """
    if await try_first(bench):
        return True
    await arguments.give_examples(bench)
    return not bench.is_review() and await try_unchecked(bench)


async def is_enough(bench: Workbench) -> bool:
    """Whether what was explored so far passes the user's check: what is open is not needed then.

    Without a check, nobody can say so: a step that is still open may change what there is.
    """
    wanted = set(result_names(bench.exploration.task))
    made = {name for step in bench.exploration.steps for name in _made(step)}
    if not (bench.exploration.task.check and wanted and wanted <= made):
        return False
    attempt = await compose(bench)
    if attempt is None or not attempt.is_good:
        return False
    steps = tuple(
        step.model_copy(update={"status": "skipped"}) if step.status in OPEN else step
        for step in bench.exploration.steps
    )
    solved = {"steps": steps, "solution": Solution(attempts=(attempt,))}
    await bench.update(
        bench.exploration.model_copy(update=solved), "The check passes with what is there"
    )
    return True


def _made(step: Step) -> Iterator[str]:
    """The variables that any candidate of a step made."""
    for candidate in step.candidates:
        if candidate.observation is not None:
            yield from (variable.name for variable in candidate.observation.variables)


async def make_plan(bench: Workbench, replaced: Collection[str] = ()) -> None:
    """Plan the task, or what of it remains after the steps that are not ``replaced``, by their ids.

    What stands before the first plan are the example arguments alone. A solution that was there is
    none of this plan's, and goes. What the user edits meanwhile stays.
    """
    briefings = await _brief(bench)
    subtasks = [step.subtask for step in _others(bench, replaced)]
    before = [subtask for subtask in subtasks if subtask.id != arguments.STEP]
    planned = await plan(bench, briefings, before)
    kept = _others(bench, replaced)
    added = renumbered(planned.subtasks, {step.subtask.id for step in kept})
    steps = (*kept, *(Step(subtask=subtask) for subtask in added))
    changes = {"steps": steps, "is_planned": True, "solution": None}
    exploration = bench.exploration.model_copy(update=changes)
    await bench.update(exploration, f"Planned {len(added)} subtasks")


def _others(bench: Workbench, replaced: Collection[str]) -> list[Step]:
    return [step for step in bench.exploration.steps if step.subtask.id not in replaced]


async def _brief(bench: Workbench) -> list[Briefing]:
    briefings, libraries = [], []
    for library in bench.exploration.libraries:
        info = bench.index.info(library.name)
        briefing = await _briefing_of(bench, info)
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


async def _briefing_of(bench: Workbench, info: LibraryInfo) -> Briefing:
    """What the model says of a library; nothing, for this time, where it does not say it in time or
    cannot take what it is asked with. A plan can be made without."""
    try:
        return await brief(bench.metered("briefing"), bench.index, bench.settings, info)
    except (AnswerTimeoutError, PromptError, RefusedError) as error:
        await bench.update(bench.exploration, f"Goes on without an overview. {error}")
        return Briefing()


async def explore_step(bench: Workbench, step: Step) -> Step:
    """Explore an open step from its docs on; what was chosen for it before is tried first.

    In a review its choice is a proposal, and the chain stays as it was.
    """
    base = bench.branch
    again = await run_again(bench, step) if step.chosen is not None else None
    if again is None:
        step = await read_docs(bench, step.model_copy(update={"chosen": None}))
        again = await explore(bench, step)
    verdict = _verdict(again)
    if bench.is_review():
        again = propose(bench, again, base)
    else:
        await bench.let_go()
    await bench.update(bench.exploration.with_step(again), f"{verdict}: {step.subtask.goal}")
    return again


async def read_docs(bench: Workbench, step: Step) -> Step:
    """The step with the docs that are recommended for it, recorded."""
    bench.tell(step.subtask.id, "Reading the docs")
    step = step.model_copy(update={"recommendation": await recommend(bench, step.subtask)})
    await bench.update(bench.exploration.with_step(step), f"Exploring: {step.subtask.goal}")
    return step


async def _go_back(bench: Workbench, failed: Step) -> None:
    bench.tell(failed.subtask.id, "Going back one step")
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
