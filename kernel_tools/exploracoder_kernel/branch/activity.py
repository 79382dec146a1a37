"""Whether a branch computes or waits, as far as the system tells the keeper."""

from __future__ import annotations

import os
import platform
from typing import Any

_FUTEX_WAITV = 449
_FUTEX = {"x86_64": 202, "aarch64": 98, "armv7l": 240, "i686": 240, "riscv64": 98}


def look(branch: int, members: list[int]) -> dict[str, Any]:
    """How much processor time a branch has used by now, and what its threads wait for.

    Returns:
        ``ticks`` of the branch's first process and ``members`` together, and ``waits_for``:
        ``locks`` when all threads of the first process do, ``unknown`` when the system does not
        say, else ``other``.
    """
    ticks = sum(map(_ticks, {branch, *members}))
    return {"ticks": ticks, "waits_for": _waits_for(branch)}


def _ticks(pid: int) -> int:
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            fields = file.read().rpartition(b")")[2].split()
        return int(fields[11]) + int(fields[12])
    except (OSError, ValueError, IndexError):
        return 0


def _waits_for(pid: int) -> str:
    try:
        threads = os.listdir(f"/proc/{pid}/task")
    except OSError:
        return "unknown"
    kinds = {_thread_waits_for(f"/proc/{pid}/task/{thread}") for thread in threads}
    if kinds == {"locks"}:
        return "locks"
    return "other" if "other" in kinds or not kinds else "unknown"


def _thread_waits_for(folder: str) -> str:
    try:
        with open(f"{folder}/syscall", "rb") as file:
            call = file.read().split()[0]
        numbers = (_FUTEX.get(platform.machine()), _FUTEX_WAITV)
        return "locks" if call.isdigit() and int(call) in numbers else "other"
    except (OSError, IndexError):
        return _function_says(folder)


def _function_says(folder: str) -> str:
    """The kernel's function that a thread sleeps in, which may be told where its call is not."""
    try:
        with open(f"{folder}/wchan", "rb") as file:
            function = file.read()
    except OSError:
        return "unknown"
    if function in (b"", b"0"):
        return "unknown"
    return "locks" if b"futex" in function else "other"
