"""Removes a folder that was filled by code we don't trust."""

from __future__ import annotations

import contextlib
import itertools
import os
import stat
from collections.abc import Iterator
from pathlib import Path

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def remove_tree(folder: Path | str, parent: int | None = None) -> None:
    """Remove a folder with all its contents, as far as possible; links are not followed.

    Folders may be nested deeper than a path may be long, or lack permissions, so each is moved to
    the top and emptied there. Nothing outside is touched even if somebody moves things around
    meanwhile: every name is looked up in an open folder.

    Args:
        folder: Its path, or its name in ``parent``.
        parent: An open folder.
    """
    with contextlib.suppress(OSError):
        with opened(folder, parent) as top:
            _empty(top)
        os.rmdir(folder, dir_fd=parent)


def _empty(top: int) -> None:
    numbers = itertools.count()
    stack = _clear(top, top, numbers)
    while stack:
        name = stack.pop()
        with contextlib.suppress(OSError), opened(name, top) as folder:
            stack += _clear(folder, top, numbers)
        with contextlib.suppress(OSError):
            os.rmdir(name, dir_fd=top)


def _clear(folder: int, top: int, numbers: Iterator[int]) -> list[str]:
    """Remove a folder's files and move its subfolders to the top; return their names there."""
    names = []
    for name in os.listdir(folder):
        with contextlib.suppress(OSError):
            if not stat.S_ISDIR(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode):
                os.unlink(name, dir_fd=folder)
                continue
            there = f".removed-{os.getpid()}-{next(numbers)}"
            _allow(name, folder)
            os.rename(name, there, src_dir_fd=folder, dst_dir_fd=top)
            names.append(there)
    return names


@contextlib.contextmanager
def opened(name: Path | str, parent: int | None) -> Iterator[int]:
    """Open a folder that is not a link, by its name in another open folder.

    Raises:
        OSError: There is no such folder.
    """
    folder = os.open(name, _FOLDER, dir_fd=parent)
    try:
        yield folder
    finally:
        os.close(folder)


def _allow(name: str, parent: int) -> None:
    """Give ourselves permission to empty and move a folder."""
    if not hasattr(os, "O_PATH"):
        return
    place = os.open(name, os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=parent)
    try:
        Path(f"/proc/self/fd/{place}").chmod(0o700)
    finally:
        os.close(place)
