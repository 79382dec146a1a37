"""How an adapter is trained."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Recipe:
    """How to train. ``steps`` ends it early; ``max_tokens`` cuts each text.

    Without ``has_queries`` the texts' searches lose their words (ToolCoder, section 5.3.1).
    """

    rank: int = 8
    alpha: int = 16
    epochs: int = 10
    steps: int | None = None
    batch: int = 8
    learning_rate: float = 1e-4
    max_tokens: int = 512
    seed: int = 0
    device: str = "auto"
    precision: str = "auto"
    saves_memory: bool = False
    has_queries: bool = True
