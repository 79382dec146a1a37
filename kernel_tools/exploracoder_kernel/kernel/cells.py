"""Cells: an ``execute_request`` becomes a run in its branch."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any

from exploracoder_kernel.errors import SidecarError
from exploracoder_kernel.kernel.channels import Channels, Content, Reply, Request
from exploracoder_kernel.kernel.front_end import CellFrontEnd, Questions
from exploracoder_kernel.kernel.history import Entry
from exploracoder_kernel.kernel.messages import METADATA_KEY, Execute, Wishes
from exploracoder_kernel.kernel.records import Record
from exploracoder_kernel.limits import Limits
from exploracoder_kernel.observation import ErrorReport, Observation
from exploracoder_kernel.presentation import CellRequest
from exploracoder_kernel.sidecar import Sidecar

# A person's cell may run for days and print a lot; what a front end can show is not endless.
NOTEBOOK_LIMITS = Limits(wall_seconds=None, max_output_chars=10_000_000)

_log = logging.getLogger("exploracoder.kernel")


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a cell, its reply, and whether the cells that wait behind it make sense."""

    observation: Observation
    reply: Reply
    is_failure: bool


class Cells:
    """Runs the cells of front ends."""

    def __init__(self, sidecar: Sidecar, channels: Channels, questions: Questions) -> None:
        self._sidecar = sidecar
        self._channels = channels
        self._questions = questions

    async def execute(
        self,
        request: Request,
        cell: Execute,
        wishes: Wishes,
        record: Record,
        *,
        wants_variables: bool = False,
    ) -> Outcome:
        """Run a cell to its end; whatever it does is a reply.

        Raises:
            SidecarError: It could not run at all, and an observation was asked for.
        """
        started = _now()
        number = self._announce(request, cell, record)
        asked = _cell_request(request, cell, wants_variables)
        record.is_running = True
        try:
            observation = await self._run(request, cell, wishes, record, asked)
        except SidecarError as error:
            if wishes.observe:
                raise
            observation = self._could_not(error, request)
        finally:
            record.is_running = False
        self._remember(cell, observation, record, number)
        shown = number if _is_stored(cell) else record.count
        metadata = {"started": started, METADATA_KEY: _about(observation, wishes, record)}
        return _outcome(cell, observation, shown, metadata)

    def refuse(
        self, request: Request, cell: Execute, record: Record, error: SidecarError
    ) -> Outcome:
        """Answer a cell that could not even begin as one that failed."""
        number = self._announce(request, cell, record)
        return _outcome(cell, self._could_not(error, request), number, {"started": _now()})

    def _announce(self, request: Request, cell: Execute, record: Record) -> int:
        """Tell all front ends that a cell begins; its number is the answer."""
        number = record.count + 1
        if not cell.silent:
            content = {"code": cell.code, "execution_count": number}
            self._channels.publish("execute_input", content, request)
        return number

    async def _run(
        self, request: Request, cell: Execute, wishes: Wishes, record: Record, asked: CellRequest
    ) -> Observation:
        limits = wishes.limits or NOTEBOOK_LIMITS
        front_end = CellFrontEnd(
            self._channels, self._questions, request, record, allow_stdin=cell.allow_stdin
        )
        try:
            if not wishes.observe:
                return await self._sidecar.run(
                    record.id, cell.code, limits, front_end=front_end, request=asked
                )
            observation = await self._sidecar.run(record.id, cell.code, limits, request=asked)
            if not cell.silent:
                for output in observation.outputs:
                    front_end.output(dict(output))
            return observation
        finally:
            front_end.flush()

    def _could_not(self, error: SidecarError, request: Request) -> Observation:
        """The cell did not run at all, since its branch is gone or can't be built again."""
        report = ErrorReport(
            ename=type(error).__name__,
            evalue=str(error),
            traceback=(f"{type(error).__name__}: {error}",),
        )
        self._channels.publish("error", error_content(report), request)
        return Observation(status="error", error=report)

    def _remember(
        self, cell: Execute, observation: Observation, record: Record, number: int
    ) -> None:
        if observation.execution_count is not None:
            record.count = observation.execution_count
        if _is_stored(cell):
            record.history.add(Entry(number, cell.code, observation.result))


def error_content(report: ErrorReport) -> Content:
    """An error as the protocol says it."""
    return {
        "ename": report.ename,
        "evalue": report.evalue,
        "traceback": list(report.traceback),
    }


def _now() -> str:
    return datetime.now(timezone.utc).isoformat()


def _cell_request(request: Request, cell: Execute, wants_variables: bool) -> CellRequest:
    return CellRequest(
        silent=cell.silent,
        store_history=_is_stored(cell),
        user_expressions=cell.user_expressions,
        parent={"header": request.message["header"], "metadata": request.metadata},
        wants_variables=wants_variables,
    )


def _outcome(
    cell: Execute, observation: Observation, number: int, metadata: dict[str, Any]
) -> Outcome:
    reply = Reply(_content(observation, number), metadata)
    is_failure = not observation.ran and not cell.silent and cell.stop_on_error
    return Outcome(observation, reply, is_failure)


def _is_stored(cell: Execute) -> bool:
    return not cell.silent and (cell.store_history is None or cell.store_history)


def _content(observation: Observation, number: int) -> Content:
    content: Content = {
        "status": "ok",
        "execution_count": number,
        "user_expressions": observation.user_expressions,
        "payload": list(observation.payloads),
    }
    if observation.ran:
        return content
    report = observation.error or ErrorReport(ename="Interrupted", evalue=observation.status)
    return {**content, "status": "error", **error_content(report)}


def _about(observation: Observation, wishes: Wishes, record: Record) -> dict[str, Any]:
    about: dict[str, Any] = {"branch": record.id}
    if wishes.observe:
        about["observation"] = observation.model_dump(mode="json")
    return about
