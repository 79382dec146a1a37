"""ExploraCoder as published: plan, explore the chain, synthesize (seed paper, section 3).

`paper` has the settings that turn it into each of the published systems.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from exploracoder_retrieval.harvest import LibraryInfo

from exploracoder.engine.exploring import arguments
from exploracoder.engine.exploring.briefing import Briefing, brief
from exploracoder.engine.exploring.planner import numbered, plan
from exploracoder.engine.finishing.chain import explore_open, write_solution
from exploracoder.engine.knowing.examples import choose_examples
from exploracoder.engine.running.written_cells import others
from exploracoder.engine.workbench import Workbench
from exploracoder.errors import AnswerTimeoutError, PromptError, RefusedError
from exploracoder.methods.method import Method
from exploracoder.state import Step


@dataclass(frozen=True, slots=True)
class PlannedExploration(Method):
    """A chain of subtasks that are planned before any of them is explored."""

    # Without field() the protocol's property would be its default.
    name: str = field()
    published: Mapping[str, object] = field(default_factory=dict)
    overrides: Mapping[str, object] = field(default_factory=dict)
    plans = True

    async def run(self, bench: Workbench) -> None:
        """Do what has not been done yet, one recorded step after another.

        In a review it ends after the plan and after each step, for the user to decide.
        """
        if not bench.exploration.is_planned:
            await make_plan(bench)
            if bench.is_review():
                return
        if not await explore_open(bench):
            return
        solution = bench.exploration.solution
        if solution is None or not solution.final.is_good:
            await write_solution(bench)


async def make_plan(bench: Workbench, replaced_ids: Collection[str] = ()) -> None:
    """Plan the task, or what remains of it after the steps other than ``replaced_ids``.

    Before the first plan there is at most the step with the example arguments. An existing solution
    does not belong to this plan and is removed. Edits that the user makes meanwhile stay.
    """
    briefings = await _brief(bench)
    subtasks = [step.subtask for step in others(bench, replaced_ids)]
    before = [subtask for subtask in subtasks if subtask.id != arguments.STEP]
    goals = await plan(bench, briefings, before)
    other_steps = others(bench, replaced_ids)
    new_subtasks = numbered(goals, [step.subtask.id for step in other_steps])
    steps = (*other_steps, *(Step(subtask=subtask) for subtask in new_subtasks))
    words = f"Planned {len(new_subtasks)} subtasks"
    await bench.update(words, steps=steps, is_planned=True, solution=None)


async def _brief(bench: Workbench) -> list[Briefing]:
    briefings, libraries = [], []
    for library in bench.exploration.libraries:
        info = bench.libraries.index.info(library.name)
        briefing = await _briefing_of(bench, info)
        briefings.append(briefing)
        changes = {
            "summary": briefing.summary,
            "examples": await choose_examples(bench, library.name),
        }
        libraries.append(library.model_copy(update=changes))
    await bench.update("Read the library's overview", libraries=tuple(libraries))
    return briefings


async def _briefing_of(bench: Workbench, info: LibraryInfo) -> Briefing:
    """The model's briefing on a library; empty, this once, if it is not ready in time or the model
    does not take the request. A plan can be made without."""
    try:
        return await brief(
            bench.model.for_part("briefing"), bench.libraries.index, bench.settings, info
        )
    except (AnswerTimeoutError, PromptError, RefusedError) as error:
        await bench.update(f"Goes on without an overview. {error}")
        return Briefing()
