"""How long work reports how far it is."""

from __future__ import annotations

from typing import Protocol


class Progress(Protocol):
    """Called with a stage ("read", "embed"), what is done and what there is to do."""

    def __call__(self, stage: str, done: int, total: int, /) -> None: ...
