"""Retrieval by a planner's subtasks: each finds its own APIs, then they are ranked together.

Source: ExploraCoder, section 3.3 and appendix A.7, table 10 (MT).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from exploracoder_retrieval.fusion import fuse
from pydantic import BaseModel, ConfigDict

from exploracoder_bench.datasets.json_lines import read_rows
from exploracoder_bench.rankers import Ranking
from exploracoder_bench.retrieval_kit import Question

# From texts to the best paths for each of them.
Rank = Callable[[Sequence[str]], Sequence[Ranking]]

# The paper's k: APIs retrieved for each subtask.
APIS_PER_SUBTASK = 20


class _Plan(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")

    id: str
    subtasks: list[str]


def read_subtasks(file: Path) -> dict[str, list[str]]:
    """The subtasks of each query by its id. Raises InputError."""
    return {plan.id: plan.subtasks for plan in read_rows(file, _Plan, "plan")}


def rank_by_subtasks(
    rank: Rank, questions: Sequence[Question], subtasks: Mapping[str, list[str]]
) -> dict[str, Ranking]:
    """The ranking of each question that has subtasks, by its id.

    The rankings of the subtasks and of the whole are joined by reciprocal rank fusion: no model is
    asked to rank them again.
    """
    joint_rankings = {}
    for question in questions:
        if question.id in subtasks:
            rankings = rank([question.query, *subtasks[question.id]])
            fusion = fuse(ranking[:APIS_PER_SUBTASK] for ranking in rankings)
            joint_rankings[question.id] = [path for path, _ in fusion]
    return joint_rankings
