"""Cells: an ``execute_request`` becomes a run in its branch. Comm messages take the same way."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timezone

from exploracoder_kernel.errors import SidecarError
from exploracoder_kernel.kernel.concurrent_kernel import ConcurrentKernel
from exploracoder_kernel.kernel.contents import (
    METADATA_KEY,
    BadRequest,
    Content,
    ExecuteRequest,
    Request,
    RequestOptions,
)
from exploracoder_kernel.kernel.front_end import CellFrontEnd
from exploracoder_kernel.kernel.records import Record
from exploracoder_kernel.limits import Limits
from exploracoder_kernel.observation import ErrorReport, Observation
from exploracoder_kernel.presentation import CellRequest
from exploracoder_kernel.sidecar import Sidecar

# A person's cell may run for days and print a lot; what a front end can show is not endless.
NOTEBOOK_LIMITS = Limits(wall_seconds=None, max_output_chars=10_000_000)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a cell, its reply, and whether the cells that wait behind it make sense."""

    observation: Observation
    content: Content
    metadata: Content
    is_failure: bool


class Cells:
    """Runs the cells of front ends, and what their widgets say."""

    def __init__(self, sidecar: Sidecar, kernel: ConcurrentKernel) -> None:
        self._sidecar = sidecar
        self._kernel = kernel

    async def execute(
        self,
        request: Request,
        cell: ExecuteRequest,
        options: RequestOptions,
        record: Record,
        *,
        wants_variables: bool = False,
    ) -> Outcome:
        """Run a cell to its end; whatever it does is a reply.

        Raises:
            SidecarError: It could not run at all, and an observation was asked for.
        """
        about: Content = {"branch": record.id}
        metadata = {"started": _now(), METADATA_KEY: about}
        number = self._announce(request, cell, record)
        asked = _cell_request(request, cell, wants_variables)
        record.is_running = True
        try:
            observation = await self._run(request, cell, options, record, asked)
        except SidecarError as error:
            if options.observe:
                raise
            observation = self._could_not(error, request)
        finally:
            record.is_running = False
        if options.observe:
            about["observation"] = observation.model_dump(mode="json")
        if cell.is_stored:
            record.count = number
            record.history = record.history.plus(number, cell.code, observation.result)
        return _outcome(cell, observation, record.count, metadata)

    def refuse(
        self, request: Request, cell: ExecuteRequest, record: Record, error: SidecarError
    ) -> Outcome:
        """Answer a cell that could not even begin as one that failed."""
        number = self._announce(request, cell, record)
        return _outcome(cell, self._could_not(error, request), number, {"started": _now()})

    async def pass_on(self, request: Request, record: Record) -> None:
        """Hand a comm message to the branch, and wait until its handlers have run.

        What they put out is shown under it.

        Raises:
            BadRequest: It names no comm.
            SidecarError: The branch could not take it.
        """
        message, content = request.message, request.message["content"]
        if not isinstance(content.get("comm_id"), str):
            raise BadRequest("It names no comm.")
        record.note_comm(
            message["msg_type"], content["comm_id"], str(content.get("target_name", ""))
        )
        passed = {name: message[name] for name in ("msg_type", "header", "content", "metadata")}
        passed["buffers"] = [bytes(buffer) for buffer in message["buffers"]]
        front_end = self._front_end(request, record, allow_stdin=False)
        record.is_running = True
        try:
            await self._sidecar.send_comm(record.id, passed, NOTEBOOK_LIMITS, front_end=front_end)
        finally:
            record.is_running = False
            front_end.flush()

    def _front_end(self, request: Request, record: Record, *, allow_stdin: bool) -> CellFrontEnd:
        return CellFrontEnd(self._kernel, request, record, allow_stdin=allow_stdin)

    def _announce(self, request: Request, cell: ExecuteRequest, record: Record) -> int:
        """Tell all front ends that a cell begins; its number is the answer."""
        number = record.count + 1
        if not cell.silent:
            content = {"code": cell.code, "execution_count": number}
            self._kernel.publish("execute_input", content, request.message)
        return number

    async def _run(
        self,
        request: Request,
        cell: ExecuteRequest,
        options: RequestOptions,
        record: Record,
        asked: CellRequest,
    ) -> Observation:
        limits = options.limits or NOTEBOOK_LIMITS
        front_end = self._front_end(request, record, allow_stdin=cell.allow_stdin)
        shown = None if options.observe else front_end
        try:
            observation = await self._sidecar.run(
                record.id, cell.code, limits, front_end=shown, request=asked
            )
            if options.observe and not cell.silent:
                for output in observation.outputs:
                    front_end.output(dict(output))
            return observation
        finally:
            front_end.flush()

    def _could_not(self, error: SidecarError, request: Request) -> Observation:
        """The cell did not run at all, since its branch is gone or can't be built again."""
        name = type(error).__name__
        report = ErrorReport(ename=name, evalue=str(error), traceback=(f"{name}: {error}",))
        self._kernel.publish("error", _error_content(report), request.message)
        return Observation(status="error", error=report)


def _now() -> str:
    return datetime.now(timezone.utc).isoformat()


def _cell_request(request: Request, cell: ExecuteRequest, wants_variables: bool) -> CellRequest:
    message = request.message
    return CellRequest(
        silent=cell.silent,
        store_history=cell.is_stored,
        user_expressions=cell.user_expressions,
        parent={"header": message["header"], "metadata": message["metadata"]},
        wants_variables=wants_variables,
    )


def _outcome(
    cell: ExecuteRequest, observation: Observation, number: int, metadata: Content
) -> Outcome:
    content: Content = {
        "status": "ok",
        "execution_count": number,
        "user_expressions": observation.user_expressions,
        "payload": list(observation.payloads),
    }
    if not observation.ran:
        report = observation.error or ErrorReport(ename="Interrupted", evalue=observation.status)
        content.update({"status": "error", **_error_content(report)})
    is_failure = not observation.ran and not cell.silent and cell.stop_on_error
    return Outcome(observation, content, metadata, is_failure)


def _error_content(report: ErrorReport) -> Content:
    """An error as the protocol says it."""
    return report.model_dump(mode="json", include={"ename", "evalue", "traceback"})
