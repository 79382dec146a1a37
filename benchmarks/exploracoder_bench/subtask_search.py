"""Retrieval by a planner's subtasks: each finds its own APIs, then they are ranked together.

Source: ExploraCoder, section 3.3 and appendix A.7, table 10 (MT).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from exploracoder.errors import InputError
from exploracoder_retrieval.fusion import fuse
from exploracoder_retrieval.index import Index
from pydantic import BaseModel, ConfigDict, ValidationError

from exploracoder_bench.retrieval_kit import Question

# The paper's k: APIs retrieved for each subtask.
APIS_PER_SUBTASK = 20


class _Plan(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")

    id: str
    subtasks: list[str]


def read_subtasks(file: Path) -> dict[str, list[str]]:
    """The subtasks of each query by its id. Raises InputError."""
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
        plans = [_Plan.model_validate_json(line) for line in lines if line.strip()]
    except (OSError, ValidationError) as error:
        raise InputError(f"The subtasks in {file} cannot be read: {error}") from None
    return {plan.id: plan.subtasks for plan in plans}


def search_by_subtasks(
    index: Index, questions: Sequence[Question], subtasks: Mapping[str, list[str]], k: int
) -> dict[str, list[str]]:
    """The k best paths for each query; one without subtasks is searched with its own words.

    The rankings of the subtasks and of the whole are joined by reciprocal rank fusion: no model is
    asked to rank them again.
    """
    found = {}
    for question in questions:
        texts = [question.query, *subtasks.get(question.id, [])]
        hits = index.search_many(texts, [question.library], APIS_PER_SUBTASK)
        joined = fuse([[hit.doc.path for hit in each] for each in hits])
        found[question.id] = [path for path, _ in joined[:k]]
    return found
