"""Tells the user why a sandbox is unavailable, and what to do about it."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

_KERNEL_SETTINGS = Path("/proc/sys")
_TRIAL_SECONDS = 20.0
_SWITCHED_OFF = "User namespaces are switched off."


def about_bubblewrap(trouble: str | None) -> str:
    """A sentence for someone who may administer the machine.

    Args:
        trouble: What bubblewrap said; None when it is not installed.
    """
    if trouble is None:
        return (
            "Install bubblewrap (apt install bubblewrap, dnf install bubblewrap,"
            " pacman -S bubblewrap)."
        )
    if _setting("kernel/apparmor_restrict_unprivileged_userns") == "1":
        return (
            "AppArmor keeps programs from making user namespaces (the default of Ubuntu 24.04)."
            " Give /usr/bin/bwrap an AppArmor profile that allows `userns`, or run"
            " `sudo sysctl kernel.apparmor_restrict_unprivileged_userns=0`."
        )
    if _setting("kernel/unprivileged_userns_clone") == "0":
        return f"{_SWITCHED_OFF} Run `sudo sysctl kernel.unprivileged_userns_clone=1`."
    if _setting("user/max_user_namespaces") == "0":
        return f"{_SWITCHED_OFF} Run `sudo sysctl user.max_user_namespaces=15000`."
    return (
        "In a container, allow user namespaces and an unmasked /proc"
        " (for Docker: --security-opt seccomp=unconfined --security-opt systempaths=unconfined)."
    )


def _setting(name: str) -> str:
    try:
        return (_KERNEL_SETTINGS / name).read_text(encoding="ascii").strip()
    except OSError:
        return ""


def trial(command: Sequence[str], environment: Mapping[str, str] | None = None) -> str | None:
    """Try a command, and return what goes wrong, or None if it works."""
    try:
        child = subprocess.run(
            command,
            env=environment,
            cwd="/",
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_TRIAL_SECONDS,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    return (
        None if child.returncode == 0 else child.stderr.strip() or f"exit code {child.returncode}"
    )
