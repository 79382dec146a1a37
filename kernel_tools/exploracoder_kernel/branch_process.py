"""The client of one branch process."""

from __future__ import annotations

import asyncio
import math
import socket
import time
from typing import Any

from exploracoder_kernel.branch.wire import Message
from exploracoder_kernel.connection import Connection, ConnectionClosed, ProtocolError
from exploracoder_kernel.launch import End, Launch
from exploracoder_kernel.messages import check, checked, fork_reply, ready_pid
from exploracoder_kernel.pipes import Pipes
from exploracoder_kernel.presentation import FrontEnd, LateOutput
from exploracoder_kernel.run_limits import Limits

FORK_SECONDS = 5.0
# The branch itself gives up on a fork earlier. If it says nothing, it is usually just waiting for
# CPU time on a busy machine, and a timeout here would kill it.
_FORKED_SECONDS = 20.0
_READY_SECONDS = 60.0
_ASK_SECONDS = 30.0


class ForkRefused(Exception):  # noqa: N818  # an answer, which leads to a replay
    """A process can't be forked; ``str()`` says why."""


class BranchDied(Exception):  # noqa: N818  # a fact about the process, not our failure
    """The process ended while handling a request."""

    def __init__(self, end: End) -> None:
        super().__init__(end.sentence())
        self.end = end


class BranchProcess:
    """One process with one state; it must not get two requests at a time."""

    def __init__(self, launch: Launch, connection: Connection, pipes: Pipes) -> None:
        self.launch = launch
        self.connection = connection
        self.pipes = pipes
        connection.before_read = pipes.pump
        self.pid = 0
        self.is_fork = False
        self.has_hung = False
        self.resident_bytes = 0
        self._end: asyncio.Future[End] | None = None
        self.is_alive = False
        self._late: LateOutput | None = None
        self._listener: asyncio.Task[None] | None = None
        self._request_number = 0

    async def wait_ready(
        self, timeout_s: float = _READY_SECONDS, *, parent: int | None = None
    ) -> None:
        """Wait for the process's first message; ``parent`` is the process that it was forked from.

        Raises:
            TimeoutError: It sent nothing.
            ConnectionClosed: It has gone.
            ProtocolError: It sent something else, or claims to be another process.
        """
        pid = ready_pid(await self.connection.receive(timeout_s))
        if self._end is None:
            self.expect(pid, parent)
        elif pid != self.pid:
            raise ProtocolError("said to be a process that it is not")
        self.is_alive = True

    def expect(self, pid: int, parent: int | None = None) -> None:
        """Have the reaper watch the process; ``parent`` as in ``wait_ready``."""
        self._end = self.launch.adopt(pid, parent)
        self.pid = pid
        self._end.add_done_callback(self._note_end)

    def _note_end(self, _end: asyncio.Future[End]) -> None:
        self.is_alive = False
        self.connection.mark_ended()

    @property
    def is_watched(self) -> bool:
        """Whether a front end watched its last run, and may still show widgets from it."""
        return self._late is not None

    async def start_run(self) -> None:
        """Prepare for a run: whatever arrives from now on belongs to it."""
        await self._stop_listening()
        self._late = None

    def end_run(self, front_end: FrontEnd | None, limits: Limits) -> None:
        """Clean up after a run; if a front end watched it, keep showing late output."""
        if front_end is not None:
            self._late = LateOutput(front_end, limits.max_output_chars)
        self._listen()

    def _listen(self) -> None:
        """Until the next request, show output from threads and child processes of the last run.

        Only done if a front end watched that run.
        """
        if self._late is not None and self.is_alive:
            self.pipes.recorder = self._late
            self._listener = asyncio.create_task(self._show_late(self._late))

    async def _show_late(self, late: LateOutput) -> None:
        try:
            while True:
                late.take(await self.next(math.inf))
        except ConnectionClosed:
            self.is_alive = False
        except ProtocolError:
            self.kill_now()

    async def _stop_listening(self) -> None:
        """Stop before a request; what was written so far still belongs to the previous run."""
        listener, self._listener = self._listener, None
        if listener is not None:
            self.pipes.pump()
            listener.cancel()
            await asyncio.wait({listener})

    async def _exchange(
        self, request: Message, descriptors: tuple[int, ...], timeout_s: float
    ) -> Message:
        """Send a request that is not a run and await its reply; earlier messages are from threads.

        Raises:
            TimeoutError, ConnectionClosed, ProtocolError: No reply came; the process was killed.
        """
        await self._stop_listening()
        try:
            await self.request(request, descriptors)
            deadline = time.monotonic() + timeout_s
            while "reply" not in (message := await self.next(deadline)):
                if self._late is not None:
                    self._late.take(message)
        except (TimeoutError, ConnectionClosed, ProtocolError):
            await self.kill()
            raise
        except asyncio.CancelledError:
            self.kill_now()
            raise
        finally:
            self._listen()
        return message

    async def ask(
        self,
        op: str,
        *,
        descriptors: tuple[int, ...] = (),
        timeout_s: float = _ASK_SECONDS,
        **fields: Any,
    ) -> dict[str, Any]:
        """Send a request that is not a run, along with the descriptors, and return the reply.

        Raises:
            BranchDied: The process ended over it, or was killed because it did not answer.
            SidecarError: It answered that it could not.
        """
        try:
            message = await self._exchange({"op": op, **fields}, descriptors, timeout_s)
        except ConnectionClosed:
            raise BranchDied(await self.end()) from None
        except (TimeoutError, ProtocolError):
            raise BranchDied(End(signal=9)) from None
        return checked(message["reply"])

    async def fork(self, *, is_forced: bool) -> BranchProcess:
        """Fork a new process with the same state.

        Raises:
            ForkRefused: Forking is not safe, or failed.
        """
        ours, theirs = socket.socketpair()
        pipes = Pipes()
        child = BranchProcess(self.launch, Connection(ours), pipes)
        child.is_fork, child.resident_bytes = True, self.resident_bytes
        try:
            descriptors = (theirs.fileno(), *pipes.write_ends)
            pid = await self._request_fork(descriptors, is_forced)
            if pid is not None:
                child.expect(pid, self.pid)
            await child.wait_ready(FORK_SECONDS, parent=self.pid)
        except BaseException as error:
            child.kill_now()
            child.close()
            if isinstance(error, (TimeoutError, ConnectionClosed, ProtocolError)):
                raise ForkRefused(f"the fork did not answer in {FORK_SECONDS:g} s") from None
            raise
        finally:
            theirs.close()
            pipes.close_write_ends()
        return child

    async def _request_fork(self, descriptors: tuple[int, ...], is_forced: bool) -> int | None:
        self.launch.expect_fork(self.pid)
        request = {"op": "fork", "is_forced": is_forced}
        message = await self._exchange(request, descriptors, _FORKED_SECONDS)
        try:
            refusal, pid = fork_reply(message)
        except ProtocolError:
            await self.kill()
            raise
        if refusal is not None:
            raise ForkRefused(refusal)
        return pid

    async def request(self, message: Message, descriptors: tuple[int, ...] = ()) -> None:
        """Send a request; from now on, a reply to any other one is a protocol error.

        Raises:
            TimeoutError, ConnectionClosed: The process does not accept it.
        """
        self._request_number += 1
        await self.connection.send({**message, "number": self._request_number}, descriptors)

    async def next(self, deadline: float) -> Message:
        """The next message while the process works.

        Raises:
            TimeoutError, ConnectionClosed, ProtocolError: No valid one came.
        """
        message = await self.connection.receive(deadline - time.monotonic())
        check(message)
        if "reply" in message and message.get("number") != self._request_number:
            raise ProtocolError("answered what it was not asked")
        return message

    def interrupt(self) -> None:
        """Send SIGINT, which stops what is running and has no effect otherwise."""
        self.launch.interrupt(self.pid)

    def kill_now(self) -> None:
        """Ask for SIGKILL and forget the process."""
        self.is_alive = False
        if self.pid:
            self.launch.kill(self.pid)
        self.connection.mark_ended()

    async def kill(self) -> None:
        """Send SIGKILL, and wait until the process has ended."""
        self.kill_now()
        if self.pid:
            await self.end()

    async def end(self) -> End:
        """How the process ended; the reaper reports it shortly after the socket has closed."""
        self.is_alive = False
        if self._end is not None:
            await asyncio.wait({self._end}, timeout=2.0)
            if self._end.done():
                return self._end.result()
        return End()

    def close(self) -> None:
        """Close our ends; an idle process then exits by itself."""
        self.is_alive = False
        if self._listener is not None:
            self._listener.cancel()
        self.connection.close()
        self.pipes.close()
