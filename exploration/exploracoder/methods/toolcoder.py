"""ToolCoder: the model searches for an API at the very token where it needs one.

Source: ToolCoder, section 3.4 (algorithm 1), appendix D (the temperature), table 9 (without the
tool) and table 7 (without queries).
"""

from __future__ import annotations

from collections.abc import Mapping

from exploracoder.engine.workbench import Workbench
from exploracoder.methods import Method
from exploracoder.methods.one_shot import ONE_SHOT, record
from exploracoder.methods.searching_code import write_searching
from exploracoder.state import Solution


class ToolCoder(Method):
    """One sample, written with searches; its two switches make the ablations.

    Without ``has_tool`` the model answers its own searches; where searches are functions, it has
    none. Without ``has_query`` the task's text is searched for, whatever the model asks.
    """

    name = "toolcoder"
    # Appendix D; of top-p nothing is said.
    published: Mapping[str, object] = {"temperature": 0.8, "top_p": 1.0}
    overrides: Mapping[str, object] = ONE_SHOT
    has_tool = True
    has_query = True

    async def run(self, bench: Workbench) -> None:
        """Write once, run once. Raises BudgetError and ModelError."""
        if bench.exploration.solution is not None:
            return
        attempt = await write_searching(bench, has_tool=self.has_tool, has_query=self.has_query)
        await record(bench, Solution(attempts=(attempt,)))


class NoTool(ToolCoder):
    """The same without the tool."""

    name = "toolcoder-no-tool"
    has_tool = False


class NoQuery(ToolCoder):
    """The same without queries."""

    name = "toolcoder-no-query"
    has_query = False
