"""Cells of subtasks that somebody runs by hand: each in a fresh fork of a branch."""

from __future__ import annotations

from exploracoder_kernel.branch.text import without_colours
from exploracoder_kernel.errors import SidecarError
from exploracoder_kernel.kernel.branches import Branches
from exploracoder_kernel.kernel.cells import Cells, Outcome
from exploracoder_kernel.kernel.concurrent_kernel import ConcurrentKernel
from exploracoder_kernel.kernel.contents import ExecuteRequest, Request, RequestOptions
from exploracoder_kernel.kernel.records import Record, Records
from exploracoder_kernel.limits import Limits
from exploracoder_kernel.observation import CellRun, Observation

# A person's cell may take its time. What it shows becomes a candidate's, and is bounded as theirs.
_LIMITS = Limits(wall_seconds=None)


class HandRuns:
    """Runs them, and tells whoever steers the exploration what each of them showed."""

    def __init__(
        self, cells: Cells, branches: Branches, records: Records, kernel: ConcurrentKernel
    ) -> None:
        self._cells = cells
        self._branches = branches
        self._records = records
        self._kernel = kernel

    async def execute(
        self, request: Request, cell: ExecuteRequest, options: RequestOptions, base: Record
    ) -> Outcome:
        """Run a cell in a fork of ``base``, which stays until somebody drops it."""
        try:
            answer = await self._branches.fork(base.id, goal="yours")
            record = self._records.find(answer["branch"])
        except SidecarError as error:
            return self._cells.refuse(request, cell, base, error)
        record.is_by_hand = True
        bounded = options.model_copy(update={"limits": options.limits or _LIMITS, "observe": False})
        outcome = await self._cells.execute(request, cell, bounded, record, wants_variables=True)
        run = CellRun(
            subtask=str(options.subtask),
            code=cell.code,
            branch=record.id,
            observation=_plain(outcome.observation),
        )
        self._kernel.publish("exploracoder_cell_run", run.model_dump(mode="json"), request.message)
        return outcome


def _plain(observation: Observation) -> Observation:
    """As the engine sees it: colours are for those who look at the cell."""
    error = observation.error
    if error is None:
        return observation
    lines = tuple(without_colours(line) for line in error.traceback)
    plain = error.model_copy(update={"traceback": lines})
    return observation.model_copy(update={"error": plain})
