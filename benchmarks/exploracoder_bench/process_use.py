"""What a process uses, as the system tells."""

from __future__ import annotations

import contextlib
import ctypes
import os
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Use:
    """Memory and descriptors of a process."""

    resident_mb: float
    descriptors: int


def use_of(pid: int) -> Use:
    """What a process uses now."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    resident = next(int(line.split()[1]) for line in lines if line.startswith("VmRSS:"))
    return Use(resident / 1024, sum(1 for _ in Path(f"/proc/{pid}/fd").iterdir()))


def own_use() -> Use:
    """What this process uses now, without memory that is free and only kept for later.

    The C library keeps some after a peak, at one time more, at another less.
    """
    with contextlib.suppress(OSError, AttributeError):  # only the GNU library can be asked
        ctypes.CDLL(None).malloc_trim(0)
    return use_of(os.getpid())


def descendants(pid: int) -> list[int]:
    """The processes below one, those that have ended and wait for their parent left out."""
    below: dict[int, list[int]] = {}
    for number in (int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit()):
        with contextlib.suppress(OSError, IndexError):
            state, parent = _stat(number)[:2]
            if state != "Z":
                below.setdefault(int(parent), []).append(number)
    found, waiting = [], [pid]
    while waiting:
        children = below.get(waiting.pop(), [])
        found += children
        waiting += children
    return found


def is_stopped(pid: int) -> bool:
    """Whether a process has ended, or somebody has stopped it."""
    try:
        return _stat(pid)[0] in "TtZX"
    except (OSError, IndexError):
        return True


def _stat(pid: int) -> list[str]:
    """The words of ``/proc/PID/stat`` after the name, which may have blanks in it."""
    return Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()
