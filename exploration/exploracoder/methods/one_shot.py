"""Methods that write the solution once, from what they know at the start, and what these share.

Source: ExploraCoder, section 5.2: direct generation, and DocPrompting (Zhou et al. 2023), the naive
retrieval baseline.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

from exploracoder_retrieval.apidoc import ApiDoc

from exploracoder.engine.finishing.solution_prompt import solution_messages
from exploracoder.engine.finishing.synthesis import PART, try_solution
from exploracoder.engine.reading.replies import solution_in
from exploracoder.engine.workbench import Workbench
from exploracoder.methods.method import Method
from exploracoder.models.chat import Message
from exploracoder.state import Attempt, RankedApi, Recommendation, Solution, Subtask

_SHOWN_APIS = 10
# How solutions are sampled, for all baselines (ExploraCoder, section 5.1).
SAMPLED: Mapping[str, object] = {"temperature": 0.8, "top_p": 0.95}
# One sample as it comes: no repairs, no imports added, no names changed.
ONE_SHOT: Mapping[str, object] = {
    "example_arguments": False,
    "solution_attempts": 1,
    "repair_rounds": 0,
    "repair_names": False,
    "existing_names": False,
}


async def sample(bench: Workbench, messages: Sequence[Message], number: int = 0) -> Attempt:
    """Sample, run and check one text of the solution; each ``number`` has its own seed.

    Raises BudgetError, ModelError, and NoCodeError.
    """
    tokens = bench.settings.solution_tokens
    sampling = bench.model.sampling(PART, number=number, max_tokens=tokens)
    reply = await bench.model.ask(PART, messages, sampling)
    return await try_solution(bench, solution_in(reply, bench.model.name))


async def write(bench: Workbench, apis: Sequence[ApiDoc], subtasks: Sequence[Subtask] = ()) -> None:
    """Write the solution and record it, unless there is one. Raises like `sample`."""
    if bench.exploration.solution is None:
        messages = solution_messages(bench, apis, subtasks)
        await record(bench, [await sample(bench, messages)], apis)


async def record(bench: Workbench, attempts: Sequence[Attempt], apis: Sequence[ApiDoc]) -> None:
    """Record ``attempts`` as the exploration's solution, written with ``apis`` at hand."""
    solution = Solution(attempts=tuple(attempts), apis=tuple(doc.path for doc in apis))
    await bench.update("Wrote the solution", solution=solution)


async def retrieve_for_task(bench: Workbench) -> Sequence[ApiDoc]:
    """Retrieve docs with the task's own words, and record them."""
    task, libraries = bench.exploration.task, bench.libraries
    search = libraries.index.search
    hits = await asyncio.to_thread(search, task.text, libraries.names, _SHOWN_APIS)
    apis = (RankedApi(doc=hit.doc, score=hit.score, is_kept=True) for hit in hits)
    overall = Recommendation(apis=tuple(apis))
    await bench.update("Retrieved the docs", overall=overall)
    return overall.kept


class Direct(Method):
    """One sample from memory: the task and nothing else."""

    name = "direct"
    published: Mapping[str, object] = SAMPLED
    overrides: Mapping[str, object] = ONE_SHOT

    async def run(self, bench: Workbench) -> None:
        """Ask once, run once."""
        await write(bench, ())


class DocPrompting(Direct):
    """One sample with the docs that the task's own words retrieve."""

    name = "docprompting"

    async def run(self, bench: Workbench) -> None:
        """Retrieve once, ask once, run once."""
        await write(bench, await retrieve_for_task(bench))
