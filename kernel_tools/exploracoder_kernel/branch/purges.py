"""Kills everything that a branch has started, so that nothing escapes.

A fork that was allowed just before its process was killed is seen only a moment later. So a branch
being purged may start nothing, and is checked until it has been empty for a while.
"""

from __future__ import annotations

import signal
import time
from collections.abc import Callable
from typing import Optional

from . import linux
from .branch_limits import BranchLimits
from .families import Families

_EVERY_SECONDS = 0.01
_QUIET_LOOKS = 2
_PATIENCE_SECONDS = 5.0


class _Purge:
    """A purge in progress: leaves ``survivor`` alive, and calls back when all others are gone."""

    def __init__(self, survivor: Optional[int], callbacks: list[Callable[[], None]]) -> None:
        self.survivor = survivor
        self.callbacks = callbacks
        self.is_new = True
        self.quiet = 0
        self.deadline = time.monotonic() + _PATIENCE_SECONDS

    def is_over(self) -> bool:
        """Whether nobody is left, or somebody can't be killed in time."""
        return self.quiet > _QUIET_LOOKS or time.monotonic() > self.deadline


class Purges:
    """The purges of one reaper, by branch. None of them blocks it."""

    def __init__(self, families: Families, limits: BranchLimits) -> None:
        self._families = families
        self._limits = limits
        self._purges: dict[int, _Purge] = {}
        self._next = 0.0

    def __contains__(self, branch: int) -> bool:
        return branch in self._purges

    def begin(
        self, branch: int, callback: Callable[[], None], *, survivor: Optional[int] = None
    ) -> None:
        """Kill a branch's processes now and any that turn up later, then call ``callback``.

        Joins a purge of the branch that is in progress; only what both would spare is spared.
        """
        before = self._purges.get(branch)
        if before is None:
            self._purges[branch] = _Purge(survivor, [callback])
        else:
            self._purges[branch] = _Purge(
                before.survivor and survivor, [*before.callbacks, callback]
            )
        self._limits.frozen_branches.add(branch)
        self._step(branch)

    def seconds_to_next_look(self) -> Optional[float]:
        """How long the reaper may sleep; None if there are no purges."""
        return max(0.0, self._next - time.monotonic()) if self._purges else None

    def go_on(self) -> None:
        """Look again if it is time to."""
        if self._purges and time.monotonic() >= self._next:
            for branch in tuple(self._purges):
                self._step(branch)

    def _step(self, branch: int) -> None:
        purge = self._purges[branch]
        pids = self._kill(branch, purge.survivor)
        purge.quiet = 0 if pids else purge.quiet + 1
        self._next = time.monotonic() + _EVERY_SECONDS
        if purge.is_over() or self._was_alone(branch, pids, is_first=purge.is_new):
            del self._purges[branch]
            self._limits.frozen_branches.discard(branch)
            for callback in purge.callbacks:
                callback()
        purge.is_new = False

    def _was_alone(self, branch: int, pids: list[int], *, is_first: bool) -> bool:
        """Whether no second look is needed. Without a supervisor, what is seen has to suffice."""
        if self._limits.is_supervised:
            return self._limits.is_alone(branch)
        return is_first and not set(pids) - {branch}

    def _kill(self, branch: int, survivor: Optional[int]) -> list[int]:
        if self._limits.is_alone(branch):
            if branch != survivor:
                linux.send_signal(branch, signal.SIGKILL)
            return []
        return linux.kill_all(
            lambda: [pid for pid in self._families.members_of(branch) if pid != survivor]
        )
