"""BasicPrompting and NaiveRAG: a class in one sample (RepoClassBench, section 5.1 and table 2)."""

from __future__ import annotations

from collections.abc import Mapping

from exploracoder.engine.workbench import Workbench
from exploracoder.methods.class_writing import guess, tried
from exploracoder.methods.parameters import CLASS_PARAMETERS
from exploracoder.methods.repository_tools import related_snippets


class BasicPrompting:
    """One sample from the description."""

    name = "basic-prompting"
    published: Mapping[str, object] = CLASS_PARAMETERS
    overrides: Mapping[str, object] = {"oracle_calls": 1}
    writes_class = True
    plans = False

    async def run(self, bench: Workbench) -> None:
        """Ask once, judge once."""
        if not tried(bench):
            await guess(bench)


class NaiveRag:
    """One sample with the pieces of the repository that are most like the description."""

    name = "naive-rag"
    published: Mapping[str, object] = CLASS_PARAMETERS
    overrides: Mapping[str, object] = {"oracle_calls": 1}
    writes_class = True
    plans = False

    async def run(self, bench: Workbench) -> None:
        """Retrieve once, ask once, judge once."""
        if not tried(bench):
            await guess(bench, await related_snippets(bench, bench.exploration.task.text))
