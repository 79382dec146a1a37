"""Which process belongs to which branch.

A branch leads a session of its own, and whatever it starts stays in that session or in one that was
opened from it. Under a supervisor, the reaper learns of each new session before it is opened, so no
process escapes its family, whatever its parents did. Without one, a process that left both its
session and its parents belongs to no branch, and ends with the launch.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from typing import Optional

from . import linux

_MANY_SESSIONS = 64
_SHARE_OF_TIME = 20  # repeated questions must not keep the reaper busy


class Families:
    """The branches of one reaper, by the pids of their first processes."""

    def __init__(self, root: int) -> None:
        self.root = root
        self._sessions = {root: root}
        self._branches = {root}
        self._prune_at = _MANY_SESSIONS
        self._were_empty: set[int] = set()
        self._groups: dict[int, int] = {}
        self._look_again_at = 0.0
        self._forks: set[int] = set()

    def __contains__(self, branch: int) -> bool:
        return branch in self._branches

    def __iter__(self) -> Iterator[int]:
        return iter(tuple(self._branches))

    def add(self, branch: int, parent: int) -> bool:
        """Register a branch that was forked from another.

        Returns:
            False if the process does not come from ``parent``, or has ended: the caller was given
            a wrong pid.
        """
        if branch in self._branches or parent not in self._branches:
            return False
        if linux.has_process_table() and not self._is_child(branch, parent):
            return False
        self._branches.add(branch)
        self._sessions[branch] = branch
        if parent in self._forks:
            self._forks.remove(parent)
            self._forks.add(branch)
        return True

    def expect_fork(self, parent: int) -> None:
        """Note that a branch is about to be asked for a fork, which will want a private folder."""
        if parent in self._branches:
            self._forks.add(parent)

    def take_fork(self, caller: int) -> bool:
        """Whether a process may be a fork that is expected; each is taken only once."""
        branch = self.of(caller)
        is_expected = branch in self._forks
        self._forks -= {branch} if branch is not None else set()
        return is_expected

    def forget(self, branch: int) -> None:
        """Drop a branch whose processes have ended."""
        self._branches.discard(branch)
        self._forks.discard(branch)
        self._sessions = {s: owner for s, owner in self._sessions.items() if owner != branch}

    def open_session(self, pid: int, branch: int) -> None:
        """Note that ``pid``, of ``branch``, is about to lead a new session."""
        self._sessions[pid] = branch
        if len(self._sessions) > self._prune_at:
            self._prune()
            self._prune_at = 2 * len(self._sessions) + _MANY_SESSIONS

    def of(self, pid: int) -> Optional[int]:
        """The branch of a process or thread; None if it is not ours, or is gone."""
        here = os.getpid()
        while pid > 1 and pid != here:
            if pid in self._branches:
                return pid
            process = linux.read_process(pid, even_ended=True)
            if process is None:
                return None
            if process.session in self._sessions:
                return self._sessions[process.session]
            pid = process.parent
        return None

    def of_group(self, group: int) -> Optional[int]:
        """The branch of a process group, whose members are all in one session."""
        leader = linux.read_process(group, even_ended=True)
        if leader is not None and leader.group == group:
            return self.of(group)
        if not _exists(group):
            return None
        if time.monotonic() >= self._look_again_at:
            start = time.monotonic()
            self._groups = {
                process.group: branch
                for branch, family in self.members().items()
                for process in family
            }
            end = time.monotonic()
            self._look_again_at = end + _SHARE_OF_TIME * (end - start)
        return self._groups.get(group)

    def members(self) -> dict[int, list[linux.Process]]:
        """The live processes of every branch, in one walk through the tree."""
        families: dict[int, list[linux.Process]] = {branch: [] for branch in self._branches}
        queue: list[tuple[int, Optional[int]]] = [(os.getpid(), None)]
        while queue:
            parent, parent_branch = queue.pop()
            for pid in linux.children(parent):
                process = linux.read_process(pid)
                branch = parent_branch
                if process is not None:
                    branch = self._branch_at(process, parent_branch)
                    if branch in families:
                        families[branch].append(process)
                queue.append((pid, branch))
        return families

    def _branch_at(self, process: linux.Process, parent_branch: Optional[int]) -> Optional[int]:
        if process.pid in self._branches:
            return process.pid
        return self._sessions.get(process.session, parent_branch)

    def has_company(self, branch: int) -> bool:
        """Whether a branch has more than one thread or process; a quick check."""
        process = linux.read_process(branch)
        if process is None:
            return False
        sessions = [owner for owner in self._sessions.values() if owner == branch]
        is_alone = process.threads == 1 and not linux.children(branch) and len(sessions) == 1
        return not is_alone and (process.threads > 1 or len(self.members_of(branch)) > 1)

    def members_of(self, branch: int) -> list[int]:
        """The pids of a branch's live processes."""
        return [process.pid for process in self.members().get(branch, [])]

    def _is_child(self, pid: int, branch: int) -> bool:
        """Whether a process descends from the reaper and, as far as known, was of ``branch``."""
        if pid == os.getpid() or self.of(pid) not in (None, branch):
            return False
        while pid > 1 and pid != os.getpid():
            process = linux.read_process(pid, even_ended=True)
            if process is None:
                return False
            pid = process.parent
        return pid == os.getpid()

    def _prune(self) -> None:
        """Forget sessions that were found empty twice in a row and that nobody is about to open."""
        alive = {p.session for family in self.members().values() for p in family}
        empty = {
            session
            for session in set(self._sessions) - alive - self._branches
            if linux.read_process(session) is None
        }
        for session in empty & self._were_empty:
            del self._sessions[session]
        self._were_empty = empty


def _exists(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True
