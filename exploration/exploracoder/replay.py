"""Run an exploration's accepted cells again without a model, and say what changed."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from typing import Literal

from exploracoder_kernel.executor import Executor
from exploracoder_kernel.observation import Observation

from exploracoder.state import Exploration, State

ReplayResult = Literal["same", "changed", "failed"]


class ReplayedCell(State):
    """One accepted cell, run again: ``before`` and ``now`` are its outputs as text."""

    cell: str
    goal: str
    result: ReplayResult
    before: str
    now: str


async def replay(sidecar: Executor, exploration: Exploration) -> AsyncIterator[ReplayedCell]:
    """Run the context, the chain, and the solution with its check again, yielding cell by cell.

    A chain of self-contained candidates runs each in a fresh fork, as it did at first.
    """
    task = exploration.task
    if task.context:
        observation = await sidecar.run(sidecar.root, task.context)
        yield _compare("context", "context", None, observation)
    live = exploration.settings.candidate_style == "live"
    branch = await sidecar.fork(sidecar.root)
    for link in exploration.trace:
        if not link.candidate.ran:
            continue
        if not live:
            branch = await sidecar.fork(sidecar.root)
        now = await sidecar.run(branch, link.candidate.code)
        yield _compare(link.subtask.id, link.subtask.goal, link.observation, now)
    if exploration.solution is None or not exploration.solution.final.is_good:
        return
    final = exploration.solution.final
    branch = await sidecar.fork(sidecar.root)
    now = await sidecar.run(branch, final.code)
    yield _compare("solution", "the solution", final.observation, now)
    if task.check:
        now = await sidecar.run(branch, task.check)
        yield _compare("check", "the check", final.check_observation, now)


def _compare(cell: str, goal: str, before: Observation | None, now: Observation) -> ReplayedCell:
    old, new = _shown(before) if before else "", _shown(now)
    result: ReplayResult = "same"
    if not now.ran:
        result = "failed"
    elif before is not None and _stable(old) != _stable(new):
        result = "changed"
    return ReplayedCell(cell=cell, goal=goal, result=result, before=old, now=new)


def _shown(observation: Observation) -> str:
    parts = [observation.stdout.rstrip(), observation.result or ""]
    if observation.error is not None:
        parts.append(f"{observation.error.ename}: {observation.error.evalue}")
    elif not observation.ran:
        parts.append(f"The run ended as {observation.status}.")
    return "\n".join(part for part in parts if part)


def _stable(text: str) -> str:
    """Without what differs from run to run: addresses of objects."""
    return re.sub(r"\b0x[0-9a-fA-F]{4,}\b", "0x…", text)
