"""Methods that write the solution once with what they know from the start, and what all such share.

Source: ExploraCoder, section 5.2: direct generation, and DocPrompting (Zhou et al. 2023), the naive
retrieval baseline.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

from exploracoder_retrieval.apidoc import ApiDoc

from exploracoder.engine.exploring import arguments
from exploracoder.engine.finishing.synthesis import synthesize
from exploracoder.engine.workbench import Workbench
from exploracoder.methods.method import Method
from exploracoder.state import RankedApi, Recommendation, Solution, Subtask

_SHOWN_APIS = 10
_SAMPLES = 3
# How solutions are sampled, for all baselines (ExploraCoder, section 5.1).
_SAMPLED: Mapping[str, object] = {"temperature": 0.8, "top_p": 0.95}
# One sample as it comes: no repairs, no imports put in, no names changed.
ONE_SHOT: Mapping[str, object] = {
    "example_arguments": False,
    "solution_attempts": 1,
    "repair_rounds": 0,
    "repair_names": False,
    "existing_names": False,
}


async def write(bench: Workbench, apis: Sequence[ApiDoc], subtasks: Sequence[Subtask] = ()) -> None:
    """Write the solution and record it, unless it is there. Raises BudgetError and ModelError."""
    if bench.exploration.solution is None:
        await record(bench, await synthesize(bench, apis, subtasks=subtasks))


async def record(bench: Workbench, solution: Solution) -> None:
    """Make it the exploration's."""
    await bench.update("Wrote the solution", solution=solution)


class Direct(Method):
    """One sample from memory: the task and nothing else."""

    name = "direct"
    published: Mapping[str, object] = _SAMPLED
    overrides: Mapping[str, object] = ONE_SHOT

    async def run(self, bench: Workbench) -> None:
        """Ask once, run once."""
        await write(bench, ())


class DocPrompting(Direct):
    """One sample with the docs that the task's own words retrieve."""

    name = "docprompting"

    async def run(self, bench: Workbench) -> None:
        """Retrieve once, ask once, run once."""
        task = bench.exploration.task
        hits = await asyncio.to_thread(
            bench.libraries.index.search, task.text, bench.libraries.names, _SHOWN_APIS
        )
        overall = Recommendation(
            apis=tuple(RankedApi(doc=hit.doc, score=hit.score, is_kept=True) for hit in hits)
        )
        await bench.update("Retrieved the docs", overall=overall)
        await write(bench, overall.kept)


class BestOfThree(DocPrompting):
    """The same prompt up to three times: the first text that runs is taken, else the last.

    It runs if it raises no error, nor the user's check after it, nor, without one, a call of the
    function that is asked for with example values.
    """

    name = "best-of-three"
    overrides: Mapping[str, object] = {
        **ONE_SHOT,
        "solution_attempts": _SAMPLES,
        "example_arguments": True,
    }

    async def run(self, bench: Workbench) -> None:
        """Retrieve once, ask and run until one runs."""
        await arguments.give_examples(bench)
        await super().run(bench)
