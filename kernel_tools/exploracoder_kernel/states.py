"""How a branch's state comes to a process: it has one, or its cells run again in another."""

from __future__ import annotations

from exploracoder_kernel.branch_process import BranchDied, BranchProcess, ForkRefused
from exploracoder_kernel.errors import ReplayError
from exploracoder_kernel.launches import Launches
from exploracoder_kernel.observation import Observation
from exploracoder_kernel.parcels import Parcel
from exploracoder_kernel.strategies import Strategy
from exploracoder_kernel.tree import Branch, Cell, Tree


class States:
    """Gives branches their processes, and takes them away."""

    def __init__(self, tree: Tree, launches: Launches) -> None:
        self._tree = tree
        self._launches = launches
        self.strategy: Strategy | None = None

    async def live(self, branch: Branch) -> BranchProcess:
        """The branch's process, built again when there is none.

        Raises:
            ReplayError: Its cells came out differently.
            InterpreterError: The interpreter can't be used any more.
        """
        if branch.process is not None and branch.process.is_alive:
            return branch.process
        await self.bury(branch)
        branch.is_busy = True
        try:
            process, cells = await self._nearest(branch)
            branch.process = process
            await _replay(branch, process, cells)
        finally:
            branch.is_busy = False
        branch.has_died = False
        return process

    async def _nearest(self, branch: Branch) -> tuple[BranchProcess, list[Cell]]:
        """A process to go on from, and the cells that lead from there to the branch's state."""
        parent = self._tree.parent_of(branch)
        is_unchanged = parent is not None and len(parent.cells) == branch.inherited
        if parent is not None and is_unchanged and parent.is_live and not parent.lock.locked():
            async with parent.lock:
                try:
                    process = await self.strategy.branch(parent.process) if self.strategy else None
                except ForkRefused:
                    process = None
            if process is not None:
                return process, branch.cells[branch.inherited :]
        return await self._launches.start(), branch.cells

    async def bury(self, branch: Branch) -> None:
        """Let go of a branch's process, and of the launch when no other branch lives in it."""
        process, branch.process = branch.process, None
        if process is None:
            return
        branch.has_died = True
        process.kill_now()
        process.close()
        if not any(
            other.process and other.process.launch is process.launch for other in self._tree
        ):
            await self._launches.end(process.launch)


async def _replay(branch: Branch, process: BranchProcess, cells: list[Cell]) -> None:
    try:
        for cell in cells:
            if cell.parcel is not None:
                await _take_in(branch, process, cell.parcel)
                continue
            observation = await process.run(cell.code, cell.limits, may_force=False)
            if observation.status != cell.status:
                raise ReplayError(_divergence(branch, cell, observation))
    except BaseException:
        process.kill_now()
        raise


async def _take_in(branch: Branch, process: BranchProcess, parcel: Parcel) -> None:
    try:
        unpacked = await parcel.unpack(process)
    except BranchDied as death:
        raise ReplayError(f"Branch {branch.id} could not be built again. {death}") from death
    if unpacked.failed:
        first = unpacked.failed[0]
        raise ReplayError(
            f"Branch {branch.id} could not be built again: {first.name} was brought along, and now"
            f" {first.reason}."
        )


def _divergence(branch: Branch, cell: Cell, observation: Observation) -> str:
    first = (cell.code.strip().splitlines() or [""])[0]
    now = observation.error.evalue if observation.error else observation.status
    return (
        f"Branch {branch.id} had to be built again, and the cell that starts with {first!r} "
        f"came out differently ({cell.status} before, now: {now}). Go back to an earlier branch."
    )
