"""The whole documentation in the prompt, as far as it fits: what a long context can do with it."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from itertools import accumulate

from exploracoder.engine.finishing.solution_prompt import solution_messages
from exploracoder.engine.reading.value_text import describe_api
from exploracoder.engine.workbench import Workbench
from exploracoder.errors import PromptError
from exploracoder.methods.method import Method
from exploracoder.methods.one_shot import ONE_SHOT, SAMPLED, record, sample

# About 130,000 tokens; a server that takes less says so.
_PROMPT_CHARS = 400_000
# Longer than any doc: none is shortened.
_DOC_CHARS = 1_000_000
# The share of the docs that is kept when a prompt was too long.
_SHORTER = 0.8


class WholeDocs(Method):
    """One sample with every ApiDoc in full, in the library's order, up to the model's context."""

    name = "whole-docs"
    published: Mapping[str, object] = {**SAMPLED, "prompt_chars": _PROMPT_CHARS}
    overrides: Mapping[str, object] = {**ONE_SHOT, "doc_chars": _DOC_CHARS}

    async def run(self, bench: Workbench) -> None:
        """Ask with all docs, or with only the first ones if that is too long; run once."""
        if bench.exploration.solution is not None:
            return
        docs = bench.libraries.known.docs
        ends = list(accumulate(len(describe_api(doc, _DOC_CHARS)) + 1 for doc in docs))
        count = bisect_right(ends, bench.settings.prompt_chars)
        while True:
            messages = solution_messages(bench, docs[:count], left_out=len(docs) - count)
            try:
                attempt = await sample(bench, messages)
            except PromptError:
                if not count:
                    raise
                count = bisect_right(ends, _SHORTER * ends[count - 1])
            else:
                await record(bench, [attempt], docs[:count])
                return
