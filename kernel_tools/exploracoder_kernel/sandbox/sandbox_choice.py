"""Chooses the sandbox for snippets: the requested one, by what is available here."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from exploracoder_kernel.branch import landlock
from exploracoder_kernel.environment import clean_environment
from exploracoder_kernel.errors import SandboxUnavailable, SidecarError
from exploracoder_kernel.interpreter import find_interpreter
from exploracoder_kernel.launch_command import Launcher, PlainLauncher
from exploracoder_kernel.sandbox import advice, bubblewrap, landlocked, python_home, seccomp
from exploracoder_kernel.sandbox.consent import Consent
from exploracoder_kernel.sandbox.hard_limits import SandboxLimits

Level = Literal["strict", "network", "off"]
LevelChoice = Literal["auto", "strict", "network", "off"]
Mechanism = Literal["bubblewrap", "landlock", "none"]

LEVELS: tuple[LevelChoice, ...] = ("auto", "strict", "network", "off")
MECHANISMS: tuple[Mechanism, ...] = ("bubblewrap", "landlock")

_WHAT_IT_IS: dict[Level, str] = {
    "strict": "no network, your files out of sight except the task's, writing only to scratch",
    "network": "as strict, with this machine's network and so the services that listen on it",
    "off": "snippets run as you, with your files and your network",
}


@dataclass(frozen=True, slots=True)
class ChosenSandbox:
    """How snippets are sandboxed.

    Attributes:
        level: What they are kept from.
        mechanism: What enforces it.
        reason: Why this was chosen, in a sentence or two for the user.
        launcher: Starts interpreters in the sandbox.
    """

    level: Level
    mechanism: Mechanism
    reason: str
    launcher: Launcher

    def __str__(self) -> str:
        """Level and mechanism."""
        return f"{self.level} ({self.mechanism})" if self.mechanism != "none" else self.level


def choose(
    level: LevelChoice = "auto",
    *,
    python: str | Path,
    cwd: Path,
    inputs: Iterable[Path] = (),
    limits: SandboxLimits | None = None,
    mechanisms: Sequence[Mechanism] = MECHANISMS,
    consent: Consent | None = None,
) -> ChosenSandbox:
    """Choose the sandbox for a task. Each mechanism is tried once per process.

    Args:
        level: ``auto`` is strict, or what the user agreed to if no sandbox is available.
        python: The interpreter that will run in it.
        cwd: The task's folder, which will be readable.
        inputs: More files and folders to be readable.
        limits: Hard limits of all processes in it.
        mechanisms: The ones to try; the first that works is used.
        consent: Where the user's agreement is remembered.

    Raises:
        InterpreterError: The interpreter does not start.
        SidecarError: An input or the folder is missing.
        SandboxUnavailable: None is available, and the user has not agreed to go on without one.
    """
    input_paths = tuple(Path(path).absolute() for path in inputs)
    for path in (cwd, *input_paths):
        if not os.path.exists(path):
            raise SidecarError(f"There is no {path}. Check the path.")
    if level == "off":
        reason = f"It was switched off: {_WHAT_IT_IS['off']}."
        return ChosenSandbox("off", "none", reason, PlainLauncher())
    python_home.find(find_interpreter(python), clean_environment(os.environ))
    target_level: Level = "strict" if level == "auto" else level
    trouble = seccomp.trouble()
    missing = [] if trouble is None else [trouble]
    for mechanism in mechanisms if trouble is None else ():
        by = _by_bubblewrap if mechanism == "bubblewrap" else _by_landlock
        sandbox = by(target_level, input_paths, limits or SandboxLimits(), missing)
        if sandbox is not None:
            return sandbox
    if level == "auto" and (consent or Consent()).is_given():
        reason = f"You agreed to go on without: {_WHAT_IT_IS['off']}. {' '.join(missing)}"
        return ChosenSandbox("off", "none", reason, PlainLauncher())
    raise SandboxUnavailable(" ".join(missing))


def _by_bubblewrap(
    level: Level, inputs: tuple[Path, ...], limits: SandboxLimits, missing: list[str]
) -> ChosenSandbox | None:
    """A bubblewrap sandbox, or None, with the reason added to ``missing``."""
    has_network = level == "network"
    program = bubblewrap.find()
    if program is None:
        missing.append(f"bubblewrap is not installed. {advice.about_bubblewrap(None)}")
        return None
    trouble = bubblewrap.trouble(program, has_network=has_network)
    if trouble is not None:
        hint = advice.about_bubblewrap(trouble)
        missing.append(f"bubblewrap does not work here ({trouble}). {hint}")
        return None
    launcher = bubblewrap.BubblewrapLauncher(program, has_network, inputs, limits)
    inside = f", with Landlock (version {landlock.version()}) inside" if landlock.version() else ""
    reason = f"bubblewrap works here{inside}; system calls are filtered: {_WHAT_IT_IS[level]}."
    return ChosenSandbox(level, "bubblewrap", reason, launcher)


def _by_landlock(
    level: Level, inputs: tuple[Path, ...], limits: SandboxLimits, missing: list[str]
) -> ChosenSandbox | None:
    version = landlock.version()
    if not version:
        missing.append("The kernel has no Landlock (Linux 5.13, switched on).")
        return None
    finding = f"The kernel has Landlock (version {version}), and system calls are filtered"
    because = " ".join([*missing, finding])
    reason = f"{because}: {_WHAT_IT_IS[level]}. {landlocked.shortcomings()}."
    launcher = landlocked.LandlockLauncher(level == "network", inputs, limits)
    return ChosenSandbox(level, "landlock", reason, launcher)
