"""RepoCoder: the pieces that are like the description, then those that are like the last text.

Source: Zhang et al. 2023, as RepoClassBench compares with it in section 5.1 and table 2: the model
is not shown what the oracle says, nor its last text.
"""

from __future__ import annotations

from collections.abc import Mapping

from exploracoder.engine.workbench import Workbench
from exploracoder.methods.class_writing import guess, may_go_on, tried
from exploracoder.methods.parameters import CLASS_PARAMETERS
from exploracoder.methods.repository_tools import related_snippets


class RepoCoder:
    """Retrieve and guess, again and again."""

    name = "repocoder"
    published: Mapping[str, object] = CLASS_PARAMETERS
    overrides: Mapping[str, object] = {}
    writes_class = True
    plans = False

    async def run(self, bench: Workbench) -> None:
        """Go on until a text passes or the oracle has been called often enough."""
        while may_go_on(bench):
            attempts = tried(bench)
            query = attempts[-1].code if attempts else bench.exploration.task.text
            await guess(bench, await related_snippets(bench, query))
