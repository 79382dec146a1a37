"""The sandbox of bubblewrap: namespaces of its own, in which only some places are seen."""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from exploracoder_kernel.environment import network_variables, private_environment
from exploracoder_kernel.launcher import Command, Setup, start
from exploracoder_kernel.sandbox import caches, layout, python_home
from exploracoder_kernel.sandbox.limits import SandboxLimits

_TRIAL_SECONDS = 20.0
_ID = "1000"

# The keeper is the first process: bubblewrap's own, which would be, does not hide its memory, and
# who spoils that ends the whole sandbox.
_NAMESPACES = (
    *("--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"),
    *("--uid", _ID, "--gid", _ID, "--hostname", "sandbox", "--cap-drop", "ALL"),
    *("--die-with-parent", "--new-session", "--as-pid-1"),
)
_PASSWD = f"sandbox:x:{_ID}:{_ID}:sandbox:{{home}}:/bin/sh\nnobody:x:65534:65534:::/bin/false\n"
_GROUP = f"sandbox:x:{_ID}:\nnogroup:x:65534:\n"

# Where the superuser starts the sandbox, its files belong to us, and the kernel asks for no
# capability to write them. The lists are those of container engines.
_KERNEL_READ_ONLY = ("/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys")
_KERNEL_HIDDEN = (
    *("/proc/sysrq-trigger", "/proc/kcore", "/proc/keys", "/proc/latency_stats"),
    *("/proc/timer_list", "/proc/sched_debug", "/proc/kmsg", "/proc/kpagecount"),
    *("/proc/kpageflags", "/proc/kpagecgroup", "/proc/interrupts"),
)
_KERNEL_EMPTY = ("/proc/acpi", "/proc/asound", "/proc/scsi")


@dataclass(frozen=True, slots=True)
class Program:
    """The installed bubblewrap, and which of its newer options it has."""

    path: str
    can_forbid_namespaces: bool
    can_limit_sizes: bool


@dataclass(frozen=True, slots=True)
class BubblewrapLauncher:
    """Starts a launch's first process in a sandbox of its own.

    Attributes:
        program: Which bubblewrap.
        has_network: The machine's network is seen; otherwise there is none, not even loopback's.
        inputs: Files and folders that may be read, besides the task's folder.
        limits: Those of every process in it.
    """

    program: Program
    has_network: bool
    inputs: tuple[Path, ...] = ()
    limits: SandboxLimits = field(default_factory=SandboxLimits)

    def launch(self, command: Command) -> subprocess.Popen[bytes]:
        """Start it and return at once."""
        home = python_home.find(command.python, command.environment)
        environment = private_environment(
            command.environment, command.scratch, user_base=home.user_base
        )
        caches.bring(Path(environment["HOME"]), os.environ)
        if self.has_network:
            environment |= network_variables(os.environ)
        places = layout.places(
            home,
            cwd=command.cwd,
            inputs=self.inputs,
            environment=environment,
            has_network=self.has_network,
        )
        accounts = {
            "/etc/passwd": _memory_file(_PASSWD.format(home=environment["HOME"])),
            "/etc/group": _memory_file(_GROUP),
        }
        options = [
            *_isolation(self.program, self.has_network),
            *_system(self.program, self.limits),
            *_seen(places, command.scratch),
            *_account_options(accounts),
            *("--remount-ro", "/", "--chdir", str(command.scratch)),
        ]
        written = _memory_file("\0".join(options) + "\0")
        inside = replace(command, python=home.executable).arguments(self._setup())
        arguments = (self.program.path, "--args", str(written), "--", *inside)
        passed = (written, *accounts.values())
        try:
            return start(command, arguments, environment, more_inherited=passed)
        finally:
            for descriptor in passed:
                os.close(descriptor)

    def _setup(self) -> Setup:
        return Setup(
            has_own_folder=True,
            is_supervised=True,
            limits=self.limits.by_name(has_own_count=_counts_processes()),
            # Keeps it from sockets that have no name in the file system: they are the network's,
            # which may be shared.
            landlock={"network": True},
        )


def find() -> Program | None:
    """The bubblewrap on ``PATH``, if there is one."""
    path = shutil.which("bwrap")
    return None if path is None or not sys.platform.startswith("linux") else _look_at(path)


@functools.cache
def _look_at(path: str) -> Program | None:
    try:
        told = subprocess.run([path, "--help"], capture_output=True, text=True, timeout=10)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return Program(path, "--disable-userns" in told.stdout, "--size" in told.stdout)


@functools.cache
def trouble(program: Program, *, has_network: bool) -> str | None:
    """What goes wrong when it is tried; None when it works. Tried once in a process."""
    seen = [Path(path) for path in ("/usr", "/bin", "/lib", "/lib64", "/nix/store", "/gnu/store")]
    places = [
        layout.Place(path, "readable") for path in seen if path.is_dir() and not path.is_symlink()
    ]
    options = [
        *_isolation(program, has_network),
        *_system(program, SandboxLimits()),
        *_seen(tuple(places), None),
        *("--remount-ro", "/"),
    ]
    true = shutil.which("true") or "/bin/true"
    try:
        ended = subprocess.run(
            [program.path, *options, "--", true],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_TRIAL_SECONDS,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    said = ended.stderr.strip() or f"exit code {ended.returncode}"
    return None if ended.returncode == 0 else said


def _isolation(program: Program, has_network: bool) -> list[str]:
    options = list(_NAMESPACES)
    if not has_network:
        options.append("--unshare-net")
    if program.can_forbid_namespaces:
        options.append("--disable-userns")
    return options


def _system(program: Program, limits: SandboxLimits) -> list[str]:
    """The kernel's own file systems, and memory for temporary files."""
    size = ["--size", str(limits.shared_bytes)] if program.can_limit_sizes else []
    options = ["--proc", "/proc"]
    for path in _KERNEL_READ_ONLY:
        options += ["--ro-bind-try", path, path]
    for path in filter(os.path.exists, _KERNEL_HIDDEN):
        options += ["--ro-bind", os.devnull, path]
    for path in filter(os.path.isdir, _KERNEL_EMPTY):
        options += ["--tmpfs", path, "--remount-ro", path]
    options += ["--dev", "/dev", *size, "--tmpfs", "/dev/shm", "--remount-ro", "/dev"]
    return [*options, *size, "--tmpfs", "/tmp"]


def _seen(places: tuple[layout.Place, ...], scratch: Path | None) -> list[str]:
    options: list[str] = []
    for target, link in layout.links():
        options += ["--symlink", target, str(link)]
    for place in places:
        path = str(place.path)
        if place.seen == "readable":
            options += ["--ro-bind", path, path]
        elif place.seen == "hidden folder":
            options += ["--tmpfs", path]
        else:
            options += ["--ro-bind", os.devnull, path]
    if scratch is not None:
        options += ["--bind", str(scratch), str(scratch)]
    for place in places:
        if place.seen == "hidden folder":
            options += ["--remount-ro", str(place.path)]
    return options


def _account_options(accounts: Mapping[str, int]) -> list[str]:
    """The only user is the sandbox's own; who else is on the machine is not told."""
    options: list[str] = []
    for path, descriptor in accounts.items():
        if os.path.exists(path):  # noqa: PTH110  # the options are strings
            options += ["--ro-bind-data", str(descriptor), path]
    return options


def _counts_processes() -> bool:
    """Whether the kernel counts processes by sandbox (5.14), so that a limit hits no other."""
    major, minor = (int(part) for part in os.uname().release.split(".")[:2])
    return (major, minor) >= (5, 14)


def _memory_file(text: str) -> int:
    """A descriptor to read ``text`` from."""
    descriptor = os.memfd_create("exploracoder", os.MFD_CLOEXEC)
    os.write(descriptor, text.encode())
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor
