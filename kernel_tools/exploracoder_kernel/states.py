"""How a process gets a branch's state, and how another cell becomes part of it."""

from __future__ import annotations

import asyncio
import math
import time
from dataclasses import dataclass, field, replace

from exploracoder_kernel.branch.fork_safety import USED_UP
from exploracoder_kernel.branch.wire import Message
from exploracoder_kernel.branch_process import BranchDied, BranchProcess, ForkRefused
from exploracoder_kernel.errors import BranchNotFound, ReplayError, SidecarError
from exploracoder_kernel.launched_interpreters import Launches
from exploracoder_kernel.observation import ErrorReport, Observation
from exploracoder_kernel.pickled_variables import PickledVariables
from exploracoder_kernel.presentation import CellRequest, EmptySeat, FrontEnd
from exploracoder_kernel.run import Run, cell_request, comm_request
from exploracoder_kernel.run_limits import Limits
from exploracoder_kernel.strategies import Strategy
from exploracoder_kernel.tree import Branch, Cell, Tree

_PATIENCE = 3
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


class States:
    """Gives branches their processes, runs cells in them, and ends them."""

    def __init__(self, tree: Tree, launches: Launches) -> None:
        self._tree = tree
        self._launches = launches
        self.strategy: Strategy | None = None

    @property
    def may_force(self) -> bool:
        """Whether a branch may look into lazy objects in a fork of itself."""
        return self.strategy is not None and self.strategy.forks

    async def live(self, branch: Branch, *, is_afresh: bool = False) -> BranchProcess:
        """The branch's process, rebuilt if there is none.

        Args:
            branch: A branch that the caller has locked.
            is_afresh: Build it from its cells alone, without a fork.

        Raises:
            BranchNotFound: It was dropped meanwhile.
            ReplayError: Its cells came out differently.
            InterpreterError: The interpreter can't be used any more.
        """
        if branch.process is not None and branch.process.is_alive:
            return branch.process
        await self.bury(branch)
        branch.is_busy = True
        try:
            process = await self._rebuild(branch, is_afresh=is_afresh)
        except SidecarError:
            if not branch.is_dropped:
                raise
        finally:
            branch.is_busy = False
            if branch.is_dropped:
                await self.bury(branch)
        if branch.is_dropped:
            raise BranchNotFound(branch.id)
        branch.has_died = branch.is_dormant = False
        branch.is_exact = True
        return process

    async def _rebuild(self, branch: Branch, *, is_afresh: bool) -> BranchProcess:
        process, cells = await self._nearest(branch, is_afresh=is_afresh)
        branch.process = process
        try:
            await _replay(branch, process, cells)
        except ReplayError:
            if branch.is_dropped or not process.is_fork:
                raise
            await self.bury(branch)  # the fork may be the cause
            return await self._rebuild(branch, is_afresh=True)
        return process

    async def _nearest(
        self, branch: Branch, *, is_afresh: bool
    ) -> tuple[BranchProcess, list[Cell]]:
        """A process to start from, and the cells that lead from there to the branch's state."""
        source = None if is_afresh else self._tree.nearest_live(branch)
        if source is not None and self.strategy is not None:
            async with source.lock:
                cell_count = len(source.cells)
                try:
                    process = await self.fork(source)
                except ForkRefused:
                    process = None
            if process is not None:
                return process, branch.cells[cell_count:]
        return await self._launches.start(), branch.cells

    async def fork(self, source: Branch) -> BranchProcess | None:
        """Fork a process from a branch that the caller has locked.

        Returns:
            None if the process is to be built from the branch's cells on first use.

        Raises:
            ForkRefused: The branch can't be forked.
            SidecarError: The strategy ``fork`` was insisted on, and forking failed.
        """
        assert self.strategy is not None
        try:
            return await self.strategy.branch(source.process)
        except ForkRefused as refusal:
            if str(refusal) != USED_UP or not await self._renew(source):
                raise
        return await self.strategy.branch(source.process)

    async def _renew(self, source: Branch) -> bool:
        """Replay a branch's cells in a process that is not a fork, and move the branch there.

        Returns:
            Whether this worked; if not, the branch is as it was.
        """
        process = source.process
        if process is None or not process.is_fork or process.is_watched or not source.is_exact:
            return False
        copy = replace(source, process=None, lock=asyncio.Lock())
        try:
            await self.live(copy, is_afresh=True)
            if not source.is_dropped:
                source.process, copy.process = copy.process, source.process
        except SidecarError:
            return False
        finally:
            await self.bury(copy)
        return not source.is_dropped

    async def measure(self) -> None:
        """Ask all idle branches how much memory each holds."""
        await asyncio.gather(*(self._measure(branch) for branch in self._tree))

    async def _measure(self, branch: Branch) -> None:
        if not branch.is_live or branch.lock.locked():
            return
        async with branch.lock:
            process = branch.process
            if process is None:
                return
            try:
                answer = await process.ask("memory")
                branch.own_bytes, branch.shared_bytes = int(answer["own"]), int(answer["shared"])
            except (BranchDied, SidecarError, LookupError, TypeError, ValueError):
                await self.bury(branch)  # it ended, or a snippet has changed what answers in it

    async def put_to_sleep(self, branch: Branch) -> None:
        """End an idle branch's process to save its memory; it is rebuilt on demand."""
        if branch.lock.locked():
            return
        async with branch.lock:
            if branch.is_live:
                await self.bury(branch)
                branch.has_died, branch.is_dormant = False, True

    async def bury(self, branch: Branch) -> None:
        """End a branch's process, and its launch if no other branch lives in it."""
        process, branch.process = branch.process, None
        branch.own_bytes = branch.shared_bytes = None
        if process is None:
            return
        branch.has_died = True
        process.kill_now()
        process.close()
        if not any(
            other.process and other.process.launch is process.launch for other in self._tree
        ):
            await self._launches.end(process.launch)

    async def take(self, branch: Branch, step: Step) -> Observation:
        """Run a snippet in a branch that the caller has locked.

        If it hangs in a process that was forked, it is run again in one that was not.
        """
        try:
            process = await self.live(branch)
        except ReplayError as error:
            report = ErrorReport(ename="ReplayError", evalue=str(error))
            return Observation(status="error", error=report)
        was_exact = branch.is_exact
        start = time.monotonic()
        observation = await self._run(branch, process, step)
        was_stopped = observation.status in ("timeout", "interrupted", "killed")
        if process.has_hung and process.is_fork and was_exact and was_stopped:
            rest = _in_what_is_left(step, time.monotonic() - start)
            observation = await self._run_afresh(branch, rest, observation)
        branch.used_at = time.monotonic()
        return observation

    async def deliver(
        self, branch: Branch, message: Message, limits: Limits, front_end: FrontEnd | None
    ) -> Observation:
        """Deliver a front end's comm message to a branch that the caller has locked."""
        process = await self.live(branch)
        run = Run(process, comm_request(message, limits), limits, front_end)
        return await self._observe(branch, run)

    async def _run(self, branch: Branch, process: BranchProcess, step: Step) -> Observation:
        was_exact = branch.is_exact
        request = cell_request(
            step.code, step.limits, step.request, step.front_end, may_force=self.may_force
        )
        run = Run(process, request, step.limits, step.front_end)
        observation = await self._observe(branch, run)
        was_killed = observation.status == "limit" and not process.is_alive
        if observation.status in ("ok", "error", "limit") and not was_killed:
            cell = Cell(
                step.code,
                step.limits,
                observation.status,
                request=step.request,
                has_front=step.front_end is not None,
            )
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
            await self.bury(branch)
        return observation

    async def _run_afresh(self, branch: Branch, step: Step, hung: Observation) -> Observation:
        await self.bury(branch)
        if step.front_end is not None:
            step.front_end.output({"output_type": "clear_output", "wait": False})
        try:
            process = await self.live(branch, is_afresh=True)
        except ReplayError as error:
            return hung.model_copy(update={"note": f"{_NOT_RETRIED}{error}"})
        observation = await self._run(branch, process, step)
        if observation.status != "timeout":
            self._remember(branch)
        note = f"{_RETRIED} {observation.note}".strip()
        return observation.model_copy(update={"note": note})

    def _remember(self, branch: Branch) -> None:
        """Stop forking this state and the one that it came from."""
        if branch.created == "fork":
            branch.created = "replay"
        for state in (branch, self._tree.parent_of(branch)):
            if state is not None:
                state.note = state.why_no_forks = _HANGS_IN_FORKS
                state.no_forks_until = math.inf


async def _replay(branch: Branch, process: BranchProcess, cells: list[Cell]) -> None:
    try:
        for cell in cells:
            if cell.variables is not None:
                await _unpickle(branch, process, cell.variables)
                continue
            limits = _with_time(cell.limits)
            front_end = EmptySeat() if cell.has_front else None
            request = cell_request(cell.code, limits, cell.request, front_end, may_force=False)
            observation = await Run(process, request, limits, front_end).observe()
            if observation.status != cell.status:
                raise ReplayError(_divergence(branch, cell, observation))
    except BaseException:
        process.kill_now()
        raise


def _with_time(limits: Limits) -> Limits:
    """Allow more time than the cell had: it finished then, but the machine may be busier now."""
    if limits.wall_seconds is None:
        return limits
    return limits.model_copy(update={"wall_seconds": _PATIENCE * limits.wall_seconds})


async def _unpickle(branch: Branch, process: BranchProcess, variables: PickledVariables) -> None:
    try:
        outcome = await variables.unpickle(process)
    except BranchDied as death:
        raise ReplayError(f"Branch {branch.id} could not be built again. {death}") from death
    if outcome.obstacle:
        raise ReplayError(
            f"Branch {branch.id} could not be built again with the variables that were brought"
            f" along: {outcome.obstacle}."
        )


def _divergence(branch: Branch, cell: Cell, observation: Observation) -> str:
    first = (cell.code.strip().splitlines() or [""])[0]
    now = observation.error.evalue if observation.error else observation.status
    return (
        f"Branch {branch.id} had to be built again, and the cell that starts with {first!r} "
        f"came out differently ({cell.status} before, now: {now}). Go back to an earlier branch."
    )


def _in_what_is_left(step: Step, used_s: float) -> Step:
    """The step with the time that it has left, but at least half of its limit."""
    most = step.limits.wall_seconds
    if most is None:
        return step
    rest_s = max(most / 2, most - used_s)
    return replace(step, limits=step.limits.model_copy(update={"wall_seconds": rest_s}))
