"""How a run that met a limit is reported."""

from __future__ import annotations

from typing import Any

from exploracoder_kernel.launch import Watched
from exploracoder_kernel.limits import Limits
from exploracoder_kernel.observation import RunStatus


def with_limits(outcome: dict[str, Any], watched: Watched, limits: Limits) -> dict[str, Any]:
    """The outcome of a run, given what the reaper saw of it.

    A run that a limit ended, by an exception or by a kill, has the status ``limit``. One that ran
    out of time, or came to its end all the same, only names the limits.
    """
    hit = list(dict.fromkeys([*outcome.get("limits_hit", ()), *watched.limits_hit]))
    if not hit:
        return outcome
    outcome = {**outcome, "limits_hit": hit}
    if outcome["status"] == "killed" and watched.killed_over is not None:
        return {**outcome, **_killed_over(watched.killed_over, limits)}
    if outcome["status"] == "error" and set(hit) - {"wall_seconds", "max_output_chars"}:
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
    allowed = ""
    if name == "memory_bytes" and limits.memory_bytes is not None:
        allowed = f", {limits.memory_bytes / 2**20:,.0f} MB in all its processes"
    elif name == "processes" and limits.processes is not None:
        allowed = f", {limits.processes}"
    return failure("limit", ename, f"The snippet {what}{allowed}, and was killed.")


def failure(status: RunStatus, ename: str, evalue: str) -> dict[str, Any]:
    """The outcome of a run that has not come to its end by itself."""
    report = {"ename": ename, "evalue": evalue, "traceback": [f"{ename}: {evalue}"], "line": None}
    return {"status": status, "error": report}
