"""The tree of branches as the sidecar keeps it."""

from __future__ import annotations

import asyncio
import itertools
import math
import operator
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

from exploracoder_kernel.branch_process import BranchProcess
from exploracoder_kernel.errors import BranchNotFound
from exploracoder_kernel.pickled_variables import PickledVariables
from exploracoder_kernel.presentation import CellRequest
from exploracoder_kernel.run_limits import Limits
from exploracoder_kernel.sidecar_answers import BranchInfo, BranchState, Creation

_FIRST_PAUSE = 30.0
_LONGEST_PAUSE = 600.0


@dataclass(frozen=True, slots=True)
class Cell:
    """A snippet that is part of a branch's state, and how it came out.

    With ``variables`` there is no snippet: variables of the user's kernel were loaded instead.
    ``has_front`` means that a front end watched, without which some cells end differently.
    """

    code: str
    limits: Limits
    status: Literal["ok", "error", "limit"]
    variables: PickledVariables | None = None
    request: CellRequest = field(default_factory=CellRequest)
    has_front: bool = False


@dataclass(slots=True)
class Branch:
    """A branch: the cells its state comes from, and the process that holds it, if there is one.

    Attributes:
        is_exact: Whether the cells reproduce all that the process holds. A run that was stopped
            midway leaves something that they don't.
        is_dormant: Whether the process was ended to save memory.
        why_no_forks: Why this state is not forked any more, if a fork of it hung.
        no_forks_until: When a fork is tried again, in seconds of ``time.monotonic``: a machine that
            was too busy to answer in time may not stay so.
        used_at: When a cell was last run in it, in seconds of ``time.monotonic``.
    """

    id: str
    parent: str | None
    created: Creation
    cells: list[Cell] = field(default_factory=list)
    note: str = ""
    goal: str = ""
    process: BranchProcess | None = None
    is_busy: bool = False
    has_died: bool = False
    is_dormant: bool = False
    is_dropped: bool = False
    is_exact: bool = True
    why_no_forks: str = ""
    no_forks_until: float = math.inf
    used_at: float = field(default_factory=time.monotonic)
    own_bytes: int | None = None
    shared_bytes: int | None = None
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    _pause_seconds: float = 0.0

    @property
    def is_live(self) -> bool:
        """Whether a process holds the state now."""
        return self.process is not None and self.process.is_alive

    @property
    def is_unforkable(self) -> bool:
        """Whether it must not be forked for now."""
        return bool(self.why_no_forks) and time.monotonic() < self.no_forks_until

    def note_hung_fork(self, why: str) -> None:
        """Suspend forking because a fork did not answer, for longer each time."""
        self._pause_seconds = min(2 * self._pause_seconds, _LONGEST_PAUSE) or _FIRST_PAUSE
        self.why_no_forks = why
        self.no_forks_until = time.monotonic() + self._pause_seconds

    def info(self) -> BranchInfo:
        """The branch's line in the tree."""
        has_ended = self.process is not None and not self.process.is_alive
        state: BranchState = "busy" if self.is_busy else "idle"
        if not self.is_busy and (self.has_died or has_ended):
            state = "dead"
        elif not self.is_busy and self.is_dormant:
            state = "dormant"
        return BranchInfo(
            id=self.id,
            parent=self.parent,
            cells=len(self.cells),
            state=state,
            created=self.created,
            note=self.note,
            goal=self.goal,
            own_bytes=self.own_bytes,
            shared_bytes=self.shared_bytes,
        )


class Tree:
    """All branches, oldest first."""

    def __init__(self) -> None:
        self._branches: dict[str, Branch] = {}
        self._numbers = itertools.count(1)

    def __iter__(self) -> Iterator[Branch]:
        return iter(tuple(self._branches.values()))

    def find(self, branch_id: str) -> Branch:
        """The branch of this name.

        Raises:
            BranchNotFound: There is none.
        """
        try:
            return self._branches[branch_id]
        except KeyError:
            raise BranchNotFound(branch_id) from None

    def parent_of(self, branch: Branch) -> Branch | None:
        """The branch's parent; None for the root."""
        return self._branches.get(branch.parent or "")

    def siblings_of(self, branch: Branch) -> list[Branch]:
        """The other branches with the same parent."""
        return [b for b in self if b.parent == branch.parent and b is not branch]

    def with_descendants(self, branch: Branch) -> list[Branch]:
        """The branch and all its descendants, parents first."""
        branches = [branch]
        for ancestor in branches:
            branches += [b for b in self if b.parent == ancestor.id]
        return branches

    def nearest_live(self, branch: Branch) -> Branch | None:
        """The idle branch whose cells are the longest prefix of those of ``branch``, if any."""
        able = [
            other
            for other in self
            if other.is_live
            and other.is_exact
            and not (other.is_unforkable or other.lock.locked())
            and _leads_to(other.cells, branch.cells)
        ]
        return max(able, key=lambda other: len(other.cells), default=None)

    def new_id(self) -> str:
        """A name that no branch has had."""
        return f"b{next(self._numbers)}"

    def add(self, branch: Branch, parent: Branch | None = None) -> None:
        """Add a new branch, even if its parent was dropped while it was being made."""
        if parent is not None and parent.id not in self._branches:
            branch.parent = parent.parent
        self._branches[branch.id] = branch

    def remove(self, branch: Branch) -> None:
        """Remove a branch; its children become its parent's."""
        del self._branches[branch.id]
        branch.is_dropped = True
        for child in self:
            if child.parent == branch.id:
                child.parent = branch.parent

    def clear(self) -> None:
        """Drop all branches."""
        for branch in self:
            branch.is_dropped = True
        self._branches.clear()


def _leads_to(start: list[Cell], whole: list[Cell]) -> bool:
    """Whether ``whole`` starts with the very same cells: equal ones may differ in effect."""
    return len(start) <= len(whole) and all(map(operator.is_, start, whole))
