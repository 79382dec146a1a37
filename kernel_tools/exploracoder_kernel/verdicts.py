"""How a run that met a limit is reported."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from exploracoder_kernel.limits import Limits


def with_limits(outcome: dict[str, Any], hits: Sequence[str], limits: Limits) -> dict[str, Any]:
    """The outcome of a run, given the limits that the keeper saw it hit.

    A run that a limit ended, by an exception or by a kill, has the status ``limit``. One that ran
    out of time, or came to its end all the same, only names the limits.
    """
    hit = list(dict.fromkeys([*outcome.get("limits_hit", ()), *hits]))
    if not hit:
        return outcome
    outcome = {**outcome, "limits_hit": hit}
    others = [name for name in hit if name not in ("wall_seconds", "max_output_chars")]
    if outcome["status"] == "killed" and hits:
        return {**outcome, "status": "limit", "error": _killed_over(hits[0], limits)}
    if outcome["status"] == "error" and others:
        return {**outcome, "status": "limit"}
    return outcome


def _killed_over(name: str, limits: Limits) -> dict[str, Any]:
    if name == "memory_bytes":
        ename = "MemoryLimitError"
        most = "" if limits.memory_bytes is None else f" {limits.memory_bytes / 2**20:,.0f} MB"
        evalue = f"The snippet's processes used more memory than they may{most and ','}{most}"
    else:
        ename = "ProcessLimitError"
        most = "" if limits.processes is None else f" {limits.processes}"
        evalue = f"The snippet started more processes than it may{most and ','}{most}"
    evalue += ", and were killed." if name == "memory_bytes" else ", and was killed."
    return {"ename": ename, "evalue": evalue, "traceback": [f"{ename}: {evalue}"], "line": None}
