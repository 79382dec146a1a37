"""How much memory this process holds, and how much of it is its own."""

from __future__ import annotations

import os
from typing import Any

from . import linux, private_folder


def answer(_request: Any = None) -> dict[str, Any]:
    """``{"own": ..., "shared": ...}`` in bytes: pages that only this process maps, and all others.

    A fork shares all pages with its parent until either writes to them; it has files of its own.
    """
    try:
        sizes = linux.amounts("self/smaps_rollup", b"Private_", b"Swap:", b"Shared_")
    except (OSError, ValueError):
        own_bytes, shared_bytes = resident_bytes(), 0
    else:
        shared_bytes = sum(sizes[name] for name in sizes if name.startswith(b"Shared_"))
        own_bytes = sum(sizes.values()) - shared_bytes
    return {"own": own_bytes + private_folder.memory_bytes(), "shared": shared_bytes}


def resident_bytes() -> int:
    """All resident pages, shared or not, which is quick to read; 0 if the system can't tell."""
    try:
        with open("/proc/self/statm", "rb") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return 0
