"""CAPIR and EpiGen: docs retrieved for each subtask of a plan, then one sample.

Source: CAPIR is Ma et al. 2024b and EpiGen Li et al. 2024, as ExploraCoder compares with them in
section 5.4: k_G APIs are recommended for the whole task, and EpiGen is given the same plan's
subtasks as instructions. The parameters are those of section 5.1, as in the profile ``paper``.
"""

from __future__ import annotations

from collections.abc import Mapping

from exploracoder.engine.knowing.recommender import recommend, recommend_overall
from exploracoder.engine.workbench import Workbench
from exploracoder.methods.method import Method
from exploracoder.methods.one_shot import ONE_SHOT, write
from exploracoder.methods.planned import make_plan
from exploracoder.settings import PROFILES
from exploracoder.state import Recommendation
from exploracoder.texts import Text


def of_the_paper(names: str) -> Mapping[str, object]:
    """The paper's values of some settings, given as names separated by spaces."""
    return {name: getattr(PROFILES["paper"], name) for name in names.split()}


# k_D, k, k_G, m, temperature and top-p (section 5.1); a plan's length is not bounded there, and a
# candidate that repeats all earlier steps needs the room.
PARAMETERS = of_the_paper(
    "few_shot_plans max_subtasks retrieved_apis shown_apis overall_apis candidates debug_rounds"
    " temperature top_p step_tokens"
)
# How the APIs for a subtask and for the whole task are found (section 3.3).
RETRIEVAL = of_the_paper("sift rerank shown_examples memory")


async def retrieve(bench: Workbench) -> None:
    """Plan, retrieve and re-rank for each subtask, then rank again for the whole task.

    The subtasks are not explored, so they are marked as skipped; late in a limit they get no docs.
    Raises BudgetError and ModelError.
    """
    if not bench.exploration.is_planned:
        await make_plan(bench)
    for step in bench.exploration.steps:
        if step.status == "skipped" or bench.limits.is_late:
            continue
        changes = {"recommendation": await recommend(bench, step.subtask), "status": "skipped"}
        bench.put(step.model_copy(update=changes))
        await bench.update(Text("Retrieved the docs for: %1", step.subtask.goal))
    if bench.exploration.overall == Recommendation():
        overall = await recommend_overall(bench, bench.exploration.steps)
        steps = tuple(
            step.model_copy(update={"status": "skipped"}) for step in bench.exploration.steps
        )
        await bench.update("Ranked the docs for the whole task", overall=overall, steps=steps)


class Capir(Method):
    """One sample with the docs that the plan's subtasks retrieve."""

    name = "capir"
    published: Mapping[str, object] = PARAMETERS
    overrides: Mapping[str, object] = {**ONE_SHOT, **RETRIEVAL}
    plans = True

    async def run(self, bench: Workbench) -> None:
        """Plan, retrieve, ask once, run once."""
        await retrieve(bench)
        await write(bench, bench.exploration.overall.kept)


class EpiGen(Capir):
    """CAPIR's docs, and the plan's subtasks as a chain of thought."""

    name = "epigen"

    async def run(self, bench: Workbench) -> None:
        """Plan, retrieve, ask once with the plan, run once."""
        await retrieve(bench)
        subtasks = [step.subtask for step in bench.exploration.steps]
        await write(bench, bench.exploration.overall.kept, subtasks)
