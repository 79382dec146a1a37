"""The kernel front: takes requests, has each answered in its turn."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine
from typing import Any

from exploracoder_kernel.errors import SidecarError
from exploracoder_kernel.kernel import messages, queries
from exploracoder_kernel.kernel.answering import Answering
from exploracoder_kernel.kernel.channels import ChannelName, Channels, Reply, Request
from exploracoder_kernel.kernel.front_end import Questions
from exploracoder_kernel.kernel.messages import BadRequest
from exploracoder_kernel.kernel.records import Record, Records
from exploracoder_kernel.sidecar import Sidecar

_log = logging.getLogger("exploracoder.kernel")

_INTERRUPT, _SHUTDOWN = "interrupt_request", "shutdown_request"


class Front:
    """Serves the requests of all front ends until one of them shuts the kernel down.

    Requests of one branch are answered in the order in which they came, different branches at the
    same time. What needs no branch, and all that comes on the control channel, is answered at once.
    """

    def __init__(self, sidecar: Sidecar, channels: Channels, about: queries.About) -> None:
        self._sidecar = sidecar
        self._channels = channels
        self._records = Records(sidecar.root)
        self._questions = Questions(channels)
        self._answering = Answering(sidecar, channels, self._records, self._questions, about)
        self._tasks: set[asyncio.Task[None]] = set()
        self._stopped = asyncio.Event()

    async def serve(self) -> None:
        """Answer until ``stop`` is called or requested."""
        readers = [
            self._start(self._take("shell")),
            self._start(self._take("control")),
            self._start(self._questions.listen()),
        ]
        stopped = asyncio.ensure_future(self._stopped.wait())
        try:
            await asyncio.wait({stopped, *readers}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            stopped.cancel()
            tasks = tuple(self._tasks)
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            self._answering.arrivals.close()

    def stop(self) -> None:
        """End ``serve``; what runs is cancelled."""
        self._stopped.set()

    def interrupt(self, branch_id: str | None = None) -> None:
        """Interrupt a branch; when none is named, what people run or else all that runs.

        People run the current branch, and the cells of subtasks.

        Raises:
            BranchNotFound: There is no such branch.
        """
        named = self._records.find(branch_id)
        chosen = [named]
        if branch_id is None:
            running = [record for record in self._records if record.is_running]
            peoples = [record for record in running if record is named or record.is_by_hand]
            chosen = peoples or running
        for record in chosen:
            self._start(self._sidecar.interrupt(record.id))

    async def _take(self, channel: ChannelName) -> None:
        async for request in self._channels.requests(channel):
            try:
                self._place(request)
            except Exception as error:  # noqa: BLE001  # the outermost frame of a request
                self._answer_error(request, error)

    def _place(self, request: Request) -> None:
        """Have a request answered now, or put it at the end of its branch's line."""
        is_about_a_branch = self._answering.needs_branch(request)
        if request.channel == "control" or not is_about_a_branch:
            self._start(self._handle(request, None))
            return
        record = self._answering.record_for(request)
        record.waiting.append(request)
        if not record.is_working:
            record.is_working = True
            self._start(self._work(record))

    async def _work(self, record: Record) -> None:
        try:
            while record.waiting:
                await self._handle(record.waiting.popleft(), record)
        finally:
            record.is_working = False

    async def _handle(self, request: Request, record: Record | None) -> None:
        self._say("busy", request)
        try:
            is_failure = await self._answer(request, record)
        except Exception as error:  # noqa: BLE001  # the outermost frame of a request
            self._reply_error(request, error)
            is_failure = False
        finally:
            self._say("idle", request)
        if is_failure and record is not None:
            # Cells that were sent in one go have arrived by then.
            await asyncio.sleep(0)
            self._abort(record, request)

    async def _answer(self, request: Request, record: Record | None) -> bool:
        """Answer a request; True when it was a cell whose followers should not run."""
        if request.kind == _INTERRUPT:
            self.interrupt(messages.wishes(request.metadata).branch)
            reply = Reply({"status": "ok"})
        elif request.kind == _SHUTDOWN:
            asked = messages.read(messages.Shutdown, request.content)
            reply = Reply({"status": "ok", "restart": asked.restart})
            self.stop()
        else:
            outcome = await self._answering.answer(request, record)
            if outcome.reply is not None:
                self._channels.reply(request, outcome.reply)
            return outcome.is_failure
        self._channels.reply(request, reply)
        return False

    def _abort(self, record: Record, failed: Request) -> None:
        """Answer the cells that wait behind one that failed, without running them.

        What another client sent was not meant to build on it.
        """
        waiting = tuple(record.waiting)
        record.waiting.clear()
        for request in waiting:
            is_follower = request.identities == failed.identities
            if request.kind != "execute_request" or not is_follower:
                record.waiting.append(request)
                continue
            self._say("busy", request)
            self._channels.reply(request, Reply({"status": "aborted"}))
            self._say("idle", request)

    def _answer_error(self, request: Request, error: Exception) -> None:
        self._say("busy", request)
        self._reply_error(request, error)
        self._say("idle", request)

    def _reply_error(self, request: Request, error: Exception) -> None:
        if not isinstance(error, BadRequest | SidecarError):
            _log.exception("A %s could not be answered.", request.kind, exc_info=error)
        if not request.kind.endswith("_request"):
            _log.warning("A %s was left out: %s", request.kind, error)
        elif request.kind == "debug_request":
            self._channels.reply(request, Reply(queries.debug(request.content)))
        else:
            content = {
                "status": "error",
                "ename": type(error).__name__,
                "evalue": str(error),
                "traceback": [],
            }
            self._channels.reply(request, Reply(content))

    def _say(self, state: str, request: Request) -> None:
        self._channels.publish("status", {"execution_state": state}, request)

    def _start(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._ended)
        return task

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and task.exception() is not None:
            _log.error("The kernel failed.", exc_info=task.exception())
