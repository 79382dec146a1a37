"""Room on disk that no name leads to: files that were deleted, and that processes hold open."""

from __future__ import annotations

import contextlib
from collections.abc import Collection
from pathlib import Path

from exploracoder_kernel.branch.linux import descendants, read_process

_DELETED = " (deleted)"


def held_by(launched: int, branches: Collection[int], device: int) -> dict[int, int]:
    """The bytes that each branch holds so; what a process of nobody holds, each is said to hold.

    Args:
        launched: The process that the owner started.
        branches: The first processes of branches, by the numbers that the owner sees.
        device: The file system that counts, as in ``st_dev``.
    """
    held = dict.fromkeys(branches, 0)
    seen: set[int] = set()
    for process in descendants([launched]):
        size = sum(_sizes(process, device, seen))
        for branch in _of(process, branches):
            held[branch] += size
    return held


def _of(process: int, branches: Collection[int]) -> Collection[int]:
    while process > 1 and process not in branches:
        line = read_process(process)
        process = 0 if line is None else line.parent
    return (process,) if process in branches else branches


def _sizes(process: int, device: int, seen: set[int]) -> list[int]:
    """Each file counts once, however many processes hold it."""
    sizes = []
    with contextlib.suppress(OSError):
        for descriptor in Path(f"/proc/{process}/fd").iterdir():
            with contextlib.suppress(OSError):
                if str(descriptor.readlink()).endswith(_DELETED):
                    status = descriptor.stat()
                    if status.st_dev == device and status.st_ino not in seen:
                        seen.add(status.st_ino)
                        sizes.append(512 * status.st_blocks)
    return sizes
