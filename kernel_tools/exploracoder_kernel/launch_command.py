"""How the first process of a launch is started. A sandbox wraps the command here."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from exploracoder_kernel import memory_file
from exploracoder_kernel.branch.linux import machine_memory

if TYPE_CHECKING:
    from exploracoder_kernel.sandbox.hard_limits import SandboxLimits

ENTRY = Path(__file__).resolve().parent / "branch" / "process.py"


@dataclass(frozen=True, slots=True)
class Folder:
    """A branch's private folder: home, temporary files and working folder.

    Attributes:
        path: Where it is.
        is_mounted: Whether it is in memory, mounted for each branch at the same path; otherwise a
            branch's folder is on disk, below its parent's.
        size: Bytes that fit, if it is in memory.
        files: Files, folders and links that fit, if it is in memory.
    """

    path: str
    is_mounted: bool
    size: int
    files: int


@dataclass(frozen=True, slots=True)
class Setup:
    """What the first process and the root branch do to themselves before user code runs.

    Attributes:
        task: The task's folder, as seen from inside.
        ipython: Where IPython may keep its files.
        folder: The private folder of branches; None if they work in the task's folder itself.
        limits: Hard limits by the names of ``resource``, such as ``RLIMIT_FSIZE``.
        landlock: What to allow, see ``branch/landlock.py``.
        seccomp: System call filters, see ``sandbox/seccomp.py``. With them, branches are
            supervised.
        capabilities: The capabilities that branches keep; None if all are left alone.
    """

    task: str
    ipython: str
    folder: Folder | None = None
    limits: Mapping[str, int] = field(default_factory=dict)
    landlock: Mapping[str, Any] | None = None
    seccomp: Mapping[str, Any] | None = None
    capabilities: tuple[int, ...] | None = None


@dataclass(frozen=True, slots=True)
class Command:
    """What to start: interpreter, environment, folders, and the descriptors it inherits.

    Attributes:
        python: The user's interpreter.
        control: The reaper's end of its socket.
        branch: The root branch's end of its socket.
        setup: An empty file, from ``memory_file``: it may be longer than a word of a command line.
        environment: The whole environment.
        cwd: The task's folder.
        scratch: A private, writable folder on disk; None if none is needed.
        stdout: Where output goes, as a descriptor.
        stderr: Where errors go, as a descriptor.
    """

    python: str
    control: int
    branch: int
    setup: int
    environment: Mapping[str, str]
    cwd: Path
    scratch: Path | None
    stdout: int
    stderr: int

    @property
    def inherited(self) -> tuple[int, ...]:
        """The descriptors that the process must have under the same numbers."""
        return self.control, self.branch, self.setup

    def arguments(self, setup: Setup) -> tuple[str, ...]:
        """Write the setup into its file, and give the argument vector.

        No user code runs in the reaper, not even by way of ``site``. This can be done once.

        Raises:
            SidecarError: There is no room for the file.
        """
        only_of_branches = {n: v for n, v in self.environment.items() if _is_of_branches(n)}
        scratch = None if self.scratch is None else str(self.scratch)
        fields = {
            **asdict(setup),
            "scratch": scratch,
            "environment": only_of_branches,
            "machine_memory": machine_memory(),  # a sandbox does not see a container's limit
        }
        memory_file.fill(self.setup, json.dumps(fields).encode())
        numbers = (str(number) for number in self.inherited)
        return (self.python, "-S", "-s", "-B", str(ENTRY), "reaper", *numbers)


def _is_of_branches(name: str) -> bool:
    """Whether a variable changes what Python runs, and so is only for branches."""
    return name.startswith("PYTHON") and name != "PYTHONHOME"


class Launcher(Protocol):
    """Starts a command, and must pass on the inherited descriptors under the same numbers."""

    @property
    def needs_scratch(self) -> bool:
        """Whether the command needs a scratch folder on disk."""

    @property
    def has_network(self) -> bool:
        """Whether the network is available."""

    @property
    def limits(self) -> SandboxLimits | None:
        """Hard limits; None without a sandbox. With them, an unsupervised launch runs nothing."""

    def launch(self, command: Command) -> subprocess.Popen[bytes]:
        """Start it and return at once.

        Raises:
            OSError: The program could not be started.
            SidecarError: It can't be started in this way; the message says why.
        """


class PlainLauncher:
    """Starts the command as it is, in a session of its own, with nothing on standard input."""

    needs_scratch = True
    has_network = True
    limits = None

    def launch(self, command: Command) -> subprocess.Popen[bytes]:
        """Start it and return at once."""
        scratch = str(command.scratch)
        setup = Setup(task=str(command.cwd), ipython=scratch)
        return start(command, command.arguments(setup), {**command.environment, "TMPDIR": scratch})


def start(
    command: Command,
    arguments: tuple[str, ...],
    environment: Mapping[str, str],
    *,
    more_inherited: tuple[int, ...] = (),
) -> subprocess.Popen[bytes]:
    """Start ``arguments`` as a launch's first process: own session, no input, its descriptors.

    Raises:
        OSError: The program could not be started.
    """
    return subprocess.Popen(
        arguments,
        env={name: value for name, value in environment.items() if not _is_of_branches(name)},
        cwd=command.cwd,
        stdin=subprocess.DEVNULL,
        stdout=command.stdout,
        stderr=command.stderr,
        pass_fds=(*command.inherited, *more_inherited),
        start_new_session=True,
    )
