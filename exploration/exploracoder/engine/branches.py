"""Runs snippets in branches of the sidecar, and knows which branch each step started from."""

from __future__ import annotations

import asyncio
import itertools
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import anyio
from exploracoder_kernel.errors import SidecarError
from exploracoder_kernel.executor import Executor
from exploracoder_kernel.observation import Observation
from exploracoder_kernel.sidecar_answers import ResolvedName

from exploracoder.state import Step

if TYPE_CHECKING:
    from exploracoder.engine.workbench import Workbench


# One that is missing does no harm: what needs it fails.
_IMPORTS = """\
for _ in {names}:
    try:
        __import__(_)
    except Exception:
        pass
del _
"""


@dataclass(slots=True)
class Branches:
    """The branches of one exploration.

    ``root`` is the branch in which the context ran, ``current`` the one that the chain continues
    from, and ``bases`` maps each subtask to the branch that it started from. In an attended
    session, ``kept_branches`` holds the branches of candidates that were not chosen, by candidate
    id. ``import_seconds`` is how long the libraries' import took, once there is a primed root.
    """

    bench: Workbench
    sidecar: Executor
    root: str
    current: str
    bases: dict[str, str] = field(default_factory=dict)
    kept_branches: dict[str, str] = field(default_factory=dict)
    import_seconds: float = 0.0
    _primed_root: str = ""
    _probes: dict[str, str] = field(default_factory=dict)
    _probing: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def run(self, part: str, branch: str, code: str) -> Observation:
        """Run a snippet in a branch and count its time.

        Raises BudgetError when the time is up; a run that is still going on is then interrupted.
        """
        limits, before = self.bench.limits, time.monotonic()
        limits.check_time()
        self.bench.tell(part, "Running a snippet")
        run = asyncio.ensure_future(self.sidecar.run(branch, code))
        try:
            with anyio.fail_after(limits.seconds_left):
                return await asyncio.shield(run)
        except TimeoutError:
            raise limits.out_of_time() from None
        finally:
            run.cancel()
            await asyncio.wait({run})
            limits.spend(part, seconds_execution=time.monotonic() - before)

    async def run_in_fork(self, part: str, base: str, code: str) -> tuple[str, Observation]:
        """Run a snippet in a new fork of a branch, which is dropped if the run is interrupted."""
        branch = await self.sidecar.fork(base)
        try:
            return branch, await self.run(part, branch, code)
        except BaseException:
            with suppress(SidecarError):
                await self.sidecar.drop(branch)
            raise

    async def probe(self, base: str) -> str:
        """A fork of a branch in which names are looked up, since that imports modules.

        It is kept until another branch's is needed. A branch that cannot be forked is its own: what
        comes from it runs in other processes.
        """
        async with self._probing:
            if base not in self._probes:
                for old in self._probes.keys() - {self.root, self._primed_root, self.current}:
                    probe = self._probes.pop(old)
                    if probe != old:
                        await self.sidecar.drop(probe)
                fork = await self._fork_with_process(base)
                self._probes[base] = fork or base
            return self._probes[base]

    async def resolve(self, base: str, names: Sequence[str]) -> tuple[ResolvedName, ...]:
        """Whether dotted names exist, as seen from a branch, which stays as it is."""
        return await self.sidecar.resolve(await self.probe(base), names)

    async def primed_root(self, part: str) -> str:
        """The root with the libraries imported, in which variants of a snippet are tried quickly.

        It is the root itself where such a branch cannot be forked. Imports can change other
        modules, so code that works there may fail in the root, and the other way round. Raises
        BudgetError at a limit.
        """
        if not self._primed_root:
            self._primed_root = await self._prime(part) or self.root
        return self._primed_root

    async def _prime(self, part: str) -> str:
        """A branch with the libraries imported; empty if there is none, which costs only time."""
        names = [library.import_name for library in self.bench.exploration.libraries]
        if not names or self.sidecar.strategy != "fork":
            return ""
        branch, is_kept = await self.sidecar.fork(self.root), False
        try:
            observation = await self.run(part, branch, _IMPORTS.format(names=names))
            self.import_seconds = observation.seconds
            probe = await self._fork_with_process(branch) if observation.ran else ""
            if is_kept := bool(probe):
                self._probes[branch] = probe
        except SidecarError:
            return ""
        finally:
            if not is_kept:
                await self.sidecar.drop(branch)
        return branch if is_kept else ""

    async def _fork_with_process(self, branch: str) -> str:
        """A fork that is a process; empty where something, such as threads, makes a fork unsafe."""
        if self.sidecar.strategy != "fork":
            return ""
        fork, is_process = await self.sidecar.fork(branch), False
        try:
            branches = await self.sidecar.measure()
            is_process = any(one.id == fork and one.created == "fork" for one in branches)
        finally:
            if not is_process:
                await self.sidecar.drop(fork)
        return fork if is_process else ""

    async def base_of(self, step: Step) -> str:
        """The branch that a step starts from where it is now, rebuilt if that is not there."""
        following = self._next_done(step)
        base = self.known_base(step)
        if base is not None or following is None:
            return base or self.current
        branch = await self.sidecar.fork(self.root)
        for earlier in self.bench.exploration.steps:
            if earlier.subtask.id == following.subtask.id:
                break
            if earlier.status == "done" and earlier.candidate is not None:
                await self.sidecar.run(branch, earlier.candidate.code)
        self.bases[following.subtask.id] = branch
        return branch

    def known_base(self, step: Step) -> str | None:
        """The branch that a step starts from where it is now; None if it has to be rebuilt.

        One that is not done starts where the next one that is done started: it may have been moved
        since it was tried, and others may have come before it.
        """
        following = self._next_done(step)
        return self.current if following is None else self.bases.get(following.subtask.id)

    def _next_done(self, step: Step) -> Step | None:
        steps = self.bench.exploration.steps
        rest = itertools.dropwhile(lambda one: one.subtask.id != step.subtask.id, steps)
        return next((one for one in rest if one.status == "done"), None)

    async def let_go(self) -> None:
        """Drop the kept branches."""
        while self.kept_branches:
            _, branch = self.kept_branches.popitem()
            await self.sidecar.drop(branch)
