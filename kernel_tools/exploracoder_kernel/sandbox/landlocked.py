"""The sandbox of Landlock, for machines on which no namespaces can be had.

It hides files and forbids writing, but the processes of the machine are seen, and ``/dev/shm``
can't be used: it is everybody's.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path

from exploracoder_kernel.branch import calls, landlock
from exploracoder_kernel.environment import network_variables, private_environment
from exploracoder_kernel.launcher import Command, Setup, start
from exploracoder_kernel.sandbox import caches, layout, python_home
from exploracoder_kernel.sandbox.limits import SandboxLimits

_DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")


@dataclass(frozen=True, slots=True)
class LandlockLauncher:
    """Starts a launch's first process, which takes itself its rights.

    Attributes:
        has_network: It may use the network.
        inputs: Files and folders that may be read, besides the task's folder.
        limits: Those of every process in it.
    """

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
        readable, listed = _readable(places)
        allowed = {
            "read": [*readable, "/proc"],
            "list": listed,
            "write": [str(command.scratch), *_DEVICES],
            "network": self.has_network,
        }
        setup = Setup(
            has_own_folder=True,
            is_supervised=True,
            limits=self.limits.by_name(has_own_count=False),
            landlock=allowed,
            no_sockets="unix" if self.has_network else "all",
        )
        inside = replace(command, python=home.executable)
        return start(command, inside.arguments(setup), environment)


def shortcomings(*, has_network: bool) -> str:
    """In a sentence, what it can't keep from code that runs in it."""
    seen = ["see which processes run on this machine"]
    version = landlock.version()
    if version < 6:
        seen.append("send signals to your processes")
    if not calls.can_refuse():
        seen.append("change permissions and times of your files")
        seen.append("use sockets of programs on this machine")
        if not has_network:
            seen.append("send over UDP" if version >= 4 else "reach the network")
    if version < 3:
        seen.append("empty files that you may write to")
    return f"Code in it can {_listing(seen)}"


def _listing(parts: list[str]) -> str:
    *most, last = parts
    return f"{', '.join(most)} and {last}" if most else last


def _readable(places: Iterable[layout.Place]) -> tuple[list[str], list[str]]:
    """What may be read, and which folders' names: a right on a folder holds for all below it.

    So a folder with something hidden in it is taken apart.
    """
    given = tuple(places)
    hidden = {place.path for place in given if place.seen != "readable"}
    above = {folder for path in hidden for folder in path.parents}
    readable: list[str] = []
    listed: list[str] = []
    waiting = [place.path for place in given if place.seen == "readable"]
    while waiting:
        path = waiting.pop()
        if path not in above:
            readable.append(str(path))
            continue
        listed.append(str(path))
        # What a link leads to may be hidden; to read the link itself, no right is needed.
        with os.scandir(path) as entries:
            inside = [Path(entry.path) for entry in entries if not entry.is_symlink()]
        waiting += [inner for inner in inside if inner not in hidden]
    return readable, listed
