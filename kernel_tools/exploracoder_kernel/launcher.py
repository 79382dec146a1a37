"""How the first process of a launch is started. A sandbox wraps the command here."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from exploracoder_kernel.sandbox.hard_limits import SandboxLimits

ENTRY = Path(__file__).resolve().parent / "branch" / "process.py"


@dataclass(frozen=True, slots=True)
class Folder:
    """What a branch has for itself: home, temporary files and the folder to work in.

    Attributes:
        path: Where it is.
        is_mounted: It is memory, mounted for each branch at the same path; otherwise a branch's is
            below that of its parent, on disk.
        size: Bytes that fit, where it is memory.
        files: Files, folders and links that fit, where it is memory.
    """

    path: str
    is_mounted: bool
    size: int
    files: int


@dataclass(frozen=True, slots=True)
class Setup:
    """What the first process, and the root branch, do to themselves before the user's code runs.

    Attributes:
        task: The task's folder, as it is seen from inside.
        ipython: Where IPython may keep its files.
        folder: What branches have for themselves; None: they work in the task's folder itself.
        limits: Hard limits by the names of ``resource``, such as ``RLIMIT_FSIZE``.
        landlock: What the kernel shall allow, see ``branch/landlock.py``.
        seccomp: Filters of system calls, see ``sandbox/seccomp.py``. With them branches are
            supervised.
        capabilities: What branches keep of what they have; None: they are left alone.
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
        environment: All of it.
        cwd: The task's folder.
        scratch: A private folder on disk, which may be written to; None where none is needed.
        stdout: Where output goes, as a descriptor.
        stderr: Where errors go, as a descriptor.
    """

    python: str
    control: int
    branch: int
    environment: Mapping[str, str]
    cwd: Path
    scratch: Path | None
    stdout: int
    stderr: int

    @property
    def inherited(self) -> tuple[int, int]:
        """The descriptors that the process must have under the same numbers."""
        return self.control, self.branch

    def arguments(self, setup: Setup) -> tuple[str, ...]:
        """The argument vector. Nothing of the user's runs in the reaper, ``site`` included."""
        only_of_branches = {n: v for n, v in self.environment.items() if _is_of_branches(n)}
        scratch = None if self.scratch is None else str(self.scratch)
        fields = {**asdict(setup), "scratch": scratch, "environment": only_of_branches}
        numbers = (str(self.control), str(self.branch))
        return (self.python, "-S", "-s", "-B", str(ENTRY), "reaper", *numbers, json.dumps(fields))


def _is_of_branches(name: str) -> bool:
    """Whether a variable changes what Python runs, and so is for branches alone."""
    return name.startswith("PYTHON") and name != "PYTHONHOME"


class Launcher(Protocol):
    """Starts a command. It must pass the inherited descriptors on under their numbers."""

    @property
    def needs_scratch(self) -> bool:
        """Whether the command must have a folder on disk."""

    @property
    def has_network(self) -> bool:
        """Whether the network is there."""

    @property
    def limits(self) -> SandboxLimits | None:
        """Hard limits, in a sandbox; there a launch that nobody supervises runs nothing."""

    def launch(self, command: Command) -> subprocess.Popen[bytes]:
        """Start it and return at once.

        Raises:
            OSError: The program could not be started.
            SidecarError: It can't be started in this way; the sentence says why.
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
