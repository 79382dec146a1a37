"""How long-running work reports its progress."""

from __future__ import annotations

from typing import Protocol


class Progress(Protocol):
    """Called with a stage ("read", "embed"), the amount done, and the total."""

    def __call__(self, stage: str, done: int, total: int, /) -> None: ...
