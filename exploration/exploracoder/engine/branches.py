"""Runs snippets in branches of the sidecar, and knows which branch each step started from."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from exploracoder_kernel.executor import Executor
from exploracoder_kernel.observation import Observation

from exploracoder.state import Step

if TYPE_CHECKING:
    from exploracoder.engine.workbench import Workbench


@dataclass(slots=True)
class Branches:
    """The branches of one exploration.

    ``root`` is the branch in which the context ran, ``current`` the one that the chain continues
    from, and ``bases`` maps each subtask to the branch that it started from. In an attended
    session, ``kept_branches`` holds the branches of candidates that were not chosen, by candidate
    id.
    """

    bench: Workbench
    sidecar: Executor
    root: str
    current: str
    bases: dict[str, str] = field(default_factory=dict)
    kept_branches: dict[str, str] = field(default_factory=dict)

    async def run(self, part: str, branch: str, code: str) -> Observation:
        """Run a snippet in a branch and count its time; raises BudgetError at a limit."""
        self.bench.limits.check()
        self.bench.tell(part, "Running a snippet")
        before = time.monotonic()
        observation = await self.sidecar.run(branch, code)
        self.bench.limits.spend(part, seconds_execution=time.monotonic() - before)
        return observation

    async def base_of(self, step: Step) -> str:
        """The branch that a step started from, rebuilt if the session was resumed."""
        base = self.bases.get(step.subtask.id)
        if base is not None:
            return base
        branch = await self.sidecar.fork(self.root)
        for earlier in self.bench.exploration.steps:
            if earlier.subtask.id == step.subtask.id:
                break
            if earlier.status == "done" and earlier.candidate is not None:
                await self.sidecar.run(branch, earlier.candidate.code)
        self.bases[step.subtask.id] = branch
        return branch

    async def let_go(self) -> None:
        """Drop the kept branches."""
        while self.kept_branches:
            _, branch = self.kept_branches.popitem()
            await self.sidecar.drop(branch)
