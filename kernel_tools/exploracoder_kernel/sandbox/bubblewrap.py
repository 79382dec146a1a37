"""The bubblewrap sandbox: its own namespaces, in which only some paths are visible."""

from __future__ import annotations

import contextlib
import functools
import os
import shutil
import stat
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

from exploracoder_kernel import memory_file
from exploracoder_kernel.branch import landlock
from exploracoder_kernel.branch.private_mount import PARTS
from exploracoder_kernel.branch.superuser import SYS_ADMIN
from exploracoder_kernel.launch_command import Command, Folder, Setup, start
from exploracoder_kernel.sandbox import seccomp, visible_files
from exploracoder_kernel.sandbox.advice import trial
from exploracoder_kernel.sandbox.hard_limits import SandboxLimits, kernel_version

_ID = "1000"
_COUNTS_PROCESSES = (5, 14)  # this kernel counts per sandbox, so that a limit hits no other

# The reaper is PID 1: bubblewrap's own init does not hide its memory, and whoever corrupts that
# ends the whole sandbox. The reaper mounts each branch's private folder, and looks into the
# branch's mount namespace for that; a branch keeps the capability to create such a namespace.
_NAMESPACES = (
    *("--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"),
    *("--uid", _ID, "--gid", _ID, "--hostname", "sandbox", "--cap-drop", "ALL"),
    *("--cap-add", "CAP_SYS_ADMIN", "--cap-add", "CAP_SYS_CHROOT"),
    *("--cap-add", "CAP_SYS_PTRACE", "--cap-add", "CAP_SETPCAP"),
    *("--die-with-parent", "--new-session", "--as-pid-1"),
)
_PASSWD = f"sandbox:x:{_ID}:{_ID}:sandbox:{{home}}:/bin/sh\nnobody:x:65534:65534:::/bin/false\n"
_GROUP = f"sandbox:x:{_ID}:\nnogroup:x:65534:\n"

# Where a branch's own files are. The user's files in temporary folders are visible through links
# in the branch's own ones, since the kernel judges a mount's place by the folder around it.
_OWN = "/run/exploracoder"
_BRANCH = f"{_OWN}/branch"
_HOME = f"{_BRANCH}/home"
_OUTSIDE = Path("/run/outside")
# Bubblewrap accepts 9,000 words, and a link takes three.
_MOST_LINKS = 2_000
_TEMPORARY = {Path("/tmp"): f"{_BRANCH}/tmp", Path("/dev/shm"): f"{_BRANCH}/shm"}

# If root starts the sandbox, these files belong to us, and writing them needs no capability. The
# lists are those of container engines.
_KERNEL_READ_ONLY = ("/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys")
_KERNEL_HIDDEN = (
    *("/proc/keys", "/proc/latency_stats", "/proc/timer_list", "/proc/sched_debug"),
    "/proc/interrupts",
)
_KERNEL_EMPTY = ("/proc/acpi", "/proc/asound", "/proc/scsi")


@dataclass(frozen=True, slots=True)
class Program:
    """The installed bubblewrap, and whether it can forbid further user namespaces."""

    path: str
    can_forbid_namespaces: bool


@dataclass(frozen=True, slots=True)
class BubblewrapLauncher:
    """Starts a launch's first process in a sandbox of its own.

    Attributes:
        program: The bubblewrap to use.
        has_network: Whether the machine's network is visible; if not, not even loopback works.
        inputs: Files and folders that may be read, besides the task's folder.
        limits: The limits of every process in it.
    """

    program: Program
    has_network: bool
    inputs: tuple[Path, ...] = ()
    limits: SandboxLimits = field(default_factory=SandboxLimits)
    needs_scratch: ClassVar[bool] = False

    def launch(self, command: Command) -> subprocess.Popen[bytes]:
        """Start it and return at once."""
        inside, places = visible_files.confined(
            command,
            home=_HOME,
            temporary="/tmp",
            inputs=self.inputs,
            has_network=self.has_network,
        )
        files: list[int] = []
        try:
            options = [
                *_isolation(self.program, self.has_network),
                *_system(),
                *_own_files(files),
                *_seen(places),
                *_accounts(files),
                *("--remount-ro", "/", "--chdir", "/"),
            ]
            options_fd = _memory_file("\0".join(options) + "\0", files)
            arguments = inside.arguments(self._setup(command.cwd))
            argv = (self.program.path, "--args", str(options_fd), "--", *arguments)
            return start(inside, argv, inside.environment, more_inherited=tuple(files))
        finally:
            for descriptor in files:
                os.close(descriptor)

    def _setup(self, cwd: Path) -> Setup:
        rights = {"read": ["/"], "list": [], "write": [_OWN, "/dev"], "network": True}
        return Setup(
            task=str(_inside(cwd)),
            ipython=f"{_HOME}/.ipython",
            folder=Folder(_BRANCH, True, self.limits.scratch_bytes, self.limits.scratch_files),
            limits=self.limits.by_name(has_own_count=kernel_version() >= _COUNTS_PROCESSES),
            landlock=rights if landlock.version() else None,
            seccomp=seccomp.compiled(has_sockets=True, has_namespaces=True),
            capabilities=(SYS_ADMIN,),
        )


def find() -> Program | None:
    """The bubblewrap on ``PATH``, if there is one."""
    path = shutil.which("bwrap")
    return None if path is None or not sys.platform.startswith("linux") else _look_at(path)


def has_failed(stderr: str) -> bool:
    """Whether bubblewrap itself failed, rather than the program that it was to start."""
    return stderr.startswith("bwrap: ") and not stderr.startswith("bwrap: execvp ")


@functools.cache
def _look_at(path: str) -> Program | None:
    try:
        answer = subprocess.run([path, "--help"], capture_output=True, text=True, timeout=10)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return Program(path, "--disable-userns" in answer.stdout)


@functools.cache
def trouble(program: Program, *, has_network: bool) -> str | None:
    """What goes wrong when bubblewrap is tried; None if it works. Tried once per process."""
    paths = [Path(path) for path in ("/usr", "/bin", "/lib", "/lib64", "/nix/store", "/gnu/store")]
    places = [
        visible_files.Place(path, "readable")
        for path in paths
        if path.is_dir() and not path.is_symlink()
    ]
    options = [
        *_isolation(program, has_network),
        *_system(),
        *_seen(tuple(places)),
        *("--remount-ro", "/"),
    ]
    return trial([program.path, *options, "--", shutil.which("true") or "/bin/true"])


def _isolation(program: Program, has_network: bool) -> list[str]:
    options = list(_NAMESPACES)
    if not has_network:
        options.append("--unshare-net")
    if program.can_forbid_namespaces:
        options.append("--disable-userns")
    return options


def _system() -> list[str]:
    """Options for the kernel's own file systems."""
    options = ["--proc", "/proc"]
    for path in _KERNEL_READ_ONLY:
        options += ["--ro-bind-try", path, path]
    for path in _hidden_in_kernel():
        options += ["--ro-bind", os.devnull, path]
    for path in filter(os.path.isdir, _KERNEL_EMPTY):
        options += ["--tmpfs", path, "--remount-ro", path]
    return [*options, "--dev", "/dev", "--remount-ro", "/dev"]


def _hidden_in_kernel() -> list[str]:
    """The files in ``/proc`` that are not world-readable, or reveal other processes."""
    secret = [
        entry.path
        for entry in os.scandir("/proc")
        if entry.is_file(follow_symlinks=False)
        and not entry.stat(follow_symlinks=False).st_mode & stat.S_IROTH
    ]
    return sorted({*secret, *filter(os.path.exists, _KERNEL_HIDDEN)})


def _own_files(files: list[int]) -> list[str]:
    """Options for the files from which the reaper makes the root branch's private folder."""
    options = [word for part in PARTS for word in ("--dir", f"{_BRANCH}/{part}")]
    options += ["--symlink", f"{_BRANCH}/tmp".lstrip("/"), "/tmp"]
    for place, source in visible_files.caches().items():
        with contextlib.suppress(OSError):
            descriptor = os.open(source, os.O_RDONLY | os.O_CLOEXEC)
            files.append(descriptor)
            # As a link, which is quicker to copy for each fork.
            target = f"{_OWN}/caches/{source.name}"
            options += ["--file", str(descriptor), target, "--symlink", target, f"{_HOME}/{place}"]
    return options


def _seen(places: tuple[visible_files.Place, ...]) -> list[str]:
    options: list[str] = []
    remounts: list[str] = []
    for target, link in visible_files.links():
        options += ["--symlink", target, str(link)]
    linked_paths: set[Path] = set()
    for place in places:
        if place.visibility != "readable" and not os.path.lexists(place.path):
            continue  # removed since it was found, and nothing can be mounted in its place
        path = _inside(place.path)
        if place.visibility == "readable":
            options += ["--ro-bind", str(place.path), str(path)]
        elif place.visibility == "hidden folder":
            options += ["--tmpfs", str(path)]
            remounts += ["--remount-ro", str(path)]
        else:
            options += ["--ro-bind", os.devnull, str(path)]
        if path != place.path and not linked_paths & set(place.path.parents):
            options += _links_to(place.path)
            linked_paths.add(place.path)
    return options + remounts


def _inside(path: Path) -> Path:
    """Where a path of the machine is mounted in the sandbox."""
    is_temporary = any(folder in (path, *path.parents) for folder in _TEMPORARY)
    return _OUTSIDE / path.relative_to("/") if is_temporary else path


def _links_to(path: Path) -> list[str]:
    """Options for links that give a path in a temporary folder, or all in it, its outside name."""
    if path in _TEMPORARY:
        # `Path.is_dir` raises for a link to where the user may not look.
        entries = sorted(path.iterdir(), key=lambda entry: (not os.path.isdir(entry), entry))
        return [word for entry in entries[:_MOST_LINKS] for word in _links_to(entry)]
    for folder, own in _TEMPORARY.items():
        if folder in path.parents:
            return ["--symlink", str(_inside(path)), f"{own}/{path.relative_to(folder)}"]
    return []


def _accounts(files: list[int]) -> list[str]:
    """Options for the only user, the sandbox's own; the machine's users are not revealed."""
    texts = {"/etc/passwd": _PASSWD.format(home=_HOME), "/etc/group": _GROUP}
    options: list[str] = []
    for path, text in texts.items():
        if os.path.exists(path):
            options += ["--ro-bind-data", str(_memory_file(text, files)), path]
    return options


def _memory_file(text: str, files: list[int]) -> int:
    """A descriptor to read ``text`` from."""
    descriptor = memory_file.create()
    files.append(descriptor)
    memory_file.fill(descriptor, os.fsencode(text))
    return descriptor
