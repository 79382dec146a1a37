"""A snippet as the next step of a branch."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field, replace

from exploracoder_kernel.branch.wire import Message
from exploracoder_kernel.branch_process import BranchProcess
from exploracoder_kernel.errors import ReplayError
from exploracoder_kernel.limits import Limits
from exploracoder_kernel.observation import ErrorReport, Observation
from exploracoder_kernel.presentation import CellRequest, FrontEnd
from exploracoder_kernel.run import Run, cell_request, comm_request
from exploracoder_kernel.states import States
from exploracoder_kernel.tree import Branch, Cell, Tree

_HANGS_IN_FORKS = "a step hung in a fork, and not after its cells were run again"
_RETRIED = (
    "The snippet hung in a fork of its branch, so the branch was built again from its cells. "
    "This is what the snippet did then."
)
_NOT_RETRIED = "The snippet hung in a fork of its branch, which could not be built again. "


@dataclass(frozen=True, slots=True)
class Step:
    """A snippet and how it is to be run."""

    code: str
    limits: Limits
    front_end: FrontEnd | None = None
    request: CellRequest = field(default_factory=CellRequest)


class Steps:
    """Runs snippets, and keeps account of what is part of a branch's state."""

    def __init__(self, tree: Tree, states: States) -> None:
        self._tree = tree
        self._states = states

    async def take(self, branch: Branch, step: Step) -> Observation:
        """Run a snippet in a branch that is locked for it.

        Where it hangs in a process that was forked, it is run again in one that was not.
        """
        try:
            process = await self._states.live(branch)
        except ReplayError as error:
            report = ErrorReport(ename="ReplayError", evalue=str(error))
            return Observation(status="error", error=report)
        was_exact = branch.is_exact
        started = time.monotonic()
        observation = await self._run(branch, process, step)
        was_stopped = observation.status in ("timeout", "interrupted", "killed")
        if process.has_hung and process.is_fork and was_exact and was_stopped:
            rest = _in_what_is_left(step, time.monotonic() - started)
            observation = await self._run_afresh(branch, rest, observation)
        branch.used_at = time.monotonic()
        return observation

    async def deliver(
        self, branch: Branch, message: Message, limits: Limits, front_end: FrontEnd | None
    ) -> Observation:
        """Hand a front end's comm message to a branch that is locked for it."""
        process = await self._states.live(branch)
        run = Run(process, comm_request(message, limits), limits, front_end)
        return await self._observe(branch, run)

    async def _run(self, branch: Branch, process: BranchProcess, step: Step) -> Observation:
        was_exact = branch.is_exact
        request = cell_request(
            step.code, step.limits, step.request, step.front_end, may_force=self._states.may_force
        )
        run = Run(process, request, step.limits, step.front_end)
        observation = await self._observe(branch, run)
        was_killed = observation.status == "limit" and not process.is_alive
        if observation.status in ("ok", "error", "limit") and not was_killed:
            cell = Cell(step.code, step.limits, observation.status, request=step.request)
            branch.cells.append(cell)
            branch.is_exact = was_exact
        return observation

    async def _observe(self, branch: Branch, run: Run) -> Observation:
        branch.is_busy, branch.is_exact = True, False
        try:
            observation = await run.observe()
        finally:
            branch.is_busy = False
        if not run.process.is_alive:
            await self._states.bury(branch)
        return observation

    async def _run_afresh(self, branch: Branch, step: Step, hung: Observation) -> Observation:
        await self._states.bury(branch)
        if step.front_end is not None:
            step.front_end.output({"output_type": "clear_output", "wait": False})
        try:
            process = await self._states.live(branch, is_afresh=True)
        except ReplayError as error:
            return hung.model_copy(update={"note": f"{_NOT_RETRIED}{error}"})
        observation = await self._run(branch, process, step)
        if observation.status != "timeout":
            self._remember(branch)
        note = f"{_RETRIED} {observation.note}".strip()
        return observation.model_copy(update={"note": note})

    def _remember(self, branch: Branch) -> None:
        """Make no more forks of this state, nor of the one that it came from."""
        if branch.created == "fork":
            branch.created = "replay"
        for state in (branch, self._tree.parent_of(branch)):
            if state is not None:
                state.note = state.why_no_forks = _HANGS_IN_FORKS
                state.no_forks_until = math.inf


def _in_what_is_left(step: Step, used_s: float) -> Step:
    """The step with the time that it has left, at least half of what it may take."""
    most = step.limits.wall_seconds
    if most is None:
        return step
    left = max(most / 2, most - used_s)
    return replace(step, limits=step.limits.model_copy(update={"wall_seconds": left}))
