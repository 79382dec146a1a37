"""The scratch folder of a launch: made by the owner, removed by the owner or by the next one."""

from __future__ import annotations

import contextlib
import functools
import os
import tempfile
from pathlib import Path
from typing import BinaryIO

from exploracoder_kernel.removal import remove_tree

_PREFIX = "exploracoder-"
_OWNER = "owner"


class Scratch:
    """A private folder. Its owner holds a lock beside it, which ends with the owner's process.

    Attributes:
        folder: What the processes of the launch may write to.
        handle: That folder, opened before any of them ran, so that renaming misleads nobody.
    """

    def __init__(self, base: Path, lock: BinaryIO) -> None:
        self.folder = base / "scratch"
        self.handle = os.open(self.folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        self._base = base
        self._lock = lock

    @classmethod
    def create(cls) -> Scratch:
        """Create a private folder inside the user's folder for temporary files.

        Raises:
            OSError: It can't be made: no space, no permission.
        """
        base = Path(tempfile.mkdtemp(prefix=_PREFIX)).resolve()
        lock = (base / ".owner").open("xb", buffering=0)
        _lock(lock.fileno())
        # Renamed only once it is locked, so that nobody mistakes it for one that was left behind.
        (base / ".owner").rename(base / _OWNER)
        (base / "scratch").mkdir(0o700)
        return cls(base, lock)

    def remove(self) -> None:
        """Remove it with all its contents; calling this again does nothing."""
        if self._lock.closed:
            return
        os.close(self.handle)
        remove_tree(self._base)
        self._lock.close()


@functools.cache
def sweep() -> None:
    """Remove the scratch folders whose owners were killed; once per process."""
    for base in Path(tempfile.gettempdir()).resolve().glob(f"{_PREFIX}*"):
        with contextlib.suppress(OSError):
            if base.is_symlink() or base.stat().st_uid != os.geteuid():
                continue
            _remove_if_left(base)


def _remove_if_left(base: Path) -> None:
    lock = os.open(base / _OWNER, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
    try:
        _lock(lock)
        remove_tree(base)
    finally:
        os.close(lock)


def _lock(descriptor: int) -> None:
    """Lock, or raise OSError if somebody else has; it is released whenever the process ends."""
    import fcntl  # Windows has none, and no sidecar; but it can import this

    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
