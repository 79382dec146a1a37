"""A run of a snippet in a process, from the request to the Observation."""

from __future__ import annotations

import asyncio
import base64
import math
import time
from typing import Any

from pydantic import ValidationError

from exploracoder_kernel import deadlocks
from exploracoder_kernel.branch.wire import Message
from exploracoder_kernel.branch_process import BranchProcess
from exploracoder_kernel.connection import ConnectionClosed, ProtocolError
from exploracoder_kernel.errors import SidecarError
from exploracoder_kernel.messages import check_run, checked
from exploracoder_kernel.observation import ErrorReport, Observation, Variable
from exploracoder_kernel.presentation import CellRequest, FrontEnd, Presenter
from exploracoder_kernel.recording import Recorder
from exploracoder_kernel.run_limits import Limits
from exploracoder_kernel.verdicts import failure, sandbox_sentence, with_limits

GRACE_SECONDS = 1.0
_DESCRIBE_SECONDS = 20.0
_COMPANY = (
    "Threads or processes that earlier cells started were running: some of this may be theirs."
)


def cell_request(
    code: str, limits: Limits, request: CellRequest, front_end: FrontEnd | None, *, may_force: bool
) -> Message:
    """The request to run a cell."""
    return {
        "op": "run",
        "code": code,
        "may_force": may_force,
        "is_silent": request.silent,
        "is_stored": request.is_stored,
        "user_expressions": dict(request.user_expressions),
        "parent": dict(request.parent),
        "has_front": front_end is not None,
        "wants_variables": front_end is None or request.wants_variables,
        "allow_stdin": front_end is not None and front_end.allow_stdin,
        **_bounds(limits),
    }


def comm_request(message: Message, limits: Limits) -> Message:
    """The request to deliver a comm message; its binary buffers travel as text."""
    buffers = [base64.b64encode(bytes(buffer)).decode() for buffer in message.get("buffers") or ()]
    fields = {key: message[key] for key in ("msg_type", "content", "metadata") if key in message}
    parent = {"header": message.get("header") or {}}
    return {
        "op": "comm",
        "message": {**fields, "buffers": buffers},
        "parent": parent,
        **_bounds(limits),
    }


def _bounds(limits: Limits) -> Message:
    return {"max_output_chars": limits.max_output_chars, "memory_bytes": limits.memory_bytes}


class Run:
    """One run; the process must get no other request meanwhile."""

    def __init__(
        self,
        process: BranchProcess,
        request: Message,
        limits: Limits,
        front_end: FrontEnd | None,
    ) -> None:
        self.process = process
        self._request = request
        self._limits = limits
        self._front_end = front_end
        self._has_finished = False
        self._presenter: Presenter | None = None
        if front_end is not None:
            self._presenter = Presenter(front_end, process.connection.send_now)
        show = self._presenter.output if self._presenter else None
        self._recorder = Recorder(limits.max_output_chars, show)

    async def observe(self) -> Observation:
        """Perform the run; whatever happens becomes an Observation."""
        await self.process.start_run()
        observation = await self._observe()
        self.process.end_run(self._front_end, self._limits)
        return observation

    async def _observe(self) -> Observation:
        process = self.process
        process.has_hung = False
        process.pipes.recorder = self._recorder
        process.launch.start_run(process.pid, self._limits)
        start = time.monotonic()
        guard = asyncio.create_task(self._end_when_stuck())
        try:
            outcome = await self._outcome_or_end()
        except asyncio.CancelledError:
            await self._stop()
            raise
        finally:
            guard.cancel()
            watch = await process.launch.stop_run(process.pid)
            process.pipes.recorder = None
            if self._presenter:
                await self._presenter.end()
        outcome = with_limits(outcome, watch, self._limits)
        if watch.had_company:
            outcome["note"] = _COMPANY
        if process.launch.launcher.limits is not None and outcome.get("error"):
            self._explain(outcome["error"])
        outcome.setdefault("seconds", time.monotonic() - start)
        process.resident_bytes = int(outcome.get("resident_bytes", process.resident_bytes))
        return await self._observation(outcome)

    def _explain(self, error: Message) -> None:
        """Add the sandbox's part in an error to the report, and show it to a front end."""
        sentence = sandbox_sentence(
            str(error.get("ename")),
            str(error.get("evalue")),
            has_network=self.process.launch.launcher.has_network,
        )
        if sentence:
            error["evalue"] = f"{error['evalue']} ({sentence})"
            if self._presenter is not None:
                text = {"output_type": "stream", "name": "stderr", "text": f"{sentence}\n"}
                self._recorder.add(text)

    async def _outcome_or_end(self) -> Message:
        try:
            try:
                await self.process.request(self._request)
            except TimeoutError:
                raise ProtocolError("did not take its request in time") from None
            try:
                return await self._outcome(self._limits.wall_seconds or math.inf)
            except TimeoutError:
                return await self._time_out(self._limits)
        except ConnectionClosed:
            end = await self.process.end()
            return failure("killed", "ProcessDied", end.sentence())
        except ProtocolError as error:
            return await self._kill_over(error)
        except SidecarError as error:
            return failure("error", "SidecarError", str(error))

    async def _outcome(self, timeout_s: float) -> Message:
        """Take outputs until the reply; the limit applies until the snippet itself has finished."""
        deadline = time.monotonic() + timeout_s
        while True:
            message = await self.process.next(deadline)
            if "output" in message:
                self._recorder.add(message["output"])
            elif "input" in message:
                self._ask(message["input"])
            elif "finished" in message and not self._has_finished:  # a snippet may say it, too
                self._has_finished = True
                deadline = time.monotonic() + _DESCRIBE_SECONDS
            elif "reply" in message:
                return check_run(checked(message["reply"]))

    def _ask(self, question: Message) -> None:
        if self._presenter is not None:
            self._presenter.ask(question)

    async def _time_out(self, limits: Limits) -> Message:
        sentence = "Its variables took too long to describe, so what ran was "
        if not self._has_finished:
            sentence = f"The snippet ran longer than {limits.wall_seconds:g} s and was "
        limit_fields = {"limits_hit": ["wall_seconds"]}
        process = self.process
        if process.is_fork and await deadlocks.waits_for_locks(process.launch.pid, process.pid):
            process.has_hung = True
        process.interrupt()
        try:
            outcome = await self._outcome(GRACE_SECONDS)
        except TimeoutError:
            await process.kill()
            return {**failure("timeout", "TimeoutError", sentence + "killed."), **limit_fields}
        error = {**failure("timeout", "TimeoutError", sentence + "interrupted.")["error"]}
        stopped_at = outcome.get("error") or {}
        error.update({key: stopped_at[key] for key in ("line", "traceback") if key in stopped_at})
        return {**outcome, "status": "timeout", "error": error, **limit_fields}

    async def _end_when_stuck(self) -> None:
        """Stop a fork that would wait until its time is up for a lock that nobody holds."""
        process = self.process
        if process.is_fork:
            limit = self._limits.wall_seconds
            await deadlocks.until_stuck(process.launch.pid, process.pid, limit)
            process.has_hung = True
            process.interrupt()
            await asyncio.sleep(GRACE_SECONDS)
            process.kill_now()

    async def _stop(self) -> None:
        """Stop a cancelled run, and leave the branch either ready for the next one, or dead."""
        self.process.interrupt()
        try:
            await self._outcome(GRACE_SECONDS)
        except (TimeoutError, ConnectionClosed, ProtocolError, SidecarError):
            self.process.kill_now()
        except asyncio.CancelledError:
            self.process.kill_now()
            raise

    async def _kill_over(self, error: ProtocolError) -> Message:
        await self.process.kill()
        return failure("killed", "ProtocolError", f"The branch's process {error} and was killed.")

    async def _observation(self, outcome: Message) -> Observation:
        try:
            return _observed(outcome, self._recorder, self._limits)
        except ValidationError:
            outcome = await self._kill_over(ProtocolError("sent a malformed reply"))
            return _observed({**outcome, "seconds": 0.0}, self._recorder, self._limits)


def _observed(outcome: Message, recorder: Recorder, limits: Limits) -> Observation:
    recorder.finish()
    error = _shown_error(outcome.get("error"), recorder)
    is_cut = recorder.is_truncated or len(recorder.result or "") > limits.max_output_chars
    limits_hit = [*outcome.get("limits_hit", ()), *(["max_output_chars"] if is_cut else [])]
    return Observation(
        status=outcome["status"],
        stdout=recorder.text("stdout"),
        stderr=recorder.text("stderr"),
        result=recorder.result,
        outputs=recorder.outputs(),
        error=error,
        variables=tuple(Variable.model_validate(v) for v in outcome.get("variables", ())),
        seconds=outcome["seconds"],
        is_truncated=is_cut,
        limits_hit=tuple(limits_hit),
        execution_count=outcome.get("execution_count"),
        payloads=outcome.get("payloads", ()),
        user_expressions=outcome.get("user_expressions", {}),
        note=outcome.get("note", ""),
    )


def _shown_error(report: Any, recorder: Recorder) -> ErrorReport | None:
    """Read a run's error, and add it as the last output unless the branch has shown it."""
    if report is None:
        return None
    fields = {key: value for key, value in dict(report).items() if key != "is_shown"}
    error = ErrorReport.model_validate(fields)
    if not report.get("is_shown"):
        content = {key: fields[key] for key in ("ename", "evalue", "traceback")}
        recorder.add({"output_type": "error", **content})
    return error
