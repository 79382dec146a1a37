"""In-memory files of limited size that only one branch sees: home, ``tmp``, ``/dev/shm``, work.

A branch takes its own mount namespace, has its parent's files there replaced by an empty mount at
the same paths, and copies those files from the parent's folder, which it still holds open. The
reaper does the mounting, from outside: nobody in a branch may.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
from collections.abc import Iterator
from typing import Any, NamedTuple, Optional

from .libc import checked, libc

_NEW_MOUNTS = 0x00020000
_NO_SUID, _NO_DEVICES, _BIND = 2, 4, 4096
_READ_ONLY, _REMOUNT, _KEPT_FLAGS = 1, 32, 2 | 4 | 8  # kept: nosuid, nodev, noexec
_DETACH = 2
_DEVICES = [f"/dev/{name}" for name in ("null", "zero", "full", "random", "urandom", "tty")]
_SHARED_MEMORY = "/dev/shm"
PARTS = ("home", "tmp", "shm", "work")


class PrivateMount(NamedTuple):
    """A mount's place and capacity.

    Attributes:
        path: The mount point.
        size: The most bytes that it holds.
        files: The most files, folders and links that it holds.
    """

    path: str
    size: int
    files: int

    def renew(self) -> None:
        """Mount it, empty, in this process's mount namespace, in place of what is there.

        Raises:
            OSError: The kernel refused.
        """
        for place in (_SHARED_MEMORY, self.path):
            with contextlib.suppress(OSError):  # the first time nothing is mounted there
                _unmount(place)
        options = f"size={self.size},nr_inodes={self.files},mode=700"
        _mount("tmpfs", self.path, "tmpfs", _NO_SUID | _NO_DEVICES, options)
        for part in PARTS:
            os.mkdir(os.path.join(self.path, part))
        # A link in its place would lead the mount elsewhere, and others may be in this namespace.
        flags = os.O_PATH | os.O_NOFOLLOW | os.O_DIRECTORY | os.O_CLOEXEC
        memory = os.open(os.path.join(self.path, "shm"), flags)
        try:
            _mount(f"/proc/self/fd/{memory}", _SHARED_MEMORY, None, _BIND)
        finally:
            os.close(memory)


def described(folder: dict[str, Any]) -> PrivateMount:
    """The mount that a launch's setup describes."""
    return PrivateMount(folder["path"], folder["size"], folder["files"])


@contextlib.contextmanager
def entered(namespace: int) -> Iterator[None]:
    """Enter another mount namespace, given by a descriptor, for the block.

    Raises:
        OSError: The kernel refused.
    """
    with opened_namespace(os.getpid()) as own:
        checked(libc().setns(namespace, _NEW_MOUNTS), "setns")
        try:
            yield
        finally:
            checked(libc().setns(own, _NEW_MOUNTS), "setns")


@contextlib.contextmanager
def opened_namespace(process: int) -> Iterator[int]:
    """A descriptor of a process's mount namespace.

    Raises:
        OSError: The process has ended, or may not be inspected.
    """
    descriptor = os.open(f"/proc/{process}/ns/mnt", os.O_RDONLY | os.O_CLOEXEC)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def take_own_namespace() -> None:
    """Give this process a mount namespace of its own.

    Raises:
        OSError: The kernel refused.
    """
    checked(libc().unshare(_NEW_MOUNTS), "unshare")


def protect_devices() -> None:
    """Protect the devices' modes and times: in a sandbox, the superuser's devices belong to us.

    They can be read and written as before; bubblewrap's own option would forbid that.
    """
    for name in _DEVICES:
        with contextlib.suppress(OSError):
            flags = os.statvfs(name).f_flag & _KEPT_FLAGS
            _mount(name, name, None, flags | _REMOUNT | _BIND | _READ_ONLY)


def ask() -> None:
    """In a branch: have the mount renewed by the reaper, which decides this system call.

    The kernel never carries out the call itself, so its arguments don't matter.

    Raises:
        OSError: The request was refused.
    """
    checked(libc().mount(None, None, None, ctypes.c_ulong(0), None), "mount")


def _mount(
    source: str, target: str, kind: Optional[str], flags: int, options: Optional[str] = None
) -> None:
    words = [None if word is None else word.encode() for word in (source, target, kind, options)]
    result = libc().mount(*words[:3], ctypes.c_ulong(flags), words[3])
    checked(result, f"mount at {target}")


def _unmount(target: str) -> None:
    checked(libc().umount2(target.encode(), _DETACH), f"unmount {target}")
