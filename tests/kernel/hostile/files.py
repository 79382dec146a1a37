"""The user's files around a session that is attacked, and what has become of them."""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import os
import stat
import struct
from collections.abc import Iterator
from pathlib import Path

_GET_FLAGS = 0x80086601  # FS_IOC_GETFLAGS
_NOT_FLAGS = 0x80000  # FS_EXTENT_FL: how the file system stores it, not what somebody set
_VICTIMS = 300
_ADDED = ("/dev/shm", "/tmp", "/var/tmp", "/run", "/dev/mqueue", "/sys/fs/cgroup", "/root", "/home")


class Files:
    """A home with a secret, a task's folder, a folder of numbered folders.

    Attributes:
        home: The user's home, which nobody named.
        task: The folder that code runs in: to be read.
        victims: Folders in it have the numbers that processes of a sandbox, or the next ones of
            this machine, have: who removes a branch's folder by its path may hit one.
        temporary: Where the owner puts its own temporary files.
    """

    def __init__(self, folder: Path, secret: str, tag: str) -> None:
        self.home = folder / "home"
        self.task = folder / "task"
        self.victims = folder / "victims"
        self.temporary = folder / "tmp"
        self._tag = tag
        self._secret = secret
        self._state: dict[str, str] = {}
        self._fill()
        self._numbered = _names(self.victims)

    def remember(self) -> None:
        """From now on all has to stay as it is."""
        self._state = self._look()

    def _fill(self) -> None:
        for path in (self.home / ".ssh", self.task / "deep", self.victims, self.temporary):
            path.mkdir(parents=True)
        (self.home / ".ssh" / "id_ed25519").write_text(self._secret)
        (self.home / "notes.txt").write_text(self._secret)
        (self.task / "data.csv").write_text("a,b\n1,2\n")
        (self.task / "calc.py").write_text("value = 'as it was'\n")
        (self.task / "deep" / "more.txt").write_text("more\n")
        with contextlib.suppress(OSError):
            os.setxattr(self.task / "data.csv", "user.kept", b"kept")
        for number in {*range(1, _VICTIMS), *following_processes(_VICTIMS)}:
            (self.victims / str(number)).mkdir()

    def harm(self, ours: Path) -> list[str]:
        """What is not as it was; ``ours`` is the folder of the code that runs in branches."""
        problems = [f"{path}: {text}" for path, text in self._changes()]
        missing_names = self._numbered - _names(self.victims)
        if missing_names:
            problems.append(
                f"{len(missing_names)} of {len(self._numbered)} folders of the user's are gone"
            )
            self._numbered -= missing_names
        problems += [f"{path} was made" for path in self._additions(ours)]
        if not self._can_lock():
            problems.append("somebody holds a lock on a file of the user's")
        return problems

    def _changes(self) -> Iterator[tuple[str, str]]:
        now = self._look()
        for path in sorted({*now, *self._state}):
            before, after = self._state.get(path, "not there"), now.get(path, "not there")
            if before != after:
                yield path, f"{before} became {after}"
        self._state = now

    def _look(self) -> dict[str, str]:
        folders = (self.home, self.task)
        return {
            str(path): _describe(path)
            for folder in folders
            for path in (folder, *sorted(folder.rglob("*")))
        }

    def _additions(self, ours: Path) -> Iterator[Path]:
        """Files that say by their name that a snippet made them, where they matter to others."""
        for folder in (*map(Path, _ADDED), ours, ours.parent, *self.temporary.parents[:1]):
            with contextlib.suppress(OSError):
                yield from (folder / name for name in _names(folder) if self._tag in name)

    def _can_lock(self) -> bool:
        with (self.task / "data.csv").open("rb") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                return False
        return True

    def left_behind(self) -> list[str]:
        """Names of what is in the owner's folder for temporary files."""
        return sorted(_names(self.temporary))


def _names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def _describe(path: Path) -> str:
    """A file's kind, rights, times, links, attributes, flags and contents."""
    status = path.lstat()
    contents = ""
    if stat.S_ISREG(status.st_mode):
        contents = f" {ctypes.c_uint32(hash(path.read_bytes())).value:x} flags {_flags(path):x}"
    names = ",".join(os.listxattr(path, follow_symlinks=False))
    metadata = f"{status.st_mode:o} {status.st_uid} {status.st_nlink} {status.st_mtime_ns}"
    return f"{metadata} [{names}]{contents}"


def _flags(path: Path) -> int:
    """What ``lsattr`` shows; 0 where the file system has none."""
    with path.open("rb") as file:
        try:
            answer = fcntl.ioctl(file, _GET_FLAGS, struct.pack("l", 0))
        except OSError:
            return 0
    return int(struct.unpack("l", answer)[0]) & ~_NOT_FLAGS


def following_processes(count: int) -> range:
    """About the numbers that the next processes of this machine will have."""
    try:
        latest = int(Path("/proc/loadavg").read_text().split()[-1])
    except (OSError, ValueError):
        latest = os.getpid()
    return range(latest, latest + count)
