"""Detects a branch that is stuck: it does not finish, waits for locks and uses no CPU time.

In a fork this points to a lock whose holder was not copied. The owner checks, not the reaper,
which is not allowed to in a sandbox.
"""

from __future__ import annotations

import asyncio
import platform
from pathlib import Path

from exploracoder_kernel.branch.linux import descendants

_BETWEEN_LOOKS_SECONDS = 0.1
_LOOK_EVERY_SECONDS = 5.0
_LOOKS = 3
_PROCESSES = Path("/proc")
_FUTEX_WAITV = 449
_FUTEX = {"x86_64": 202, "i686": 240, "aarch64": 98, "armv7l": 240, "riscv64": 98}


async def waits_for_locks(launch_pid: int, pid: int) -> bool:
    """Whether all threads of a branch and of the processes it started are waiting for locks.

    A thread that uses CPU time during the check is not waiting, nor is the branch if its main
    thread's wait has a limit of time. Other threads often look around from time to time while they
    wait, such as for the interpreter's own lock.

    Args:
        launch_pid: The process that the owner started.
        pid: The branch's process ID as it and its reaper see it; in a sandbox, not the one here.
    """
    branch = _own_number(launch_pid, pid)
    if branch is None:
        return False
    before = _look(branch)
    await asyncio.sleep(_BETWEEN_LOOKS_SECONDS)
    after = _look(branch)
    return bool(after) and before == after and all(locks for _ticks, locks in after.values())


async def until_stuck(launch_pid: int, pid: int, limit_s: float | None) -> None:
    """Return once a branch has waited for locks, and for nothing else, for some time.

    With a time limit, that is half of it: a step that hangs because of a fork is then run once
    more in the other half.
    """
    pause = _LOOK_EVERY_SECONDS
    if limit_s is not None:
        pause = min(pause, max(0.02, limit_s / (2 * _LOOKS) - _BETWEEN_LOOKS_SECONDS))
    looks = 0
    while looks < _LOOKS:
        await asyncio.sleep(pause)
        looks = looks + 1 if await waits_for_locks(launch_pid, pid) else 0


def _own_number(launch_pid: int, pid: int) -> int | None:
    for candidate in descendants([launch_pid]):
        numbers = _read(_PROCESSES / str(candidate) / "status").partition("NSpid:")[2]
        if numbers and numbers.partition("\n")[0].split()[-1] == str(pid):
            return candidate
    return None


def _look(branch: int) -> dict[str, tuple[tuple[str, ...], bool]]:
    """For each thread, the CPU time it has used, in ticks, and whether it waits for a lock."""
    threads = {}
    for pid in (branch, *descendants([branch])):
        for task in (_PROCESSES / str(pid) / "task").glob("*"):
            fields = _read(task / "stat").rpartition(")")[2].split()
            is_main = task.name == str(branch)
            threads[str(task)] = (tuple(fields[11:13]), _is_locked(task, must_be_endless=is_main))
    return threads


def _is_locked(task: Path, *, must_be_endless: bool) -> bool:
    """Judge by the system call, or else by the kernel function it sleeps in, where shown.

    Both calls have their limit of time as the fourth argument; a wait that has one will end.
    """
    call = _read(task / "syscall").split()
    if call:
        numbers = (str(_FUTEX.get(platform.machine())), str(_FUTEX_WAITV))
        return call[0] in numbers and not (must_be_endless and call[4] != "0x0")
    return "futex" in _read(task / "wchan")


def _read(path: Path) -> str:
    try:
        return path.read_text(errors="replace")
    except OSError:
        return ""
