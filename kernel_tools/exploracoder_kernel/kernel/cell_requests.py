"""Runs cells: an ``execute_request`` becomes a run in its branch, and so do comm messages."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timezone

from exploracoder_kernel.branch.text import without_colours
from exploracoder_kernel.kernel.branch_records import Record, Records
from exploracoder_kernel.kernel.branch_requests import Branches
from exploracoder_kernel.kernel.concurrent_kernel import ConcurrentKernel
from exploracoder_kernel.kernel.front_end import CellFrontEnd
from exploracoder_kernel.kernel.request_contents import (
    METADATA_KEY,
    BadRequest,
    Content,
    ExecuteRequest,
    Request,
    RequestOptions,
    options_of,
    read,
)
from exploracoder_kernel.observation import CellRun, ErrorReport, Observation
from exploracoder_kernel.presentation import CellRequest
from exploracoder_kernel.run_limits import Limits
from exploracoder_kernel.sidecar import Sidecar

# A person's cell may run for days and print a lot; what a front end can show is limited.
NOTEBOOK_LIMITS = Limits(wall_seconds=None, max_output_chars=10_000_000)
# What a subtask's cell shows becomes a candidate's output, with the same bounds.
_SUBTASK_LIMITS = Limits(wall_seconds=None)


@dataclass(frozen=True, slots=True)
class NotebookCell:
    """A cell that a front end asks to run, and how.

    Attributes:
        is_of_subtask: Whether to tell whoever steers the exploration what it showed.
    """

    request: Request
    content: ExecuteRequest
    options: RequestOptions
    is_of_subtask: bool = False

    @classmethod
    def of(cls, request: Request) -> NotebookCell:
        """Read an ``execute_request``. Raises BadRequest if it is malformed."""
        message = request.message
        return cls(request, read(ExecuteRequest, message["content"]), options_of(message))

    @property
    def limits(self) -> Limits:
        """The cell's own limits, or the defaults for its kind."""
        usual = _SUBTASK_LIMITS if self.is_of_subtask else NOTEBOOK_LIMITS
        return self.options.limits or usual

    @property
    def is_observed(self) -> bool:
        """Whether the reply carries the Observation and no front end watches."""
        return self.options.observe and not self.is_of_subtask

    @property
    def stops_others(self) -> bool:
        """Whether the cells queued behind it are skipped if it fails."""
        return self.content.stop_on_error and not self.content.silent

    def as_asked(self) -> CellRequest:
        """The request in the form that the branch takes."""
        message, content = self.request.message, self.content
        return CellRequest(
            silent=content.silent,
            store_history=content.is_stored,
            user_expressions=content.user_expressions,
            parent={"header": message["header"], "metadata": message["metadata"]},
            wants_variables=self.is_of_subtask,
        )


class Cells:
    """Runs the cells of front ends, and delivers their widgets' messages."""

    def __init__(
        self, sidecar: Sidecar, kernel: ConcurrentKernel, branches: Branches, records: Records
    ) -> None:
        self._sidecar = sidecar
        self._kernel = kernel
        self._branches = branches
        self._records = records

    async def execute(self, cell: NotebookCell, record: Record) -> tuple[Content, Content]:
        """Run a cell to its end, and return the reply's content and metadata, whatever it does.

        A subtask's cell runs in a fresh fork of a branch, which stays until somebody drops it.

        Raises:
            SidecarError: It could not run at all, since its branch is gone or can't be rebuilt.
        """
        start_time = datetime.now(timezone.utc).isoformat()
        base = self._branches.base_of(cell.content, cell.options)
        if base is not None:
            cell = replace(cell, is_of_subtask=True)
            record = await self._fork_for_subtask(base)
        observation = await self._run(cell, record)
        if cell.is_of_subtask:
            self._tell(cell, record, observation)
        about: Content = {"branch": record.id}
        if cell.is_observed:
            about["observation"] = observation.model_dump(mode="json")
        content = _reply_content(observation, record.count)
        return content, {"started": start_time, METADATA_KEY: about}

    async def pass_on(self, request: Request, record: Record) -> None:
        """Hand a comm message to the branch, and wait until its handlers have run.

        Their output is published under this message.

        Raises:
            BadRequest: The message names no comm.
            SidecarError: The branch could not take it.
        """
        message, content = request.message, request.message["content"]
        if not isinstance(content.get("comm_id"), str):
            raise BadRequest("It names no comm.")
        target = str(content.get("target_name", ""))
        record.note_comm(message["msg_type"], content["comm_id"], target)
        fields = {name: message[name] for name in ("msg_type", "header", "content", "metadata")}
        fields["buffers"] = [bytes(buffer) for buffer in message["buffers"]]
        with CellFrontEnd(self._kernel, request, record) as front_end:
            await self._sidecar.send_comm(record.id, fields, NOTEBOOK_LIMITS, front_end=front_end)

    async def _run(self, cell: NotebookCell, record: Record) -> Observation:
        content, number = cell.content, record.count + 1
        if not content.silent:
            input_content = {"code": content.code, "execution_count": number}
            self._kernel.publish("execute_input", input_content, cell.request.message)
        front_end = CellFrontEnd(
            self._kernel, cell.request, record, allow_stdin=content.allow_stdin
        )
        with front_end:
            observation = await self._sidecar.run(
                record.id,
                content.code,
                cell.limits,
                front_end=None if cell.is_observed else front_end,
                request=cell.as_asked(),
            )
            if cell.is_observed and not content.silent:
                for output in observation.outputs:
                    front_end.output(dict(output))
        if content.is_stored:
            record.count = number
            record.history = record.history.plus(number, content.code, observation.result)
        return observation

    async def _fork_for_subtask(self, base: Record) -> Record:
        answer = await self._branches.fork(base.id, goal="yours")
        record = self._records.find(answer["branch"])
        record.is_by_hand = True
        return record

    def _tell(self, cell: NotebookCell, record: Record, observation: Observation) -> None:
        """Tell whoever steers the exploration what a subtask's cell showed."""
        run = CellRun(
            subtask=str(cell.options.subtask),
            code=cell.content.code,
            branch=record.id,
            observation=_plain(observation),
        )
        content = run.model_dump(mode="json")
        self._kernel.publish("exploracoder_cell_run", content, cell.request.message)


def _plain(observation: Observation) -> Observation:
    """The Observation as the engine sees it, without colour codes in the traceback."""
    error = observation.error
    if error is None:
        return observation
    lines = tuple(without_colours(line) for line in error.traceback)
    plain = error.model_copy(update={"traceback": lines})
    return observation.model_copy(update={"error": plain})


def _reply_content(observation: Observation, number: int) -> Content:
    content: Content = {
        "status": "ok",
        "execution_count": number,
        "user_expressions": observation.user_expressions,
        "payload": list(observation.payloads),
    }
    if not observation.ran:
        report = observation.error or ErrorReport(ename="Interrupted", evalue=observation.status)
        error = report.model_dump(mode="json", include={"ename", "evalue", "traceback"})
        content.update(error, status="error")
    return content
