"""What only the operating system can say or do: process trees, and dying with one's parent.

Where ``/proc`` or ``prctl`` is missing, the answers are empty and the requests do nothing.
"""

from __future__ import annotations

import contextlib
import os
import signal
import time
from typing import NamedTuple, Optional

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
    return [process for process in map(_process, pids) if process is not None]


def _process(pid: int) -> Optional[Process]:
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            state, *numbers = file.read().rpartition(b")")[2].split()[:4]
    except OSError:
        return None
    return None if state in (b"Z", b"X") else Process(pid, *(int(number) for number in numbers))


def _children(pid: int) -> list[int]:
    """The children of all threads of a process; of the whole table where the kernel keeps none."""
    try:
        tasks = os.listdir(f"/proc/{pid}/task")
        found = []
        for task in tasks:
            with open(f"/proc/{pid}/task/{task}/children", "rb") as file:
                found += [int(word) for word in file.read().split()]
        return found
    except OSError:
        return [process.pid for process in processes() if process.parent == pid]


def descendants(roots: list[int]) -> list[int]:
    """Everything below ``roots`` that is alive, the roots themselves not included."""
    found: list[int] = []
    queue = list(roots)
    while queue:
        below = _children(queue.pop())
        found += below
        queue += below
    return [pid for pid in found if _process(pid) is not None]


def family(root: int) -> list[int]:
    """``root``, the members of its group and session that we adopted, and all their descendants."""
    adopted = [_process(pid) for pid in _children(os.getpid())]
    members = [p.pid for p in adopted if p is not None and root in (p.pid, p.group, p.session)]
    if root not in members and _process(root) is not None:
        members.append(root)
    return members + descendants(members)


def kill_family(root: int) -> None:
    """SIGKILL ``root``'s family. It is stopped first, so that nobody slips out of its tree."""
    found: list[int] = []
    while True:
        newcomers = [pid for pid in family(root) if pid not in found]
        if not newcomers:
            break
        for pid in newcomers:
            _signal(pid, signal.SIGSTOP)
        found += newcomers
    with contextlib.suppress(OSError):
        os.killpg(root, signal.SIGKILL)
    for pid in found:
        _signal(pid, signal.SIGKILL)


def kill_descendants() -> None:
    """SIGKILL everything that descends from this process, again until nothing is left."""
    for _round in range(500):
        members = descendants([os.getpid()])
        if not members:
            return
        for pid in members:
            _signal(pid, signal.SIGKILL)
        reap()
        time.sleep(0.001)


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


def _signal(pid: int, number: int) -> None:
    with contextlib.suppress(OSError):
        os.kill(pid, number)
