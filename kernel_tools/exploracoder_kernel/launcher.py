"""How the first process of a launch is started. A sandbox wraps the command here."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Command:
    """What to start: argument vector, environment, folder, and the descriptors it inherits."""

    arguments: tuple[str, ...]
    environment: Mapping[str, str]
    cwd: Path
    stdout: int
    stderr: int
    inherited: Sequence[int]


class Launcher(Protocol):
    """Starts a command. It must pass the inherited descriptors on under their numbers."""

    def launch(self, command: Command) -> subprocess.Popen[bytes]:
        """Start it and return at once.

        Raises:
            OSError: The program could not be started.
        """
        ...


class PlainLauncher:
    """Starts the command as it is, in a session of its own, with nothing on standard input."""

    def launch(self, command: Command) -> subprocess.Popen[bytes]:
        """Start it and return at once."""
        return subprocess.Popen(
            command.arguments,
            env=dict(command.environment),
            cwd=command.cwd,
            stdin=subprocess.DEVNULL,
            stdout=command.stdout,
            stderr=command.stderr,
            pass_fds=tuple(command.inherited),
            start_new_session=True,
        )
