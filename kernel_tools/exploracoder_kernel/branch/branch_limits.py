"""Limits on what branches may use: processes, threads, memory.

Under a supervisor, a fork over the limit is refused before it happens. Memory, and processes if
there is no supervisor, are checked periodically; a branch over its limit is killed.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple, Optional

from . import linux
from .families import Families

MOST_PROCESSES = 64
MOST_THREADS = 1024
_OUR_OWN_FORK = 2  # forking a branch briefly takes two more processes
_UNDER_WAY_SECONDS = 0.1
_FULL_SECONDS = 0.01
_EVERY_SECONDS = 0.05
_AT_REST_EVERY_SECONDS = 2.0
_SHARE_OF_TIME = 20

Tell = Callable[[int, str, bool], None]


class Limit(NamedTuple):
    """None stands for no limit."""

    processes: Optional[int] = None
    memory_bytes: Optional[int] = None


class BranchLimits:
    """Counts for the supervisor, and finds branches that use too much.

    Args:
        families: Which process belongs to which branch.
        usual: The limits of a branch unless a run sets its own.
        tell: Called with the branch, the limit's name, and whether the branch is killed over it;
            for refusals, only once per run.
    """

    def __init__(self, families: Families, usual: Limit, tell: Tell) -> None:
        self._families = families
        self._usual = usual
        self.is_supervised = False  # whether ``may_start`` is asked before each fork
        self._tell = tell
        self._runs: dict[int, Limit] = {}
        self._reports: set[tuple[int, str]] = set()
        self._starts_left: dict[tuple[int, bool], int] = {}
        self._grants: dict[tuple[int, int], float] = {}
        self._full_until: dict[tuple[int, bool], float] = {}
        self.frozen_branches: set[int] = set()  # branches that may start nothing
        self._starters: set[int] = set()
        self._next = 0.0

    def start(self, branch: int, limit: Limit) -> None:
        """Start a run, whose limits override the usual ones."""
        processes = limit.processes or self._usual.processes
        self._runs[branch] = Limit(processes, limit.memory_bytes or self._usual.memory_bytes)
        self._forget(branch)
        self._next = min(self._next, time.monotonic() + _EVERY_SECONDS)

    def stop(self, branch: int) -> bool:
        """End the branch's run; return whether it wanted more processes than allowed."""
        wanted_more = (branch, "processes") in self._reports
        self._runs.pop(branch, None)
        self._forget(branch)
        return wanted_more

    def is_alone(self, branch: int) -> bool:
        """Whether the branch is certainly a single process, having never started another."""
        return self.is_supervised and branch not in self._starters

    def forget(self, branch: int) -> None:
        """Drop a branch that has ended."""
        self._starters.discard(branch)
        self.frozen_branches.discard(branch)
        self.stop(branch)

    def may_start(self, branch: int, caller: int, *, is_thread: bool) -> bool:
        """Whether a thread of the branch may start another process or thread.

        Processes are counted only once the room that the last count found is used up, so most forks
        cost no walk through the process table; nor do forks refused in quick succession.
        """
        if branch in self.frozen_branches:
            return False
        key = (branch, is_thread)
        if self._starts_left.get(key, 0) <= 0 and time.monotonic() >= self._full_until.get(
            key, 0.0
        ):
            self._starts_left[key] = self._count_left(branch, caller, is_thread)
        if self._starts_left[key] > 0:
            self._starts_left[key] -= 1
            self._grants[branch, caller] = time.monotonic()
            if not is_thread:
                self._starters.add(branch)
            return True
        self._say(branch, "processes", is_killed=False)
        return False

    def seconds_to_next_look(self) -> Optional[float]:
        """How long the reaper may sleep; None when there is nothing to look after."""
        if not self._runs and self._usual == Limit():
            return None
        return max(0.0, self._next - time.monotonic())

    def look(self) -> list[int]:
        """The branches over a limit now; none before the next look is due."""
        if time.monotonic() < self._next:
            return []
        start = time.monotonic()
        over = [
            branch
            for branch, family in self._families.members().items()
            if self._is_over(branch, family)
        ]
        pause = _EVERY_SECONDS if self._runs else _AT_REST_EVERY_SECONDS
        end = time.monotonic()
        self._next = end + max(pause, _SHARE_OF_TIME * (end - start))
        return over

    def _is_over(self, branch: int, family: list[linux.Process]) -> bool:
        limit = self._runs.get(branch, self._usual)
        # A supervisor refuses forks in time; killing is for when that failed.
        most = self._most(branch, is_thread=False) * (2 if self.is_supervised else 1)
        if limit.processes is not None and len(family) > most:
            self._say(branch, "processes", is_killed=True)
            return True
        if limit.memory_bytes is not None and _uses_more(family, limit.memory_bytes):
            self._say(branch, "memory_bytes", is_killed=True)
            return True
        return False

    def _count_left(self, branch: int, caller: int, is_thread: bool) -> int:
        start = time.monotonic()
        family = self._families.members().get(branch, [])
        usage = sum(process.threads for process in family) if is_thread else len(family)
        room = self._most(branch, is_thread) - usage - self._under_way(branch, caller)
        if room <= 0:
            end = time.monotonic()
            pause = max(_FULL_SECONDS, _SHARE_OF_TIME * (end - start))
            self._full_until[branch, is_thread] = end + pause
        return room

    def _most(self, branch: int, is_thread: bool) -> int:
        if is_thread:
            return MOST_THREADS
        processes = self._runs.get(branch, self._usual).processes or MOST_PROCESSES
        return processes + (0 if branch in self._runs else _OUR_OWN_FORK)

    def _under_way(self, branch: int, caller: int) -> int:
        """How many starts just allowed to other threads of the branch may not be visible yet."""
        since = time.monotonic() - _UNDER_WAY_SECONDS
        self._grants = {who: when for who, when in self._grants.items() if when > since}
        return sum(who[0] == branch and who[1] != caller for who in self._grants)

    def _say(self, branch: int, name: str, *, is_killed: bool) -> None:
        if is_killed or (branch, name) not in self._reports:
            self._reports.add((branch, name))
            self._tell(branch, name, is_killed)

    def _forget(self, branch: int) -> None:
        self._reports = {pair for pair in self._reports if pair[0] != branch}
        for is_thread in (False, True):
            self._starts_left.pop((branch, is_thread), None)
            self._full_until.pop((branch, is_thread), None)


def _uses_more(family: list[linux.Process], most: int) -> bool:
    """Whether the processes together use more than ``most`` bytes.

    Shared memory is first counted once per process, which is quick; only if that is too much is it
    measured exactly. A process that can't be measured counts with what it uses beyond its parent.
    """
    resident = {process.pid: linux.resident_bytes(process.pid) for process in family}
    if sum(resident.values()) <= most:
        return False
    total = 0
    for process in family:
        exact = linux.fair_bytes(process.pid)
        parent_bytes = resident.get(process.parent, 0)
        total += max(0, resident[process.pid] - parent_bytes) if exact is None else exact
    return total > most
