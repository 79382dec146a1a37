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
