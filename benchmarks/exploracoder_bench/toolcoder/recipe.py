"""How an adapter is trained."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Recipe:
    """How to train. ``steps`` ends it early; ``max_tokens`` cuts each text.

    With ``drops_queries`` the texts' searches lose their words (ToolCoder, section 5.3.1).
    """

    rank: int
    alpha: int
    epochs: int
    steps: int | None
    batch: int
    learning_rate: float
    max_tokens: int
    seed: int
    device: str
    precision: str
    saves_memory: bool
    drops_queries: bool
