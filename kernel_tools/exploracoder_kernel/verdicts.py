"""How to report a run that hit a limit or something that the sandbox forbids."""

from __future__ import annotations

import re
from typing import Any

from exploracoder_kernel.launch import ReaperReport
from exploracoder_kernel.observation import RunStatus
from exploracoder_kernel.run_limits import Limits

_NO_NETWORK = (
    r"Errno (101|110|113|-2|-3|-5)\b|Network is unreachable|[Nn]ame resolution"
    r"|Name or service not known|Could not resolve host|urlopen error|HTTPS?Connection|ConnectError"
)
# The sentence of the first pattern found in the error is used.
_KINDS: tuple[tuple[str, str], ...] = (
    (r"Errno 30\b|Read-only file system", "The sandbox lets nothing of yours be changed."),
    (r"Errno 28\b|No space left", "The sandbox bounds how much a snippet may write."),
    (
        r"Errno 13\b|Permission denied",
        "The sandbox allows neither to read what it hides, nor to write outside the snippet's own"
        " folder, nor sockets of this machine.",
    ),
    (
        r"Errno (1|38)\b|Operation not permitted|Function not implemented",
        "The sandbox refuses this system call.",
    ),
)


def with_limits(outcome: dict[str, Any], watch: ReaperReport, limits: Limits) -> dict[str, Any]:
    """The outcome of a run, given what the reaper saw of it.

    A run that a limit ended, by an exception or by a kill, has the status ``limit``. One that ran
    out of time, or finished all the same, only names the limits.
    """
    limits_hit = list(dict.fromkeys([*outcome.get("limits_hit", ()), *watch.limits_hit]))
    if not limits_hit:
        return outcome
    outcome = {**outcome, "limits_hit": limits_hit}
    if outcome["status"] == "killed" and watch.killed_over is not None:
        return {**outcome, **_killed_over(watch.killed_over, limits)}
    if outcome["status"] == "error" and set(limits_hit) - {"wall_seconds", "max_output_chars"}:
        return {**outcome, "status": "limit"}
    return outcome


_EXCEEDED = {
    "memory_bytes": ("MemoryLimitError", "used more memory than it may"),
    "processes": ("ProcessLimitError", "started more processes than it may"),
    "scratch_bytes": ("DiskLimitError", "wrote more than it may"),
    "scratch_files": ("DiskLimitError", "made more files than it may"),
}


def _killed_over(name: str, limits: Limits) -> dict[str, Any]:
    ename, what = _EXCEEDED[name]
    allowance = ""
    if name == "memory_bytes" and limits.memory_bytes is not None:
        allowance = f", {limits.memory_bytes / 2**20:,.0f} MB in all its processes"
    elif name == "processes" and limits.processes is not None:
        allowance = f", {limits.processes}"
    return failure("limit", ename, f"The snippet {what}{allowance}, and was killed.")


def failure(status: RunStatus, ename: str, evalue: str) -> dict[str, Any]:
    """The outcome of a run that did not finish by itself."""
    report = {"ename": ename, "evalue": evalue, "traceback": [f"{ename}: {evalue}"], "line": None}
    return {"status": status, "error": report}


def sandbox_sentence(ename: str, evalue: str, *, has_network: bool) -> str:
    """What to add to an error; empty if the sandbox has nothing to do with it."""
    text = f"{ename}: {evalue}"
    if not has_network and re.search(_NO_NETWORK, text):
        return "The sandbox has no network."
    return next((sentence for pattern, sentence in _KINDS if re.search(pattern, text)), "")
