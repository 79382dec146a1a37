"""DocPrompting, the naive retrieval baseline (Zhou et al. 2023; ExploraCoder, section 5.2), and the
best of several of its samples."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from exploracoder.engine.exploring import arguments
from exploracoder.engine.workbench import Workbench
from exploracoder.methods.one_shot import ONE_SHOT, SAMPLED, write
from exploracoder.state import RankedApi, Recommendation

_SHOWN_APIS = 10
_SAMPLES = 3


class DocPrompting:
    """One sample with the docs that the task's own words retrieve."""

    name = "docprompting"
    published: Mapping[str, object] = SAMPLED
    overrides: Mapping[str, object] = ONE_SHOT
    writes_class = False
    plans = False

    async def run(self, bench: Workbench) -> None:
        """Retrieve once, ask once, run once."""
        task = bench.exploration.task
        hits = await asyncio.to_thread(
            bench.libraries.index.search, task.text, bench.libraries.names, _SHOWN_APIS
        )
        overall = Recommendation(
            apis=tuple(RankedApi(doc=hit.doc, score=hit.score, is_kept=True) for hit in hits)
        )
        await bench.update(
            bench.exploration.model_copy(update={"overall": overall}), "Retrieved the docs"
        )
        await write(bench, overall.kept)


class BestOfThree(DocPrompting):
    """The same prompt up to three times: the first text that runs is taken, else the last.

    It runs if no name in it is missing, and with the user's check, or, where a function is asked
    for, a call with example values.
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
