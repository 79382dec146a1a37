"""ToolCoder: the model searches for an API at the very token where it needs one.

Source: ToolCoder, section 3.4 (algorithm 1), appendix D (the temperature), table 9 (without the
tool) and table 7 (without queries).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from exploracoder.engine.workbench import Workbench
from exploracoder.methods.one_shot import ONE_SHOT
from exploracoder.methods.searching_code import write_searching
from exploracoder.state import Solution

# Appendix D; of top-p nothing is said.
_SAMPLED: Mapping[str, object] = {"temperature": 0.8, "top_p": 1.0}


@dataclass(frozen=True, slots=True)
class ToolCoder:
    """One sample, written with searches; its two switches make the ablations.

    Without ``has_tool`` the model answers its own searches; where searches are functions, it has
    none. Without ``has_query`` the task's text is searched for, whatever the model asks.
    """

    name: str
    has_tool: bool = True
    has_query: bool = True
    published: Mapping[str, object] = field(default_factory=lambda: _SAMPLED)
    overrides: Mapping[str, object] = field(default_factory=lambda: ONE_SHOT)
    writes_class: bool = False
    plans: bool = False

    async def run(self, bench: Workbench) -> None:
        """Write once, run once. Raises BudgetError and ModelError."""
        if bench.exploration.solution is not None:
            return
        attempt = await write_searching(bench, has_tool=self.has_tool, has_query=self.has_query)
        solution = Solution(attempts=(attempt,))
        await bench.update(
            bench.exploration.model_copy(update={"solution": solution}), "Wrote the solution"
        )


VARIANTS = (
    ToolCoder("toolcoder"),
    ToolCoder("toolcoder-no-tool", has_tool=False),
    ToolCoder("toolcoder-no-query", has_query=False),
)
