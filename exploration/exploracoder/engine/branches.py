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
    _primed: str = ""

    async def run(self, part: str, branch: str, code: str) -> Observation:
        """Run a snippet in a branch and count its time; raises BudgetError at a limit."""
        self.bench.limits.check()
        self.bench.tell(part, "Running a snippet")
        before = time.monotonic()
        observation = await self.sidecar.run(branch, code)
        self.bench.limits.spend(part, seconds_execution=time.monotonic() - before)
        return observation

    async def primed(self) -> str:
        """The root with the libraries imported, where many variants of a snippet are tried fast.

        It is the root itself if a branch with the libraries cannot be forked. What is imported can
        change other modules, so that what works there may fail in the root.
        """
        if not self._primed:
            self._primed = await self._prime() or self.root
        return self._primed

    async def _prime(self) -> str:
        branch = await self.sidecar.fork(self.root)
        names = [library.import_name for library in self.bench.exploration.libraries]
        imports = "".join(f"__import__({name!r});" for name in names)
        observation = await self.sidecar.run(branch, imports)
        fork = await self.sidecar.fork(branch)
        created = {one.id: one.created for one in await self.sidecar.measure()}[fork]
        await self.sidecar.drop(fork)
        if observation.ran and created == "fork":
            return branch
        await self.sidecar.drop(branch)
        return ""

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
