"""How much memory this process holds, and how much of it is its own."""

from __future__ import annotations

import os
from typing import Any

from . import private_folder

_KIB = 1024


def answer(_request: Any = None) -> dict[str, Any]:
    """``{"own": ..., "shared": ...}`` in bytes: pages that only this process maps, and the others.

    A fork shares all pages with its parent until either writes to them; it has files of its own.
    """
    try:
        with open("/proc/self/smaps_rollup", "rb") as file:
            held = _sums(file.read())
    except (OSError, ValueError):
        held = {"own": resident_bytes(), "shared": 0}
    return {**held, "own": held["own"] + private_folder.memory_bytes()}


def _sums(rollup: bytes) -> dict[str, Any]:
    own = shared = 0
    for line in rollup.splitlines()[1:]:
        name, _colon, amount = line.partition(b":")
        if name.startswith((b"Private_", b"Swap")) and name != b"SwapPss":
            own += int(amount.split()[0])
        elif name.startswith(b"Shared_"):
            shared += int(amount.split()[0])
    return {"own": own * _KIB, "shared": shared * _KIB}


def resident_bytes() -> int:
    """All pages in memory, whoever else maps them: quick to say. 0 where the system can't."""
    try:
        with open("/proc/self/statm", "rb") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return 0
