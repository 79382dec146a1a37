"""DocPrompting, the naive retrieval baseline (Zhou et al. 2023; ExploraCoder, section 5.2)."""

from __future__ import annotations

from exploracoder.engine.synthesis import synthesize
from exploracoder.engine.workbench import Workbench
from exploracoder.methods.direct import ONE_SHOT
from exploracoder.state import RankedApi, Recommendation

_SHOWN_APIS = 10


class DocPrompting:
    """One sample with the docs that the task's own words retrieve."""

    name = "docprompting"
    overrides = ONE_SHOT

    async def run(self, bench: Workbench) -> None:
        """Retrieve once, ask once, run once."""
        task = bench.exploration.task
        hits = bench.index.search(task.text, bench.library_names, _SHOWN_APIS)
        overall = Recommendation(
            apis=tuple(RankedApi(doc=hit.doc, score=hit.score, is_kept=True) for hit in hits)
        )
        await bench.update(
            bench.exploration.model_copy(update={"overall": overall}), "Retrieved the docs"
        )
        solution = await synthesize(bench, overall.kept)
        await bench.update(
            bench.exploration.model_copy(update={"solution": solution}), "Wrote the solution"
        )
