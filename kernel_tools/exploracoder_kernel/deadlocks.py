"""Whether a branch that does not come to an end is stuck: it waits for locks and computes nothing.

In a fork that is the sign of a lock whose holder was not copied. The owner looks, not the reaper:
in a sandbox the latter may not.
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
    """Whether all threads of a branch do, those of the processes that it started included.

    Whatever uses processor time meanwhile waits for nothing.

    Args:
        launch_pid: The process that the owner started.
        pid: The branch's number as it and its reaper see it, in a sandbox another than here.
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

    Under a limit of time that is half of it: what hangs because of a fork is run once more then,
    in the other half.
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
    """Of each thread the processor time that it has had, in ticks; whether it waits for a lock."""
    threads = {}
    for pid in (branch, *descendants([branch])):
        for task in (_PROCESSES / str(pid) / "task").glob("*"):
            fields = _read(task / "stat").rpartition(")")[2].split()
            threads[str(task)] = (tuple(fields[11:13]), _is_locked(task))
    return threads


def _is_locked(task: Path) -> bool:
    """By its system call, or else by the kernel's function that it sleeps in, where it says so."""
    call = _read(task / "syscall").partition(" ")[0].strip()
    if call:
        numbers = (str(_FUTEX.get(platform.machine())), str(_FUTEX_WAITV))
        return call in numbers
    return "futex" in _read(task / "wchan")


def _read(path: Path) -> str:
    try:
        return path.read_text(errors="replace")
    except OSError:
        return ""
