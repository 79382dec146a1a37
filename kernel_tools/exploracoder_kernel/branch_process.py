"""The client of one branch process."""

from __future__ import annotations

import asyncio
import contextlib
import math
import socket
import time
from typing import Any

from exploracoder_kernel import hangs
from exploracoder_kernel.branch.wire import Message
from exploracoder_kernel.connection import Connection, ConnectionClosed, ProtocolError
from exploracoder_kernel.errors import SidecarError
from exploracoder_kernel.launch import End, Launch
from exploracoder_kernel.limits import Limits
from exploracoder_kernel.messages import check, fork_reply, ready_pid
from exploracoder_kernel.observation import ErrorReport, Observation, RunStatus, Variable
from exploracoder_kernel.pipes import Pipes
from exploracoder_kernel.recording import Recorder
from exploracoder_kernel.verdicts import with_limits

GRACE_SECONDS = 1.0
FORK_SECONDS = 5.0
_READY_SECONDS = 60.0
_ASK_SECONDS = 30.0
_DESCRIBE_SECONDS = 20.0


class ForkRefused(Exception):  # noqa: N818  # an answer, which leads to a replay
    """A process can't be forked; ``str()`` says why."""


class BranchDied(Exception):  # noqa: N818  # a fact about the process, not our failure
    """The process ended while it was asked something."""

    def __init__(self, end: End) -> None:
        super().__init__(end.sentence())
        self.end = end


class BranchProcess:
    """One process with one state. Not to be asked two things at a time."""

    def __init__(self, launch: Launch, connection: Connection, pipes: Pipes) -> None:
        self.launch = launch
        self._connection = connection
        self._pipes = pipes
        self._pid = 0
        self.is_fork = False
        self.has_hung = False
        self.resident_bytes = 0
        self._ended: asyncio.Future[End] | None = None
        self.is_alive = False

    async def wait_ready(
        self, timeout_s: float = _READY_SECONDS, *, parent: int | None = None
    ) -> None:
        """Wait for the process's first word; ``parent`` is the process that it was forked from.

        Raises:
            TimeoutError: It said nothing.
            ConnectionClosed: It has gone.
            ProtocolError: What came is not its first word.
        """
        pid = ready_pid(await self._connection.receive(timeout_s))
        if self._ended is None:
            self._expect(pid, parent)
        elif pid != self._pid:
            raise ProtocolError("said to be a process that it is not")
        self.is_alive = True

    def _expect(self, pid: int, parent: int | None) -> None:
        self._ended = self.launch.adopt(pid, parent)
        self._pid = pid
        self._ended.add_done_callback(self._note_end)

    def _note_end(self, _end: asyncio.Future[End]) -> None:
        self.is_alive = False
        self._connection.mark_ended()

    async def run(self, code: str, limits: Limits, *, may_force: bool) -> Observation:
        """Run a snippet; whatever it does is an Observation."""
        self.has_hung = False
        recorder = self._pipes.recorder = Recorder(limits.max_output_chars)
        self.launch.start_run(self._pid, limits)
        started = time.monotonic()
        try:
            outcome = await self._run(code, limits, recorder, may_force)
        except asyncio.CancelledError:
            await self._stop(recorder)
            raise
        finally:
            hits = self.launch.stop_run(self._pid)
            self._pipes.recorder = None
        outcome = with_limits(outcome, hits, limits)
        outcome.setdefault("seconds", time.monotonic() - started)
        self.resident_bytes = int(outcome.pop("resident_bytes", self.resident_bytes))
        return _observe(outcome, recorder, limits)

    async def _run(
        self, code: str, limits: Limits, recorder: Recorder, may_force: bool
    ) -> dict[str, Any]:
        request = {
            "op": "run",
            "code": code,
            "max_output_chars": limits.max_output_chars,
            "memory_bytes": limits.memory_bytes,
            "may_force": may_force,
        }
        try:
            await self._connection.send(request)
            try:
                return await self._outcome(recorder, limits.wall_seconds or math.inf)
            except TimeoutError:
                return await self._time_out(recorder, limits)
        except ConnectionClosed:
            end = await self._end()
            return _error("killed", "ProcessDied", end.sentence())
        except ProtocolError as error:
            await self.kill()
            return _error(
                "killed", "ProtocolError", f"The branch's process {error} and was killed."
            )
        except SidecarError as error:
            return _error("error", "SidecarError", str(error))

    async def _outcome(self, recorder: Recorder, timeout_s: float) -> dict[str, Any]:
        """Take outputs until the reply; the limit holds until the snippet's own end."""
        deadline = time.monotonic() + timeout_s
        while True:
            message = await self._next(deadline)
            self._pipes.pump()
            if "output" in message:
                recorder.add(message["output"])
            elif "finished" in message:
                deadline = time.monotonic() + _DESCRIBE_SECONDS
            elif "reply" in message:
                return _checked(message["reply"])

    async def _time_out(self, recorder: Recorder, limits: Limits) -> dict[str, Any]:
        sentence = f"The snippet ran longer than {limits.wall_seconds:g} s and was "
        hit = {"limits_hit": ["wall_seconds"]}
        waits = await hangs.what_for(self.launch, self._pid) if self.is_fork else None
        self.has_hung = waits is hangs.Wait.LOCKS
        self.launch.interrupt(self._pid)
        try:
            outcome = await self._outcome(recorder, GRACE_SECONDS)
        except TimeoutError:
            self.has_hung = waits in (hangs.Wait.LOCKS, hangs.Wait.UNKNOWN)
            await self.kill()
            return {**_error("timeout", "TimeoutError", sentence + "killed."), **hit}
        error = {**_error("timeout", "TimeoutError", sentence + "interrupted.")["error"]}
        stopped_at = outcome.get("error") or {}
        error.update({key: stopped_at[key] for key in ("line", "traceback") if key in stopped_at})
        return {**outcome, "status": "timeout", "error": error, **hit}

    async def _stop(self, recorder: Recorder) -> None:
        """The run was cancelled: leave the branch either ready for the next one, or dead."""
        self.launch.interrupt(self._pid)
        try:
            await self._outcome(recorder, GRACE_SECONDS)
        except (TimeoutError, ConnectionClosed, ProtocolError, SidecarError):
            self.kill_now()
        except asyncio.CancelledError:
            self.kill_now()
            raise

    async def ask(self, op: str, **fields: Any) -> dict[str, Any]:
        """Ask something that is no run.

        Raises:
            BranchDied: The process ended over it, or had to be killed since it did not answer.
            SidecarError: It answered that it could not.
        """
        try:
            await self._connection.send({"op": op, **fields})
            deadline = time.monotonic() + _ASK_SECONDS
            while "reply" not in (message := await self._next(deadline)):
                continue
        except ConnectionClosed:
            raise BranchDied(await self._end()) from None
        except (TimeoutError, ProtocolError):
            await self.kill()
            raise BranchDied(End(signal=9)) from None
        except asyncio.CancelledError:
            self.kill_now()
            raise
        return _checked(message["reply"])

    async def fork(self, *, is_forced: bool) -> BranchProcess:
        """A new process with the same state.

        Raises:
            ForkRefused: It is not safe, or did not work.
        """
        ours, theirs = socket.socketpair()
        pipes = Pipes()
        child = BranchProcess(self.launch, Connection(ours), pipes)
        child.is_fork, child.resident_bytes = True, self.resident_bytes
        try:
            descriptors = (theirs.fileno(), *pipes.write_ends)
            pid = await self._request_fork(descriptors, is_forced)
            if pid is not None:
                child._expect(pid, self._pid)
            await child.wait_ready(FORK_SECONDS, parent=self._pid)
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
        request = {"op": "fork", "is_forced": is_forced}
        try:
            await self._connection.send(request, descriptors)
            message = await self._connection.receive(FORK_SECONDS)
            refusal, pid = fork_reply(message)
        except (TimeoutError, ConnectionClosed, ProtocolError):
            await self.kill()
            raise
        except asyncio.CancelledError:
            self.kill_now()
            raise
        if refusal is not None:
            raise ForkRefused(refusal)
        return pid

    async def _next(self, deadline: float) -> Message:
        message = await self._connection.receive(deadline - time.monotonic())
        check(message)
        return message

    def interrupt(self) -> None:
        """SIGINT: stops what runs, and nothing when nothing runs."""
        self.launch.interrupt(self._pid)

    def kill_now(self) -> None:
        """Ask for SIGKILL and forget the process."""
        self.is_alive = False
        if self._pid:
            self.launch.kill(self._pid)
        self._connection.mark_ended()

    async def kill(self) -> None:
        """SIGKILL, and wait until it has ended."""
        self.kill_now()
        if self._pid:
            await self._end()

    async def _end(self) -> End:
        """How the process ended; the keeper says so a moment after the socket closed."""
        self.is_alive = False
        if self._ended is not None:
            with contextlib.suppress(TimeoutError, asyncio.TimeoutError):
                return await asyncio.wait_for(asyncio.shield(self._ended), 2.0)
        return End()

    def close(self) -> None:
        """Close our ends: an idle process ends by itself then."""
        self.is_alive = False
        self._connection.close()
        self._pipes.close()


def _checked(reply: dict[str, Any]) -> dict[str, Any]:
    if "failed" in reply:
        raise SidecarError(f"A branch could not answer: {reply['failed']}.")
    return reply


def _error(status: RunStatus, ename: str, evalue: str) -> dict[str, Any]:
    report = {"ename": ename, "evalue": evalue, "traceback": [f"{ename}: {evalue}"], "line": None}
    return {"status": status, "error": report}


def _observe(outcome: dict[str, Any], recorder: Recorder, limits: Limits) -> Observation:
    recorder.finish()
    report = outcome.get("error")
    error = None if report is None else ErrorReport.model_validate(report)
    is_cut = recorder.is_truncated or len(recorder.result or "") > limits.max_output_chars
    hit = [*outcome.get("limits_hit", ()), *(["max_output_chars"] if is_cut else [])]
    return Observation(
        status=outcome["status"],
        stdout=recorder.text("stdout"),
        stderr=recorder.text("stderr"),
        result=recorder.result,
        outputs=(*recorder.outputs(), *([_error_output(error)] if error else [])),
        error=error,
        variables=tuple(Variable.model_validate(v) for v in outcome.get("variables", ())),
        seconds=outcome["seconds"],
        is_truncated=is_cut,
        limits_hit=tuple(hit),
    )


def _error_output(error: ErrorReport) -> dict[str, Any]:
    return {
        "output_type": "error",
        "ename": error.ename,
        "evalue": error.evalue,
        "traceback": list(error.traceback),
    }
