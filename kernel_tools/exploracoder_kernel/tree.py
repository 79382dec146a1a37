"""The tree of branches as the sidecar keeps it."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import Literal

from exploracoder_kernel.answers import BranchInfo, BranchState, Creation
from exploracoder_kernel.branch_process import BranchProcess
from exploracoder_kernel.limits import Limits


@dataclass(frozen=True, slots=True)
class Cell:
    """A snippet that is part of a branch's state, and how it came out."""

    code: str
    limits: Limits
    status: Literal["ok", "error"]


@dataclass(slots=True)
class Branch:
    """A branch: the cells its state comes from, and the process that holds it, if there is one.

    The first ``inherited`` cells are those the parent had when this branch was made.
    """

    id: str
    parent: str | None
    created: Creation
    cells: list[Cell] = field(default_factory=list)
    inherited: int = 0
    note: str = ""
    process: BranchProcess | None = None
    is_busy: bool = False
    has_died: bool = False
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    @property
    def is_live(self) -> bool:
        """Whether a process holds the state now."""
        return self.process is not None and self.process.is_alive

    def info(self) -> BranchInfo:
        """What is shown of it."""
        ended = self.process is not None and not self.process.is_alive
        state: BranchState = "busy" if self.is_busy else "idle"
        if not self.is_busy and (self.has_died or ended):
            state = "dead"
        return BranchInfo(
            id=self.id,
            parent=self.parent,
            cells=len(self.cells),
            state=state,
            created=self.created,
            note=self.note,
        )
