"""ExploraCoder and ExploraCoder* as published, and the ablations.

Source: ExploraCoder, section 3 (the method), section 5.1 and the profile ``paper`` (its
parameters), table 4 (with and without self-debugging), table 7 (the ablations). The ablation
without self-debugging is ``exploracoder-paper`` itself.
"""

from __future__ import annotations

from collections.abc import Mapping

from exploracoder.engine.workbench import Workbench
from exploracoder.methods.capir import PARAMETERS, RETRIEVAL, Capir, of_the_paper, retrieve
from exploracoder.methods.one_shot import ONE_SHOT, write
from exploracoder.methods.planned import PlannedExploration

_CHAIN = of_the_paper(
    "candidate_style stop_at_first backtracks selection name_hints first_tries compose source_chars"
    " functions cells"
)
_WAYS = {**ONE_SHOT, **RETRIEVAL, **_CHAIN}


def _exploring(name: str, **changes: object) -> PlannedExploration:
    parameters = {key: value for key, value in PARAMETERS.items() if key not in changes}
    return PlannedExploration(name, parameters, {**_WAYS, **changes})


EXPLORING = (
    _exploring("exploracoder-paper", self_debug=False),
    _exploring("exploracoder-paper-debug", self_debug=True),
    # Neither D nor s: the model plans with what it knows of programming.
    _exploring("exploracoder-paper-no-knowledge", self_debug=True, few_shot_plans=0),
    _exploring("exploracoder-paper-no-selection", self_debug=True, selection="any"),
)


class NoChain(Capir):
    """Without the chain: all docs that were found on the way, and one sample."""

    name = "exploracoder-paper-no-chain"
    overrides: Mapping[str, object] = _WAYS

    async def run(self, bench: Workbench) -> None:
        """Plan, retrieve, ask once with the docs of all subtasks and of the whole."""
        await retrieve(bench)
        steps = bench.exploration.steps
        docs = [doc for step in steps for doc in step.recommendation.kept]
        docs += bench.exploration.overall.kept
        await write(bench, tuple({doc.path: doc for doc in docs}.values()))
