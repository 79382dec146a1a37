"""The methods that write a class into a repository.

Source: RepoClassBench: BasicPrompting, NaiveRAG, and how Reflexion (Shinn et al. 2023) and
RepoCoder (Zhang et al. 2023) are compared with (section 5.1, table 2); RRR (section 4,
algorithm 1).
"""

from __future__ import annotations

from collections.abc import Mapping

from exploracoder.engine.workbench import Workbench
from exploracoder.methods.class_writing import guess, improve, may_go_on, reflect, tried
from exploracoder.methods.method import Method
from exploracoder.methods.repository_tools import consult, related_snippets


class _ClassWriter(Method):
    """Writes a class, until a text passes or the oracle's calls are used up."""

    # One temperature for all, MAX_CALLS for those that iterate (appendix A and table 10); a class
    # is longer than other solutions.
    published: Mapping[str, object] = {
        "temperature": 0.2,
        "top_p": 1.0,
        "oracle_calls": 5,
        "solution_tokens": 1500,
    }
    writes_class = True


class BasicPrompting(_ClassWriter):
    """One sample from the description."""

    name = "basic-prompting"
    overrides: Mapping[str, object] = {"oracle_calls": 1}

    async def run(self, bench: Workbench) -> None:
        """Ask once, judge once."""
        if not tried(bench):
            await guess(bench)


class NaiveRag(_ClassWriter):
    """One sample with the pieces of the repository that are most similar to the description."""

    name = "naive-rag"
    overrides: Mapping[str, object] = {"oracle_calls": 1}

    async def run(self, bench: Workbench) -> None:
        """Retrieve once, ask once, judge once."""
        if not tried(bench):
            await guess(bench, await related_snippets(bench, bench.exploration.task.text))


class Reflexion(_ClassWriter):
    """The oracle's words and a reflection on them, without the repository."""

    name = "reflexion"

    async def run(self, bench: Workbench) -> None:
        """Guess; while it fails, reflect and write it again."""
        if not tried(bench):
            await guess(bench)
        while may_go_on(bench):
            attempt = tried(bench)[-1]
            await improve(bench, attempt, await reflect(bench, attempt))


class RepoCoder(_ClassWriter):
    """The pieces similar to the description, then those similar to the last text.

    The model is shown neither what the oracle says nor its own last text.
    """

    name = "repocoder"

    async def run(self, bench: Workbench) -> None:
        """Retrieve and guess, again and again."""
        while may_go_on(bench):
            attempts = tried(bench)
            query = attempts[-1].code if attempts else bench.exploration.task.text
            await guess(bench, await related_snippets(bench, query))


class Rrr(_ClassWriter):
    """Retrieve-Repotools-Reflect: a class mended with what repository tools answer."""

    name = "rrr"

    async def run(self, bench: Workbench) -> None:
        """Guess with related snippets; while it fails, call tools, reflect, and write it again."""
        if not tried(bench):
            await guess(bench, await related_snippets(bench, bench.exploration.task.text))
        while may_go_on(bench):
            attempt = tried(bench)[-1]
            answers = await consult(bench, attempt)
            reflection = await reflect(bench, attempt, answers)
            await improve(bench, attempt, reflection, answers)
