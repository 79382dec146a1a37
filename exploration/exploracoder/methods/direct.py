"""Direct generation: the task and nothing else (ExploraCoder, section 5.2)."""

from __future__ import annotations

from collections.abc import Mapping

from exploracoder.engine.synthesis import synthesize
from exploracoder.engine.workbench import Workbench

# One sample as it comes: no repairs, no imports put in.
ONE_SHOT: Mapping[str, object] = {
    "solution_attempts": 1,
    "repair_rounds": 0,
    "repair_imports": False,
}


class Direct:
    """One sample from memory."""

    name = "direct"
    overrides = ONE_SHOT

    async def run(self, bench: Workbench) -> None:
        """Ask once, run once."""
        solution = await synthesize(bench, ())
        await bench.update(
            bench.exploration.model_copy(update={"solution": solution}), "Wrote the solution"
        )
