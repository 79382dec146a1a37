"""The open descriptors of this process, and which of them it can share with a fork."""

from __future__ import annotations

import _socket  # the socket module may be patched
import contextlib
import fcntl
import os
import socket
import stat
import sys
from collections.abc import Iterator
from typing import NamedTuple, Optional

_FOLDER = "/proc/self/fd"
_GPUS = ("/dev/nvidia", "/dev/kfd", "/dev/dri/render", "/dev/accel")
_SQLITE_MARK = b"SQLite format 3\0"
_SQLITE_ENDINGS = ("-wal", "-shm", "-journal")
_DELETED = " (deleted)"


class OpenDescriptor(NamedTuple):
    """An open descriptor: its number, what it leads to, and its mode."""

    fd: int
    target: str
    mode: int


def all_open() -> Iterator[OpenDescriptor]:
    """Every open descriptor of this process; none where ``/proc`` is missing."""
    try:
        names = os.listdir(_FOLDER)
    except OSError:
        return
    for name in names:
        with contextlib.suppress(OSError):
            fd = int(name)
            yield OpenDescriptor(fd, os.readlink(f"{_FOLDER}/{fd}"), os.fstat(fd).st_mode)


def reason_not_to_share() -> Optional[str]:
    """Why parent and fork can't share the open descriptors; None if they can."""
    for descriptor in all_open():
        if descriptor.target.startswith(_GPUS):
            return "the process has a GPU context, which a fork can't use"
        if stat.S_ISREG(descriptor.mode) and _is_database(descriptor):
            name = os.path.basename(descriptor.target)
            return f"an SQLite database is open ({name}), and a fork must not use its connection"
        if stat.S_ISSOCK(descriptor.mode):
            peer = _network_peer(descriptor.fd)
            if peer:
                return f"a network connection is open (to {peer}), which two processes can't share"
    return None


def _is_database(file: OpenDescriptor) -> bool:
    """Whether SQLite's marks show; an empty file open for both ways may have no table yet."""
    with contextlib.suppress(OSError):
        if file.target.endswith(_SQLITE_ENDINGS):
            return True
        access = fcntl.fcntl(file.fd, fcntl.F_GETFL) & os.O_ACCMODE
        if access == os.O_WRONLY:
            return False
        head = os.pread(file.fd, len(_SQLITE_MARK), 0)
        is_named = not file.target.endswith(_DELETED)
        is_new = not head and is_named and access == os.O_RDWR and "_sqlite3" in sys.modules
        return head == _SQLITE_MARK or is_new
    return False


def _network_peer(fd: int) -> str:
    """The peer of a TCP connection that is still up; empty for any other socket."""
    previous = socket.getdefaulttimeout()
    socket.setdefaulttimeout(None)  # a default would change the mode of the socket looked at
    try:
        sock = _socket.socket(fileno=fd)
    except OSError:
        return ""
    finally:
        socket.setdefaulttimeout(previous)
    try:
        if sock.family not in (socket.AF_INET, socket.AF_INET6) or sock.type != socket.SOCK_STREAM:
            return ""
        host, port = sock.getpeername()[:2]
        return "" if _has_ended(sock) else f"{host} port {port}"
    except OSError:
        return ""
    finally:
        sock.detach()


def _has_ended(sock: _socket.socket) -> bool:
    try:
        return not sock.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT)
    except BlockingIOError:
        return False


def could_have_effects() -> bool:
    """Whether a throwaway fork could change an open file, or put in or take out of a pipe.

    Our own pipes are left aside: such a fork gets others in place of them.
    """
    ours = set()
    for fd in (1, 2):
        with contextlib.suppress(OSError):
            ours.add(_identity(fd))
    for file in all_open():
        with contextlib.suppress(OSError):
            access = fcntl.fcntl(file.fd, fcntl.F_GETFL) & os.O_ACCMODE
            if stat.S_ISREG(file.mode) and access != os.O_RDONLY:
                return True
            is_our_output = access == os.O_WRONLY and _identity(file.fd) in ours
            if stat.S_ISFIFO(file.mode) and not is_our_output:
                return True
    return False


def _identity(fd: int) -> tuple[int, int]:
    status = os.fstat(fd)
    return status.st_dev, status.st_ino


def count_selectors() -> int:
    """How many epoll descriptors are open: a fork would change those of its parent."""
    return sum(descriptor.target == "anon_inode:[eventpoll]" for descriptor in all_open())


def reopen_files() -> None:
    """Reopen the regular files: a fork shares their positions with its parent."""
    for file in all_open():
        if stat.S_ISREG(file.mode):
            with contextlib.suppress(OSError):
                _reopen(file.fd, f"{_FOLDER}/{file.fd}")


def below(folder: str) -> list[OpenDescriptor]:
    """The open files and folders below ``folder``, by their current names."""
    return [
        file
        for file in all_open()
        if (stat.S_ISREG(file.mode) or stat.S_ISDIR(file.mode))
        and (file.target + os.sep).startswith(folder + os.sep)
    ]


def move(files: list[OpenDescriptor], old: str, new: str) -> None:
    """Point files open below ``old`` to those with the same names in its copy ``new``.

    A file that no longer has a name is copied; one that can't be opened becomes ``/dev/null``.
    """
    for file in files:
        try:
            if file.target.endswith(_DELETED):
                _replace(file.fd, _nameless_copy(file.fd, new))
            else:
                _reopen(file.fd, new + file.target[len(old) :])
        except OSError:
            with contextlib.suppress(OSError):
                _replace(file.fd, os.open(os.devnull, os.O_RDWR))


def _nameless_copy(fd: int, folder: str) -> int:
    flags = fcntl.fcntl(fd, fcntl.F_GETFL) & (os.O_ACCMODE | os.O_APPEND)
    own = os.open(folder, os.O_TMPFILE | os.O_RDWR, 0o600)
    size = os.fstat(fd).st_size
    original = os.open(f"{_FOLDER}/{fd}", os.O_RDONLY)
    offset = 0
    while offset < size and (count := os.sendfile(own, original, offset, size - offset)):
        offset += count
    os.close(original)
    copy_fd = os.open(f"{_FOLDER}/{own}", flags)
    os.close(own)
    os.lseek(copy_fd, os.lseek(fd, 0, os.SEEK_CUR), os.SEEK_SET)
    return copy_fd


def _reopen(fd: int, path: str) -> None:
    flags = fcntl.fcntl(fd, fcntl.F_GETFL) & ~(os.O_CREAT | os.O_TRUNC | os.O_EXCL)
    own = os.open(path, flags)
    if not flags & os.O_PATH:
        os.lseek(own, os.lseek(fd, 0, os.SEEK_CUR), os.SEEK_SET)
    _replace(fd, own)


def _replace(fd: int, own: int) -> None:
    os.dup2(own, fd, os.get_inheritable(fd))
    os.close(own)
