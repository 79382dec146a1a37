"""RRR (Retrieve-Repotools-Reflect): a class mended with what repository tools answer.

Source: RepoClassBench, section 4 and algorithm 1.
"""

from __future__ import annotations

from collections.abc import Mapping

from exploracoder.engine.workbench import Workbench
from exploracoder.methods.class_writing import guess, improve, may_go_on, reflect, tried
from exploracoder.methods.parameters import CLASS_PARAMETERS
from exploracoder.methods.repository_tools import consult, related_snippets


class Rrr:
    """Guess with related snippets; while it fails, call tools, reflect, and write it again."""

    name = "rrr"
    published: Mapping[str, object] = CLASS_PARAMETERS
    overrides: Mapping[str, object] = {}
    writes_class = True
    plans = False

    async def run(self, bench: Workbench) -> None:
        """Go on until a text passes or the oracle has been called often enough."""
        if not tried(bench):
            await guess(bench, await related_snippets(bench, bench.exploration.task.text))
        while may_go_on(bench):
            failed = tried(bench)[-1]
            answers = await consult(bench, failed)
            reflection = await reflect(bench, failed, answers)
            await improve(bench, failed, reflection, answers)
