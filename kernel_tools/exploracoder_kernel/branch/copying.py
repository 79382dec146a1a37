"""Copies a branch's private files for a fork of it, within bounds and following no links.

Every name is looked up relative to an open folder, since the tree's owner may rename things in it
meanwhile.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
from collections.abc import Iterator

MOST_BYTES = 256 * 2**20
MOST_FILES = 20_000
_MOST_DEEP = 100
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_WRITE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


def copy(source: int, target: str) -> int:
    """Copy the contents of a folder into another, links as links.

    Pipes and sockets belong to their creators and are not copied.

    Args:
        source: A descriptor of the folder.
        target: The other folder's path; created if missing.

    Returns:
        How many files were left out because there are too many or they are too large in total.
    """
    os.makedirs(target, exist_ok=True)
    room = _Room()
    with opened(target) as here:
        _copy_folder(source, here, room, depth=0)
    return room.left_out


class _Room:
    """What may still be copied."""

    def __init__(self) -> None:
        self._bytes = MOST_BYTES
        self._files = MOST_FILES
        self.left_out = 0

    def takes(self, size: int) -> bool:
        """Whether a file of ``size`` bytes still fits; counts it in either case."""
        fits = self._files > 0 and size <= self._bytes
        if fits:
            self._files -= 1
            self._bytes -= size
        else:
            self.left_out += 1
        return fits


@contextlib.contextmanager
def opened(name: str, parent: int | None = None) -> Iterator[int]:
    """Open a folder, which must not be a link, by its path or its name in an open folder.

    Raises:
        OSError: It is not a folder, or may not be opened.
    """
    descriptor = os.open(name, _FOLDER, dir_fd=parent)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _copy_folder(source: int, target: int, room: _Room, depth: int) -> None:
    for name in os.listdir(source):
        with contextlib.suppress(OSError):
            status = os.stat(name, dir_fd=source, follow_symlinks=False)
            kind = stat.S_IFMT(status.st_mode)
            if kind == stat.S_IFLNK and room.takes(0):
                os.symlink(os.readlink(name, dir_fd=source), name, dir_fd=target)
            elif kind == stat.S_IFDIR and depth < _MOST_DEEP and room.takes(0):
                with contextlib.suppress(FileExistsError):
                    os.mkdir(name, dir_fd=target)
                with opened(name, source) as there, opened(name, target) as here:
                    _copy_folder(there, here, room, depth + 1)
            elif kind == stat.S_IFREG and room.takes(status.st_size):
                _copy_file(name, source, target)


def _copy_file(name: str, source: int, target: int) -> None:
    with os.fdopen(os.open(name, _READ, dir_fd=source), "rb") as original:
        status = os.fstat(original.fileno())
        if not stat.S_ISREG(status.st_mode):
            return
        mode = stat.S_IMODE(status.st_mode)
        with os.fdopen(os.open(name, _WRITE, mode, dir_fd=target), "wb") as duplicate:
            shutil.copyfileobj(original, duplicate)
            duplicate.flush()
            os.utime(duplicate.fileno(), ns=(status.st_atime_ns, status.st_mtime_ns))
