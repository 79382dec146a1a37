"""Comms: what widgets of a front end and their objects in a branch say to each other."""

from __future__ import annotations

from typing import Any

from exploracoder_kernel.kernel import messages
from exploracoder_kernel.kernel.cells import NOTEBOOK_LIMITS
from exploracoder_kernel.kernel.channels import Channels, Request
from exploracoder_kernel.kernel.front_end import CellFrontEnd, Questions, note_comm
from exploracoder_kernel.kernel.records import Record
from exploracoder_kernel.sidecar import Sidecar


class Comms:
    """Passes messages on; what their handlers in the branch put out is shown under them."""

    def __init__(self, sidecar: Sidecar, channels: Channels, questions: Questions) -> None:
        self._sidecar = sidecar
        self._channels = channels
        self._questions = questions

    async def pass_on(self, request: Request, record: Record) -> None:
        """Hand a comm message to the branch, and wait until its handlers have run.

        Raises:
            BadRequest: It names no comm.
            SidecarError: The branch could not take it.
        """
        messages.read(messages.Comm, request.content)
        note_comm(record, request.kind, request.content)
        message: dict[str, Any] = {
            "msg_type": request.kind,
            "header": request.message["header"],
            "content": request.content,
            "metadata": request.metadata,
            "buffers": request.buffers,
        }
        front_end = CellFrontEnd(
            self._channels, self._questions, request, record, allow_stdin=False
        )
        record.is_running = True
        try:
            await self._sidecar.send_comm(record.id, message, NOTEBOOK_LIMITS, front_end=front_end)
        finally:
            record.is_running = False
            front_end.flush()
