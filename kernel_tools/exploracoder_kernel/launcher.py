"""How the first process of a launch is started. A sandbox wraps the command here."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Protocol

ENTRY = Path(__file__).resolve().parent / "branch" / "process.py"


@dataclass(frozen=True, slots=True)
class Setup:
    """What the first process does to itself before it lets any code of the user's run.

    Attributes:
        has_own_folder: Snippets run in a private copy of the task's folder, not in that itself.
        is_supervised: System calls that reach out of the branch are asked for.
        limits: Hard limits by the names of ``resource``, such as ``RLIMIT_FSIZE``.
        landlock: What the kernel shall allow, see ``branch/landlock.py``.
        no_sockets: ``all``: no socket can be made; ``unix``: none to a program of this machine.
            Then capabilities are given up as well: set where no namespace keeps the process in.
    """

    has_own_folder: bool = False
    is_supervised: bool = False
    limits: Mapping[str, int] = field(default_factory=dict)
    landlock: Mapping[str, Any] | None = None
    no_sockets: str | None = None


@dataclass(frozen=True, slots=True)
class Command:
    """What to start: interpreter, environment, folders, and the descriptors it inherits.

    Attributes:
        python: The user's interpreter.
        control: The keeper's end of its socket.
        branch: The root branch's end of its socket.
        environment: All of it.
        cwd: The task's folder.
        scratch: A private folder, which may be written to.
        stdout: Where output goes, as a descriptor.
        stderr: Where errors go, as a descriptor.
    """

    python: str
    control: int
    branch: int
    environment: Mapping[str, str]
    cwd: Path
    scratch: Path
    stdout: int
    stderr: int

    @property
    def inherited(self) -> tuple[int, int]:
        """The descriptors that the process must have under the same numbers."""
        return self.control, self.branch

    def arguments(self, setup: Setup) -> tuple[str, ...]:
        """The argument vector."""
        told = {**asdict(setup), "scratch": str(self.scratch), "task": str(self.cwd)}
        supervised = ("--supervise",) if setup.is_supervised else ()
        numbers = (str(self.control), str(self.branch))
        return (self.python, str(ENTRY), *numbers, json.dumps(told), *supervised)


class Launcher(Protocol):
    """Starts a command. It must pass the inherited descriptors on under their numbers."""

    def launch(self, command: Command) -> subprocess.Popen[bytes]:
        """Start it and return at once.

        Raises:
            OSError: The program could not be started.
            SidecarError: It can't be started in this way; the sentence says why.
        """
        ...


class PlainLauncher:
    """Starts the command as it is, in a session of its own, with nothing on standard input."""

    def launch(self, command: Command) -> subprocess.Popen[bytes]:
        """Start it and return at once."""
        environment = {**command.environment, "TMPDIR": str(command.scratch)}
        return start(command, command.arguments(Setup()), environment)


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
        env=dict(environment),
        cwd=command.cwd,
        stdin=subprocess.DEVNULL,
        stdout=command.stdout,
        stderr=command.stderr,
        pass_fds=(*command.inherited, *more_inherited),
        start_new_session=True,
    )
