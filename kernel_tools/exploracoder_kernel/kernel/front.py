"""The kernel's front: answers Jupyter's requests, and ours, through branches."""

from __future__ import annotations

import contextlib
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from functools import partial
from importlib.metadata import version
from typing import Any

import zmq
from jupyter_client._version import protocol_version
from pydantic import ValidationError
from pydantic_core import to_jsonable_python
from zmq.eventloop.zmqstream import ZMQStream

from exploracoder_kernel.errors import SidecarError
from exploracoder_kernel.kernel.arrivals import Arrivals
from exploracoder_kernel.kernel.branch_records import OURS, Record, Records
from exploracoder_kernel.kernel.branch_requests import Branches
from exploracoder_kernel.kernel.cell_requests import Cells, NotebookCell
from exploracoder_kernel.kernel.concurrent_kernel import ConcurrentKernel, error_content
from exploracoder_kernel.kernel.request_contents import (
    BadRequest,
    Content,
    Message,
    Request,
    options_of,
    unreadable,
)
from exploracoder_kernel.kernel.sockets import Sockets
from exploracoder_kernel.sandbox import ChosenSandbox
from exploracoder_kernel.sidecar import Sidecar

_VERSION = version("exploracoder")

# Requests that need not wait for a branch.
_AT_ONCE = frozenset(
    {
        *(f"{name}_request" for name in ("kernel_info", "connect", "history", "comm_info")),
        *("interrupt_request", "shutdown_request", f"{OURS}list_request"),
    }
)


class Front(ConcurrentKernel):
    """Answers requests through branches.

    Requests to one branch are answered in order, requests to different branches concurrently.
    Requests that need no branch, and all on the control channel, are answered at once.

    Args:
        sidecar: The sidecar whose branches answer.
        python: The interpreter of its cells.
        sandbox: How cells are sandboxed.
        sockets: Where requests arrive.
    """

    def __init__(
        self, sidecar: Sidecar, python: str, sandbox: ChosenSandbox, sockets: Sockets
    ) -> None:
        super().__init__(sockets)
        self._sidecar = sidecar
        # A console shows it first: how branches are made and sandboxed, and why.
        self.banner = (
            f"ExploraCoder {_VERSION}: a kernel whose state branches.\n"
            f"Python {sidecar.python_version} ({python})\n"
            f"Branches by {sidecar.strategy}: {sidecar.strategy_reason}.\n"
            f"Sandbox {sandbox}: {sandbox.reason}\n"
        )
        records = self._records = Records(sidecar.root)
        self._arrivals = Arrivals(sidecar, records)
        self._branches = Branches(sidecar, records, sandbox)
        self._cells = Cells(sidecar, self, self._branches, records)
        self._add_handlers()

    def _add_handlers(self) -> None:
        """Add ours to the handlers of Jupyter's requests, which the base class has registered."""
        names = ("fork", "promote", "go_to", "drop", "list", "variables", "resolve", "inspect")
        answers = {name: getattr(self._branches, name) for name in (*names, "bind")}
        answers.update(upload=self._arrivals.take, unpickle=self._arrivals.unpickle)
        for name, answer in answers.items():
            self.shell_handlers[f"{OURS}{name}_request"] = partial(self._branch_request, answer)
        for kind in ("comm_open", "comm_msg", "comm_close"):
            self.shell_handlers[kind] = self._comm_message

    def close(self) -> None:
        """Tell all front ends that the kernel is ending, and discard pending uploads."""
        super().close()
        self._arrivals.close()

    def turn(self, stream: ZMQStream, message: Message) -> AbstractAsyncContextManager[Any]:
        """The lock of the branch that a request is about, if it has to wait for one."""
        kind = message["msg_type"]
        is_in_line = stream is self.shell and kind not in _AT_ONCE
        if is_in_line and kind in self.shell_handlers:
            # Its handler reports what is wrong with it.
            with contextlib.suppress(BadRequest, SidecarError):
                return self._records.named_by(message).turn
        return contextlib.nullcontext()

    def interrupt(self, branch_id: str | None = None) -> None:
        """Interrupt a branch; if none is named, what people run, or else everything that runs.

        People run the current branch and the cells of subtasks.

        Raises:
            BranchNotFound: There is no such branch.
        """
        target = self._records.find(branch_id)
        targets = [target]
        if branch_id is None:
            running_records = [record for record in self._records if record.is_running]
            peoples = [
                record for record in running_records if record is target or record.is_by_hand
            ]
            targets = peoples or running_records
        for record in targets:
            self.start_task(self._sidecar.interrupt(record.id))

    async def _branch_request(
        self,
        answer: Callable[..., Awaitable[Content]],
        stream: ZMQStream,
        ident: list[bytes],
        parent: Message,
    ) -> None:
        try:
            content = await answer(**parent["content"])
        except ValidationError as error:
            raise unreadable(error) from error
        self.reply(stream, ident, parent, {"status": "ok", **to_jsonable_python(content)})

    async def _comm_message(self, stream: ZMQStream, ident: list[bytes], parent: Message) -> None:
        await self._cells.pass_on(Request(parent, ident), self._record())

    async def execute_request(self, stream: ZMQStream, ident: list[bytes], parent: Message) -> None:
        """Run a cell."""
        cell, record = NotebookCell.of(Request(parent, ident)), self._record()
        if record.skipped_client == ident:
            self.reply(stream, ident, parent, {"status": "aborted"})
            return
        try:
            content, metadata = await self._cells.execute(cell, record)
        except SidecarError as error:
            if not cell.options.observe:
                self.publish("error", error_content(error), parent)
            self._abort_after(cell, stream, record)
            raise
        self.reply(stream, ident, parent, content, metadata)
        if content["status"] == "error":
            self._abort_after(cell, stream, record)

    def _abort_after(self, cell: NotebookCell, stream: ZMQStream, record: Record) -> None:
        """Skip the cells that the same client has queued after one that failed.

        Another client's cells were not meant to build on it.
        """

        async def end() -> None:
            async with record.turn:  # once all that wait now have had their turn
                record.skipped_client = None

        if stream is not self.shell or not cell.stops_others:
            return
        record.skipped_client = cell.request.ident
        # Cells that were sent in one go have arrived by then.
        stream.flush(zmq.POLLIN)
        self.start_task(end())

    async def do_complete(self, code: str, cursor_pos: int) -> Content:
        """The completions at the cursor."""
        completions = await self._sidecar.complete(self._record().id, code, cursor_pos)
        return {
            "status": "ok",
            "matches": list(completions.matches),
            "cursor_start": completions.start,
            "cursor_end": completions.end,
            "metadata": completions.metadata,
        }

    async def do_inspect(
        self, code: str, cursor_pos: int, detail_level: int = 0, omit_sections: object = ()
    ) -> Content:
        """What is known about the name at the cursor."""
        branch_id = self._record().id
        bundle = await self._sidecar.inspect_at(branch_id, code, cursor_pos, detail_level)
        return {"status": "ok", "found": bool(bundle), "data": bundle, "metadata": {}}

    async def do_is_complete(self, code: str) -> Content:
        """Whether Enter should run the code or continue it."""
        try:
            status, indent = await self._sidecar.is_complete(self._record().id, code)
        except SidecarError:
            return {"status": "unknown"}
        return {"status": status, **({"indent": indent} if status == "incomplete" else {})}

    async def history_request(self, stream: ZMQStream, ident: list[bytes], parent: Message) -> None:
        """Answer with the cells of a branch that the client asks for."""
        history = self._record().history.answer(**parent["content"])
        self.reply(stream, ident, parent, {"status": "ok", "history": history})

    async def comm_info_request(
        self, stream: ZMQStream, ident: list[bytes], parent: Message
    ) -> None:
        """The open comms of a branch."""
        target_name = parent["content"].get("target_name")
        comms = {
            comm_id: {"target_name": target}
            for comm_id, target in self._record().comms.items()
            if target_name in (None, "", target)
        }
        self.reply(stream, ident, parent, {"status": "ok", "comms": comms})

    async def interrupt_request(
        self, stream: ZMQStream, ident: list[bytes], parent: Message
    ) -> None:
        """Interrupt the named branch; see ``interrupt``."""
        self.interrupt(options_of(parent).branch)
        self.reply(stream, ident, parent, {"status": "ok"})

    @property
    def kernel_info(self) -> Content:
        """About this kernel; the Python version is that of the branches, not ours."""
        return {
            "protocol_version": protocol_version,
            "implementation": "exploracoder",
            "implementation_version": _VERSION,
            "language_info": {
                "name": "python",
                "version": self._sidecar.python_version,
                "mimetype": "text/x-python",
                "codemirror_mode": {"name": "ipython", "version": 3},
                "pygments_lexer": "ipython3",
                "nbconvert_exporter": "python",
                "file_extension": ".py",
            },
            "banner": self.banner,
            "help_links": [],
            "debugger": False,
            "supported_features": [],
        }

    def _record(self) -> Record:
        """The branch that the current request is about."""
        return self._records.named_by(self.get_parent("shell"))
