"""What methods share that write the solution once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from exploracoder_retrieval.apidoc import ApiDoc

from exploracoder.engine.finishing.synthesis import synthesize
from exploracoder.engine.workbench import Workbench
from exploracoder.state import Subtask

# How solutions are sampled, for all baselines (ExploraCoder, section 5.1).
SAMPLED: Mapping[str, object] = {"temperature": 0.8, "top_p": 0.95}
# One sample as it comes: no repairs, no imports put in, no names changed.
ONE_SHOT: Mapping[str, object] = {
    "example_arguments": False,
    "solution_attempts": 1,
    "repair_rounds": 0,
    "repair_imports": False,
    "repair_names": False,
    "existing_names": False,
    "substitutes": 0,
}


async def write(bench: Workbench, apis: Sequence[ApiDoc], subtasks: Sequence[Subtask] = ()) -> None:
    """Write the solution and record it, unless it is there. Raises BudgetError and ModelError."""
    if bench.exploration.solution is not None:
        return
    solution = await synthesize(bench, apis, subtasks=subtasks)
    await bench.update(
        bench.exploration.model_copy(update={"solution": solution}), "Wrote the solution"
    )
