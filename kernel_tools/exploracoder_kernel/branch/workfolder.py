"""The folder that a branch works in, in a sandbox: its own, with links to the task's files.

So what a snippet writes with a relative path is neither the user's nor another branch's to lose.
A fork gets a copy of its parent's folder.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
from typing import Optional

from . import descriptors

_MOST_BYTES = 256 * 2**20
_MOST_FILES = 20_000


class WorkFolder:
    """A private folder below ``scratch/work``."""

    def __init__(self, task: str, scratch: str, name: str) -> None:
        self._task = task
        self._scratch = scratch
        self.path = os.path.join(scratch, "work", name)
        self._linked: set[str] = set()
        self._seen_at = 0
        self._note = ""

    def make(self) -> None:
        """Make it, with a link to each file and folder of the task's."""
        os.makedirs(self.path, exist_ok=True)
        self._linked.clear()
        self._link()

    def _link(self) -> None:
        """Link what is new in the task's folder; a link that a snippet removed stays away."""
        self._seen_at = os.stat(self._task).st_mtime_ns
        for name in os.listdir(self._task):
            if name not in self._linked:
                self._linked.add(name)
                with contextlib.suppress(OSError):
                    os.symlink(os.path.join(self._task, name), os.path.join(self.path, name))

    def copy_for(self, name: str) -> WorkFolder:
        """A copy under another name; what is too much is left out, and a note says so."""
        child = WorkFolder(self._task, self._scratch, name)
        shutil.rmtree(child.path, ignore_errors=True)
        child._linked, child._seen_at = set(self._linked), self._seen_at
        left_out = _copy(self.path, child.path)
        if left_out:
            child._note = (
                f"{left_out} files of the working folder were not copied into this branch: "
                f"it gets at most {_MOST_FILES} files and {_MOST_BYTES // 2**20} MB.\n"
            )
        return child

    def restore(self) -> None:
        """Before a cell: make the folder anew when it has gone, and link what the task has new."""
        with contextlib.suppress(OSError):
            if not _is_there():
                self.make()
                os.chdir(self.path)
            elif os.stat(self._task).st_mtime_ns != self._seen_at:
                self._link()
        note, self._note = self._note, ""
        if note and sys.stderr is not None:
            sys.stderr.write(note)


# One in a process, as the current folder is; None where snippets work in the user's own folder.
_current: Optional[WorkFolder] = None


def enter(task: str, scratch: str) -> None:
    """Make the root branch's folder the current one."""
    global _current
    _current = WorkFolder(task, scratch, "root")
    with contextlib.suppress(OSError):
        _current.make()
    os.chdir(_current.path)


def follow() -> None:
    """In a fork: go from the parent's folder to a copy of it."""
    global _current
    if _current is None:
        return
    try:
        place = os.path.relpath(os.getcwd(), _current.path)
    except OSError:
        place = "."
    _current, parent = _current.copy_for(str(os.getpid())), _current
    descriptors.move_files(parent.path, _current.path)
    if place == ".." or place.startswith("../"):
        return
    for folder in (os.path.join(_current.path, place), _current.path, parent.path):
        with contextlib.suppress(OSError):
            os.chdir(folder)
            return


def restore() -> None:
    """Before a cell: see that there is a current folder."""
    if _current is not None:
        _current.restore()


def _is_there() -> bool:
    """Whether the current folder has not been removed."""
    try:
        os.getcwd()
    except OSError:
        return False
    return True


def _copy(source: str, target: str) -> int:
    """Copy a tree, links as links; the answer is how many files were left out."""
    room, files, left_out = _MOST_BYTES, _MOST_FILES, 0
    waiting = [(source, target)]
    while waiting:
        folder, copy = waiting.pop()
        try:
            os.makedirs(copy, exist_ok=True)
            entries = list(os.scandir(folder))
        except OSError:
            continue
        for entry in entries:
            files -= 1
            size = 0 if entry.is_symlink() else _size(entry)
            if files < 0 or size > room:
                left_out += 1
            elif entry.is_dir(follow_symlinks=False):
                waiting.append((entry.path, os.path.join(copy, entry.name)))
            else:
                room -= size
                left_out += not _copy_entry(entry, os.path.join(copy, entry.name))
    return left_out


def _size(entry: os.DirEntry[str]) -> int:
    with contextlib.suppress(OSError):
        return entry.stat(follow_symlinks=False).st_size
    return 0


def _copy_entry(entry: os.DirEntry[str], copy: str) -> bool:
    """Copy a link or a regular file; pipes and sockets belong to who made them."""
    with contextlib.suppress(OSError):
        if entry.is_symlink():
            _copy_link(entry.path, copy)
        elif entry.is_file(follow_symlinks=False):
            shutil.copy2(entry.path, copy, follow_symlinks=False)
        return True
    return False


def _copy_link(path: str, copy: str) -> None:
    """A second name for the same link, which never changes: much cheaper than another link."""
    try:
        os.link(path, copy, follow_symlinks=False)
    except (OSError, NotImplementedError):
        os.symlink(os.readlink(path), copy)
