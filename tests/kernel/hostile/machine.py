"""What a process may do to the machine and to other processes, seen from outside."""

from __future__ import annotations

import asyncio
import contextlib
import os
import resource
import subprocess
import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import psutil

_PATIENCE_SECONDS = 30.0
_SAMPLE_SECONDS = 0.05
# What one branch may take; the root branch is one, too.
_BYTES_OF_A_BRANCH = 2**30
_FILES_OF_A_BRANCH = 50_000
_RUNNING = (psutil.STATUS_RUNNING, psutil.STATUS_SLEEPING, psutil.STATUS_DISK_SLEEP)
_NAMESPACES = ("cgroup", "ipc", "mnt", "net", "pid", "user", "uts")


@dataclass(frozen=True, slots=True)
class Room:
    """What is free on the disk with a folder, and what files in memory take."""

    disk_bytes: int
    disk_files: int
    memory_bytes: int

    @classmethod
    def at(cls, folder: Path) -> Room:
        """As it is now."""
        disk = os.statvfs(folder)
        lines = Path("/proc/meminfo").read_text().splitlines()
        shared = next(int(line.split()[1]) for line in lines if line.startswith("Shmem:"))
        return cls(disk.f_bfree * disk.f_frsize, disk.f_ffree, shared * 1024)


@dataclass(frozen=True, slots=True)
class Share:
    """What somebody takes of a disk."""

    bytes: int
    files: int


class Machine:
    """This process, one beside it, and the system around them.

    Args:
        folder: The session's files.
        secret: Is in the memory of the process beside this one.
        tag: Names processes of the session.
        at_once: How many branches may run at a time.
    """

    def __init__(self, folder: Path, secret: str, tag: str, at_once: int) -> None:
        self._folder = folder
        self._most_bytes = (1 + at_once) * _BYTES_OF_A_BRANCH
        self._most_files = (1 + at_once) * _FILES_OF_A_BRANCH
        self._tag = tag
        command = [sys.executable, "-c", "import sys; sys.stdin.read()", secret]
        self._bystander = subprocess.Popen(command, stdin=subprocess.PIPE)
        self._peak = ""
        self._state: dict[str, str] = {}
        self._processes = 0

    @property
    def targets(self) -> dict[str, object]:
        """Processes that a snippet may try."""
        return {"bystander": self._bystander.pid, "owner": os.getpid()}

    def remember(self) -> None:
        """From now on all has to stay as it is."""
        self._state = self._look()
        self._processes = count_processes()

    def close(self) -> None:
        """End the process beside this one."""
        self._bystander.kill()
        self._bystander.communicate()

    @contextlib.asynccontextmanager
    async def watched(self) -> AsyncIterator[None]:
        """Look all the while at what disk and memory have left."""
        before = Room.at(self._folder)
        watching = asyncio.create_task(self._watch(before))
        try:
            yield
        finally:
            watching.cancel()
            self._compare(before)

    async def _watch(self, before: Room) -> None:
        while True:
            self._compare(before)
            await asyncio.sleep(_SAMPLE_SECONDS)

    def _compare(self, before: Room) -> None:
        now = Room.at(self._folder)
        if now.memory_bytes - before.memory_bytes > self._most_bytes:
            self._peak = f"files in memory took more than {self._most_bytes >> 30} GB"
        elif self._own_use(before, now).bytes > self._most_bytes:
            self._peak = f"more than {self._most_bytes >> 30} GB of the disk were taken"
        elif self._own_use(before, now).files > self._most_files:
            self._peak = f"more than {self._most_files:,} files were made on the disk"

    def _own_use(self, before: Room, now: Room) -> Share:
        """What the session takes of the disk; what all take, while that is not much."""
        files, size = before.disk_files - now.disk_files, before.disk_bytes - now.disk_bytes
        is_much = files > self._most_files or size > self._most_bytes
        return self._own() if is_much else Share(size, files)

    def _own(self) -> Share:
        """What the session itself takes: others write to the disk too."""
        paths = (path for path in self._folder.rglob("*"))
        deleted_paths = (
            path
            for process in psutil.Process().children(recursive=True)
            for path in Path(f"/proc/{process.pid}/fd").glob("*")
            if _target(path).endswith(" (deleted)")
        )
        files = size = 0
        for path, follows in (
            *((path, False) for path in paths),
            *((path, True) for path in deleted_paths),
        ):
            with contextlib.suppress(OSError):
                files, size = files + 1, size + path.stat(follow_symlinks=follows).st_blocks * 512
        return Share(size, files)

    async def harm(self) -> list[str]:
        """What is not as it was."""
        now = self._look()
        problems = [
            f"{name} was {self._state[name]!r}, is {now[name]!r}"
            for name in now
            if now[name] != self._state[name]
        ]
        self._state = now
        if self._peak:
            problems.append(self._peak)
            self._peak = ""
        more = await self._leftovers()
        if more:
            problems.append(f"{more} processes more than before")
        return problems

    def _look(self) -> dict[str, str]:
        own = Path("/proc/self")
        state = {f"namespace {kind}": str((own / "ns" / kind).readlink()) for kind in _NAMESPACES}
        for name, pid in (("owner", os.getpid()), ("bystander", self._bystander.pid)):
            state |= {f"{name}: {key}": value for key, value in _process_state(pid).items()}
        return state | {
            "mounts": str(len((own / "mountinfo").read_text().splitlines())),
            "cgroup": (own / "cgroup").read_text(),
            "host": " ".join(os.uname()),
            "keys": str(self._tag in _text(Path("/proc/keys"))),
            "objects": str([name for name in ("shm", "sem", "msg") if self._has_object(name)]),
            "abstract sockets": str(f"@{self._tag}-made" in _text(Path("/proc/net/unix"))),
        }

    def _has_object(self, kind: str) -> bool:
        """Whether there is an object of System V with the key that snippets use."""
        lines = _text(Path("/proc/sysvipc") / kind).splitlines()[1:]
        return any(line.split()[0] == str(key_of(self._tag)) for line in lines)

    async def _leftovers(self) -> int:
        """How many processes there are more than at the start, once those that end have ended."""
        deadline = asyncio.get_running_loop().time() + _PATIENCE_SECONDS
        while (more := count_processes() - self._processes) > 0:
            if asyncio.get_running_loop().time() > deadline:
                return more
            await asyncio.sleep(0.02)
        return 0


def count_processes() -> int:
    """How many there are below this one; those that have ended and wait for it are left out."""
    states = []
    for process in psutil.Process().children(recursive=True):
        with contextlib.suppress(psutil.NoSuchProcess):
            states.append(process.status())
    return len(states) - states.count(psutil.STATUS_ZOMBIE)


def key_of(tag: str) -> int:
    """The key that snippets make objects of System V under."""
    return int(tag.rpartition("-")[2][:6], 16)


def _process_state(pid: int) -> dict[str, str]:
    """How a process is scheduled and limited, and that it runs."""
    limits = [resource.prlimit(pid, kind) for kind in (resource.RLIMIT_CPU, resource.RLIMIT_NOFILE)]
    return {
        "runs": str(psutil.Process(pid).status() in _RUNNING),
        "nice": str(os.getpriority(os.PRIO_PROCESS, pid)),
        "policy": str(os.sched_getscheduler(pid)),
        "processors": str(sorted(os.sched_getaffinity(pid))),
        "limits": str(limits),
        "killed first": _text(Path(f"/proc/{pid}/oom_score_adj")).strip(),
    }


def _target(path: Path) -> str:
    try:
        return str(path.readlink())
    except OSError:
        return ""


def _text(path: Path) -> str:
    try:
        return path.read_text(errors="replace")
    except OSError:
        return ""
