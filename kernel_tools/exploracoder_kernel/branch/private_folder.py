"""A branch's private folders in a sandbox: its home, temporary files, and working folder.

What a snippet writes there stays apart from the files of the user and of other branches. The
working folder has links to the task's files. A fork gets a copy of its parent's folders.
"""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
from typing import Any, Optional

from . import copying, descriptors, landlock, private_mount

_NOTE = (
    "{} files of the branch's own were not copied into this fork of it: it gets at most"
    f" {copying.MOST_FILES} files and {copying.MOST_BYTES // 2**20} MB.\n"
)


class PrivateFolder:
    """The parts of a private folder: ``home``, ``tmp`` and ``work`` below ``path``."""

    def __init__(self, task: str, path: str) -> None:
        self._task = task
        self.path = path
        self._link_names: set[str] = set()
        self._seen_at = 0
        self._note = ""

    @property
    def work(self) -> str:
        """The working folder."""
        return os.path.join(self.path, "work")

    def make(self) -> None:
        """Create the working folder, with a link to each of the task's files and folders."""
        os.makedirs(self.work, exist_ok=True)
        self._link_names.clear()
        self._link()

    def _link(self) -> None:
        """Link new entries of the task's folder; a link that a snippet removed stays removed."""
        self._seen_at = os.stat(self._task).st_mtime_ns
        for name in os.listdir(self._task):
            if name not in self._link_names:
                self._link_names.add(name)
                with contextlib.suppress(OSError):
                    os.symlink(os.path.join(self._task, name), os.path.join(self.work, name))

    def follow(self) -> None:
        """In a fork: move from the parent's folder to a copy of it that no other branch sees.

        Raises:
            OSError: The system refused. The fork must then not run anything.
        """
        open_files = descriptors.below(self.path)
        place, before = _place_in(self.path), self.path
        left_out = self._renew()
        self._note = _NOTE.format(left_out) if left_out else ""
        descriptors.move(open_files, before, self.path)
        for folder in (os.path.join(self.path, place), self.work):
            with contextlib.suppress(OSError):
                os.chdir(folder)
                return

    def _renew(self) -> int:
        raise NotImplementedError

    def restore(self) -> None:
        """Before a cell: recreate the folder if it is gone, and link the task's new entries."""
        with contextlib.suppress(OSError):
            if not _is_there():
                self.make()
                os.chdir(self.work)
            elif os.stat(self._task).st_mtime_ns != self._seen_at:
                self._link()
        note, self._note = self._note, ""
        if note and sys.stderr is not None:
            sys.stderr.write(note)


class MountedFolder(PrivateFolder):
    """A folder in memory, at the same path in every branch: each sees its own."""

    def __init__(self, task: str, mount: private_mount.PrivateMount) -> None:
        super().__init__(task, mount.path)
        self._mount = mount

    def _renew(self) -> int:
        with copying.opened(self.path) as parents:
            private_mount.take_own_namespace()
            private_mount.ask()
            left_out = copying.copy(parents, self.path)
        if not landlock.is_used_up():  # if it is, this fork was forced
            landlock.keep_apart()
        return left_out


class NestedFolder(PrivateFolder):
    """A folder on disk, inside the parent branch's folder, which a fork has no right to leave."""

    def __init__(self, task: str, path: str, rights: dict[str, Any]) -> None:
        super().__init__(task, path)
        self._rights = rights

    def confine(self) -> None:
        """Give up all rights but the given ones and those on this folder.

        Raises:
            OSError: The kernel refused.
        """
        landlock.restrict({**self._rights, "write": [*self._rights["write"], self.path]})

    def enter(self, environment: Any) -> None:
        """Point programs to this folder's ``home`` and ``tmp``."""
        environment["HOME"] = os.path.join(self.path, "home")
        environment["TMPDIR"] = os.path.join(self.path, "tmp")

    def _renew(self) -> int:
        parent = self.path
        self.path = os.path.join(parent, "forks", str(os.getpid()))
        # A shorter list of readable paths will do: forks are confined to what the root may read.
        rights = self._rights
        self._rights = {**rights, "read": rights.pop("read_in_forks", rights["read"]), "list": []}
        left_out = 0
        forks = os.path.dirname(self.path)
        os.makedirs(forks, exist_ok=True)
        os.mkdir(self.path)  # must not exist: whoever made it before us did not mean well
        for part in ("home", "tmp", "work"):
            with copying.opened(os.path.join(parent, part)) as parents:
                left_out += copying.copy(parents, os.path.join(self.path, part))
            self._rights["read"].append(os.path.join(parent, part))
        self.enter(os.environ)
        tempfile.tempdir = None
        self.confine()
        return left_out


# One per process, like the current folder; None if snippets work in the user's own folder.
_current: Optional[PrivateFolder] = None


def enter(setup: dict[str, Any]) -> None:
    """Make the root branch's folder the current one.

    Args:
        setup: ``task``, and ``folder`` with ``path`` and ``is_mounted``, or None.
    """
    global _current
    folder = setup["folder"]
    if folder is None:
        return
    if folder["is_mounted"]:
        _current = MountedFolder(setup["task"], private_mount.described(folder))
    else:
        _current = NestedFolder(setup["task"], folder["path"], setup["landlock"])
    with contextlib.suppress(OSError):
        _current.make()
    os.chdir(_current.work)


def follow() -> None:
    """In a fork: see ``PrivateFolder.follow``."""
    if _current is not None:
        _current.follow()


def restore() -> None:
    """Before a cell: see ``PrivateFolder.restore``."""
    if _current is not None:
        _current.restore()


def memory_bytes() -> int:
    """How much of the machine's memory this branch's files take."""
    if not isinstance(_current, MountedFolder):
        return 0
    now = os.statvfs(_current.path)
    return (now.f_blocks - now.f_bfree) * now.f_frsize


def _is_there() -> bool:
    """Whether the current folder still exists."""
    try:
        os.getcwd()
    except OSError:
        return False
    return True


def _place_in(folder: str) -> str:
    """The current folder's place in ``folder``, or ``work`` if it is gone.

    If it is outside, its whole path: what is at ``/dev/shm`` is renewed as well.
    """
    try:
        current = os.getcwd()
    except OSError:
        return "work"
    place = os.path.relpath(current, folder)
    return current if place == ".." or place.startswith("../") else place
