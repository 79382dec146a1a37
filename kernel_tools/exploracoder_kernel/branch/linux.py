"""What only the operating system can tell or do: process trees, memory, dying with the parent.

Without ``/proc`` or ``prctl``, queries return nothing and requests do nothing.
"""

from __future__ import annotations

import contextlib
import functools
import os
import signal
import time
from collections.abc import Callable, Iterator
from typing import NamedTuple, Optional

_PR_SET_PDEATHSIG = 1
_PR_SET_DUMPABLE = 4
_PR_SET_CHILD_SUBREAPER = 36
# The cgroups of this process, and where their limits are: by controller, a folder and a file's
# name. Version 2 names no controller.
CGROUPS = "/proc/self/cgroup"
MEMORY_LIMITS = {
    "": ("/sys/fs/cgroup", "memory.max"),
    "memory": ("/sys/fs/cgroup/memory", "memory.limit_in_bytes"),
}


class Process(NamedTuple):
    """A line of the process table."""

    pid: int
    parent: int
    group: int
    session: int
    threads: int


def prctl(option: int, value: int) -> bool:
    """Call ``prctl``; return whether it succeeded."""
    try:
        from .libc import libc

        return bool(libc().prctl(option, value, 0, 0, 0) >= 0)
    except (ImportError, OSError, AttributeError):
        return False


def adopt_orphans() -> bool:
    """Make this process the parent of every descendant whose own parent ends."""
    return prctl(_PR_SET_CHILD_SUBREAPER, 1)


def hide_memory() -> bool:
    """Hide this process's memory, descriptors and environment from the user's other processes.

    Forks inherit this; a new program starts without it.
    """
    return prctl(_PR_SET_DUMPABLE, 0)


def offer_to_be_killed_first() -> None:
    """Have the system kill this process before the owner's when memory runs out."""
    with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w") as file:
        file.write("1000")


def die_with_parent(parent: int) -> None:
    """Ask for SIGKILL when ``parent`` ends, once this process has become its child."""
    for _attempt in range(1000):
        if os.getppid() == parent:
            prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
            return
        time.sleep(0.0002)


def has_process_table() -> bool:
    """Whether the system lists its processes in ``/proc``."""
    return os.path.isdir("/proc/self/task")


def processes() -> list[Process]:
    """All processes that are alive (zombies are not), from ``/proc``."""
    try:
        pids = [int(name) for name in os.listdir("/proc") if name.isdigit()]
    except OSError:
        return []
    return [process for process in map(read_process, pids) if process is not None]


def read_process(pid: int, *, even_ended: bool = False) -> Optional[Process]:
    """A process, by its pid or a thread's; None if it is gone or, by default, has ended."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            fields = file.read().rpartition(b")")[2].split()
    except OSError:
        return None
    if not fields or (fields[0] in (b"Z", b"X") and not even_ended):
        return None
    parent, group, session = (int(number) for number in fields[1:4])
    return Process(pid, parent, group, session, threads=int(fields[17]))


def process_of_thread(thread: int) -> int:
    """The pid of the thread's process; ``thread`` itself if it is gone."""
    with contextlib.suppress(OSError), open(f"/proc/{thread}/status", "rb") as file:
        for line in file:
            if line.startswith(b"Tgid:"):
                return int(line.split()[1])
    return thread


@functools.lru_cache(maxsize=None)
def _tells_children() -> bool:
    return os.path.exists(f"/proc/self/task/{os.getpid()}/children")


def children(pid: int) -> list[int]:
    """The children of a process's threads; from the process table if the kernel keeps no lists."""
    if not _tells_children():
        return [process.pid for process in processes() if process.parent == pid]
    pids: list[int] = []
    with contextlib.suppress(OSError):
        for task in os.listdir(f"/proc/{pid}/task"):
            with contextlib.suppress(OSError), open(f"/proc/{pid}/task/{task}/children") as file:
                pids += [int(word) for word in file.read().split()]
    return pids


def descendants(roots: list[int]) -> list[int]:
    """All live descendants of ``roots``, not including the roots themselves."""
    pids: list[int] = []
    queue = list(roots)
    while queue:
        below = children(queue.pop())
        pids += below
        queue += below
    return [pid for pid in pids if read_process(pid) is not None]


def kill_all(members: Callable[[], list[int]]) -> list[int]:
    """SIGKILL the processes that ``members`` lists, all stopped first so that none escapes.

    ``members`` is called until it lists no new ones: one may have forked just before it stopped.

    Returns:
        The pids of those killed.
    """
    pids: list[int] = []
    while True:
        newcomers = [pid for pid in members() if pid not in pids]
        if not newcomers:
            break
        for pid in newcomers:
            send_signal(pid, signal.SIGSTOP)
        pids += newcomers
    for pid in pids:
        send_signal(pid, signal.SIGKILL)
    return pids


def kill_family(root: int) -> None:
    """SIGKILL ``root``, its group, and all its descendants."""
    kill_all(lambda: [pid for pid in (root, *descendants([root])) if read_process(pid)])
    with contextlib.suppress(OSError):
        os.killpg(root, signal.SIGKILL)


def kill_descendants() -> None:
    """SIGKILL all descendants of this process, repeatedly until none is left."""
    for _round in range(500):
        members = descendants([os.getpid()])
        if not members:
            return
        for pid in members:
            send_signal(pid, signal.SIGKILL)
        reap()
        time.sleep(0.001)


def reap() -> list[tuple[int, int]]:
    """Collect the children that have ended: (pid, wait status) of each."""
    ends: list[tuple[int, int]] = []
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return ends
        if pid == 0:
            return ends
        ends.append((pid, status))


def amounts(file: str, *kinds: bytes) -> dict[bytes, int]:
    """The amounts in a file of ``/proc``, in bytes, on lines that start with one of ``kinds``.

    Other lines are not parsed, since one of them has a name that the process chose itself.

    Raises:
        OSError, ValueError: There is no such file, or its format is different.
    """
    with open(f"/proc/{file}", "rb") as lines:
        parts = [line.split(b":", 1) for line in lines if line.startswith(kinds)]
    return {name: int(amount.split()[0]) * 1024 for name, amount in parts}


def resident_bytes(pid: int) -> int:
    """Memory that a process uses, alone or shared with forks, without files; 0 if it is gone."""
    try:
        sizes = amounts(f"{pid}/status", b"Rss")
        return sizes[b"RssAnon"] + sizes[b"RssShmem"]
    except (OSError, ValueError, KeyError):
        return 0


def fair_bytes(pid: int) -> Optional[int]:
    """A process's memory, with its proportion of what is shared (PSS); None if not available."""
    try:
        sizes = amounts(f"{pid}/smaps_rollup", b"Pss")
        return sizes[b"Pss_Anon"] + sizes[b"Pss_Shmem"] if b"Pss_Anon" in sizes else sizes[b"Pss"]
    except (OSError, ValueError, KeyError):
        return None


def send_signal(pid: int, number: int) -> None:
    """Send a signal; do nothing if the process has ended."""
    with contextlib.suppress(OSError):
        os.kill(pid, number)


def machine_memory() -> int:
    """The machine's memory, or a container's or cgroup's limit if that is lower, in bytes."""
    sizes = [os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")]
    for path in _memory_limits():
        with contextlib.suppress(OSError, ValueError), open(path, "rb") as file:
            sizes.append(int(file.read()))
    return min(sizes)


def _memory_limits() -> Iterator[str]:
    """The files that may hold a limit: those of this process's cgroups and of all above them."""
    try:
        # A cgroup's name may have any character but the newline.
        with open(CGROUPS, errors="surrogateescape", newline="\n") as file:
            lines = [line.rstrip("\n") for line in file]
    except OSError:
        return
    for line in lines:
        _number, controllers, cgroup = line.split(":", 2)
        for name in MEMORY_LIMITS.keys() & controllers.split(","):
            top, file_name = MEMORY_LIMITS[name]
            while cgroup.strip("/"):
                yield f"{top}{cgroup}/{file_name}"
                cgroup = os.path.dirname(cgroup)
            yield f"{top}/{file_name}"
