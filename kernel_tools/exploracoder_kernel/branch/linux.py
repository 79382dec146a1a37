"""What only the operating system can say or do: process trees, and dying with one's parent.

Where ``/proc`` or ``prctl`` is missing, the answers are empty and the requests do nothing.
"""

from __future__ import annotations

import contextlib
import os
import signal
import time
from typing import NamedTuple

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36


class Process(NamedTuple):
    """A line of the process table."""

    pid: int
    parent: int
    group: int
    session: int


def _prctl(option: int, value: int) -> bool:
    try:
        import ctypes

        return bool(ctypes.CDLL(None, use_errno=True).prctl(option, value, 0, 0, 0) == 0)
    except (ImportError, OSError, AttributeError):
        return False


def adopt_orphans() -> bool:
    """Make this process the parent of every descendant whose own parent ends."""
    return _prctl(_PR_SET_CHILD_SUBREAPER, 1)


def die_with_parent(parent: int) -> None:
    """Ask for SIGKILL when ``parent`` ends, once this process has become its child."""
    for _attempt in range(1000):
        if os.getppid() == parent:
            _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
            return
        time.sleep(0.0002)


def processes() -> list[Process]:
    """All processes that are alive (zombies are not), from ``/proc``."""
    try:
        pids = [int(name) for name in os.listdir("/proc") if name.isdigit()]
    except OSError:
        return []
    found = []
    for pid in pids:
        try:
            with open(f"/proc/{pid}/stat", "rb") as file:
                state, *numbers = file.read().rpartition(b")")[2].split()[:4]
        except OSError:
            continue
        if state not in (b"Z", b"X"):
            found.append(Process(pid, *(int(number) for number in numbers)))
    return found


def family(root: int) -> list[int]:
    """``root``, the members of its group and session, and all their descendants."""
    table = processes()
    members = {p.pid for p in table if root in (p.pid, p.group, p.session)}
    grew = True
    while grew:
        more = {p.pid for p in table if p.parent in members} - members
        members |= more
        grew = bool(more)
    return sorted(members)


def kill_family(root: int) -> None:
    """SIGKILL ``root``'s family, again until nothing of it is left."""
    _signal_group(root, signal.SIGKILL)
    for _round in range(50):
        members = [pid for pid in family(root) if pid != os.getpid()]
        if not members:
            return
        for pid in members:
            _kill(pid)
        time.sleep(0.001)


def kill_descendants() -> None:
    """SIGKILL everything that descends from this process, again until nothing is left."""
    me = os.getpid()
    for _round in range(200):
        members = [pid for pid in _descendants(me) if pid != me]
        if not members:
            return
        for pid in members:
            _kill(pid)
        reap()
        time.sleep(0.001)


def _descendants(root: int) -> set[int]:
    table = processes()
    members = {root}
    while True:
        more = {p.pid for p in table if p.parent in members} - members
        if not more:
            return members
        members |= more


def reap() -> list[tuple[int, int]]:
    """Collect the children that have ended: (pid, wait status) of each."""
    ended: list[tuple[int, int]] = []
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return ended
        if pid == 0:
            return ended
        ended.append((pid, status))


def _signal_group(group: int, number: int) -> None:
    with contextlib.suppress(OSError):
        os.killpg(group, number)


def _kill(pid: int) -> None:
    with contextlib.suppress(OSError):
        os.kill(pid, signal.SIGKILL)
