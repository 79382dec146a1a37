"""Memory of limited size that only one branch sees: its home, temporary files, ``/dev/shm``, work.

A branch takes a mount namespace of its own and asks for it to be furnished. The reaper does that
from outside, since nobody in a branch may mount: it puts a copy in the place of what the branch's
parent has, at the same paths.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
from collections.abc import Iterator
from typing import NamedTuple, Optional

from . import copying

_NEW_MOUNTS = 0x00020000
_NO_SUID, _NO_DEVICES, _BIND, _MOVE = 2, 4, 4096, 8192
_READ_ONLY, _REMOUNT, _KEPT_FLAGS = 1, 32, 2 | 4 | 8  # kept: nosuid, nodev, noexec
_DETACH = 2
_DEVICES = [f"/dev/{name}" for name in ("null", "zero", "full", "random", "urandom", "tty")]
_SHARED_MEMORY = "/dev/shm"
PARTS = ("home", "tmp", "shm", "work")


class PrivateMount(NamedTuple):
    """Where it is, and how much fits.

    Attributes:
        path: The mount's place; another one beside it, ``next``, is used while it is filled.
        size: Bytes.
        files: Files, folders and links.
    """

    path: str
    size: int
    files: int

    def renew(self) -> int:
        """Put a copy in the place of what is there, in this process's mount namespace.

        Returns:
            How many files were left out of the copy.

        Raises:
            OSError: The kernel refused.
        """
        upcoming = os.path.join(os.path.dirname(self.path), "next")
        options = f"size={self.size},nr_inodes={self.files},mode=700"
        _mount("tmpfs", upcoming, "tmpfs", _NO_SUID | _NO_DEVICES, options)
        left_out = copying.copy(self.path, upcoming)
        for part in PARTS:
            _make_folder(os.path.join(upcoming, part))
        for place in (_SHARED_MEMORY, self.path):
            with contextlib.suppress(OSError):  # the first time nothing is mounted there
                _unmount(place)
        _mount(upcoming, self.path, None, _MOVE)
        _mount(os.path.join(self.path, "shm"), _SHARED_MEMORY, None, _BIND)
        return left_out


def _make_folder(path: str) -> None:
    """A folder, and no link that would lead a mount elsewhere: the branch could put one there."""
    if os.path.islink(path):
        os.unlink(path)
    os.makedirs(path, exist_ok=True)


@contextlib.contextmanager
def entered(namespace: int) -> Iterator[None]:
    """Be in another mount namespace, given by a descriptor, for a while.

    Raises:
        OSError: The kernel refused.
    """
    with opened_namespace(os.getpid()) as own:
        _checked(_libc().setns(namespace, _NEW_MOUNTS), "setns")
        try:
            yield
        finally:
            _checked(_libc().setns(own, _NEW_MOUNTS), "setns")


@contextlib.contextmanager
def opened_namespace(process: int) -> Iterator[int]:
    """A process's mount namespace.

    Raises:
        OSError: It has ended, or may not be looked into.
    """
    descriptor = os.open(f"/proc/{process}/ns/mnt", os.O_RDONLY | os.O_CLOEXEC)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def take_own_namespace() -> None:
    """Let this process have mounts of its own from now on.

    Raises:
        OSError: The kernel refused.
    """
    _checked(_libc().unshare(_NEW_MOUNTS), "unshare")


def protect_devices() -> None:
    """Keep the devices' modes and times as they are: the superuser's belong to us in a sandbox.

    Data goes through them as before; bubblewrap's own option would forbid that.
    """
    for name in _DEVICES:
        with contextlib.suppress(OSError):
            flags = os.statvfs(name).f_flag & _KEPT_FLAGS
            _mount(name, name, None, flags | _REMOUNT | _BIND | _READ_ONLY)


def ask_to_be_furnished() -> int:
    """In a branch: have its private folder renewed, by whoever decides about system calls.

    The call that stands for it is never made; its arguments do not matter.

    Returns:
        How many files were left out.

    Raises:
        OSError: It was refused.
    """
    return _checked(_libc().mount(None, None, None, 0, None), "mount")


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _mount(
    source: str, target: str, kind: Optional[str], flags: int, options: Optional[str] = None
) -> None:
    words = [None if word is None else word.encode() for word in (source, target, kind, options)]
    result = _libc().mount(*words[:3], ctypes.c_ulong(flags), words[3])
    _checked(result, f"mount at {target}")


def _unmount(target: str) -> None:
    _checked(_libc().umount2(target.encode(), _DETACH), f"unmount {target}")


def _checked(result: int, call: str) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{call}: {os.strerror(number)}")
    return result
