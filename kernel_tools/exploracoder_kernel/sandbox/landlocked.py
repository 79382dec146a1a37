"""The Landlock sandbox, for machines on which namespaces are unavailable.

It hides files and forbids writing, but the machine's processes are visible, and ``/dev/shm`` can't
be used, since everybody shares it.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

from exploracoder_kernel.branch import landlock
from exploracoder_kernel.launch_command import Command, Folder, Setup, start
from exploracoder_kernel.sandbox import seccomp, visible_files
from exploracoder_kernel.sandbox.hard_limits import SandboxLimits

_DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")


@dataclass(frozen=True, slots=True)
class LandlockLauncher:
    """Starts a launch's first process, which drops its own rights.

    Attributes:
        has_network: Whether it may use the network.
        inputs: Files and folders that may be read, besides the task's folder.
        limits: The limits of every process in it.
    """

    has_network: bool
    inputs: tuple[Path, ...] = ()
    limits: SandboxLimits = field(default_factory=SandboxLimits)
    needs_scratch: ClassVar[bool] = True

    def launch(self, command: Command) -> subprocess.Popen[bytes]:
        """Start it and return at once."""
        root = f"{command.scratch}/root"
        inside, places = visible_files.confined(
            command,
            home=f"{root}/home",
            temporary=f"{root}/tmp",
            inputs=self.inputs,
            has_network=self.has_network,
        )
        caches = Path(f"{command.scratch}/caches")
        _bring_caches(caches, Path(root, "home"))
        readable, listed_folders = _readable(places)
        readable += ["/proc", str(caches)]
        rights = {
            "read": readable,
            "read_in_forks": _whole_trees(readable, root),
            "list": listed_folders,
            "write": list(_DEVICES),
            "network": self.has_network,
        }
        setup = Setup(
            task=str(command.cwd),
            ipython=f"{root}/home/.ipython",
            folder=Folder(root, False, self.limits.scratch_bytes, self.limits.scratch_files),
            limits=self.limits.by_name(has_own_count=False),
            landlock=rights,
            seccomp=seccomp.compiled(has_sockets=self.has_network, has_namespaces=False),
            capabilities=(),
        )
        return start(inside, inside.arguments(setup), inside.environment)


def _whole_trees(readable: list[str], private: str) -> list[str]:
    """All readable top-level folders; for the one around ``private``, only its readable parts."""
    top = f"/{Path(private).parts[1]}"
    below = [path for path in readable if path == top or path.startswith(f"{top}/")]
    trees = {f"/{Path(path).parts[1]}" for path in readable}
    return [*(trees - {top}), *below]


def shortcomings() -> str:
    """What the sandbox can't keep code in it from doing, as a sentence."""
    abilities = ["see which processes run on this machine and how they were started"]
    if landlock.version() < 3:
        abilities.append("empty files that you may write to")
    return f"Code in it can {' and '.join(abilities)}"


def _bring_caches(folder: Path, home: Path) -> None:
    """Copy the caches, and link to them in the home: a link is quicker to copy for each fork."""
    folder.mkdir()
    for place, source in visible_files.caches().items():
        with contextlib.suppress(OSError):
            shutil.copyfile(source, folder / source.name)
            (home / place).parent.mkdir(parents=True, exist_ok=True)
            (home / place).symlink_to(folder / source.name)


def _readable(places: Iterable[visible_files.Place]) -> tuple[list[str], list[str]]:
    """The paths that may be read, and the folders that may only be listed.

    A right on a folder covers all below it, so one with something hidden in it is taken apart.
    """
    all_places = tuple(places)
    hidden_paths = {place.path for place in all_places if place.visibility != "readable"}
    above = {folder for path in hidden_paths for folder in path.parents}
    readable: list[str] = []
    listed_folders: list[str] = []
    stack = [place.path for place in all_places if place.visibility == "readable"]
    while stack:
        path = stack.pop()
        if path not in above:
            readable.append(str(path))
            continue
        listed_folders.append(str(path))
        # What a link leads to may be hidden; to read the link itself, no right is needed.
        with os.scandir(path) as entries:
            inside = [Path(entry.path) for entry in entries if not entry.is_symlink()]
        stack += [inner for inner in inside if inner not in hidden_paths]
    return readable, listed_folders
