"""What a process uses, as the system tells."""

from __future__ import annotations

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
