"""Resource limits of this process and its descendants, set once and irreversibly."""

from __future__ import annotations

import contextlib
import errno
from collections.abc import Iterator
from typing import Optional

# The limits set for this process and its forks, by the names that an Observation uses.
_limit_names: set[str] = set()
_NAMES = {
    "RLIMIT_FSIZE": "file_bytes",
    "RLIMIT_NOFILE": "open_files",
    "RLIMIT_DATA": "memory_bytes",
    "RLIMIT_NPROC": "processes",
}
_SIGNS = {
    errno.EFBIG: "file_bytes",
    errno.EMFILE: "open_files",
    errno.ENOMEM: "memory_bytes",
    errno.ENOSPC: "scratch_bytes",
}


def apply(limits: dict[str, int]) -> None:
    """Set hard limits by their names in ``resource``, without raising any."""
    import resource

    for name, limit in limits.items():
        number = getattr(resource, name, None)
        if number is None:
            continue
        _soft, hard = resource.getrlimit(number)
        value = limit if hard == resource.RLIM_INFINITY else min(limit, hard)
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(number, (value, value))
            _limit_names.add(_NAMES.get(name, name))


def note(name: str) -> None:
    """Note a limit that holds although it was not set here."""
    _limit_names.add(name)


@contextlib.contextmanager
def in_cell(memory_bytes: Optional[int]) -> Iterator[None]:
    """Lower the limits a little while a cell runs: our own work after it needs files and memory.

    ``memory_bytes`` limits the address space meanwhile.
    """
    import resource

    limits = {resource.RLIMIT_AS: memory_bytes} if memory_bytes else {}
    before = {number: resource.getrlimit(number) for number in limits}
    if _limit_names:
        for number, reserve in ((resource.RLIMIT_NOFILE, 24), (resource.RLIMIT_DATA, 2**26)):
            _soft, hard = resource.getrlimit(number)
            before[number] = (hard, hard)
            if hard > 2 * reserve:
                limits[number] = hard - reserve
    for number, most in limits.items():
        hard = before[number][1]
        soft = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(number, (soft, hard))
    try:
        yield
    finally:
        for number, both in before.items():
            with contextlib.suppress(OSError, ValueError):  # the cell has lowered it for good
                resource.setrlimit(number, both)


def hit_by(error: BaseException, *, has_memory_limit: bool) -> Optional[str]:
    """The limit that an error stems from, if one that could cause it is set."""
    name = "memory_bytes" if isinstance(error, MemoryError) else None
    if isinstance(error, OSError):
        name = _SIGNS.get(error.errno or 0)
    is_set = name in _limit_names or (has_memory_limit and name == "memory_bytes")
    return name if is_set else None
