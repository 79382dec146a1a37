"""One launch: an interpreter with its reaper, and the branches that come from it."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import subprocess
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from exploracoder_kernel import interpreter
from exploracoder_kernel.branch_folders import BranchFolders
from exploracoder_kernel.connection import Connection, ConnectionClosed, ProtocolError
from exploracoder_kernel.errors import SandboxUnavailable
from exploracoder_kernel.launch_command import Launcher
from exploracoder_kernel.run_limits import Limits
from exploracoder_kernel.sandbox.hard_limits import SandboxLimits
from exploracoder_kernel.scratch import Scratch

_STOP_SECONDS = 5.0
_WORD_SECONDS = 5.0
_WATCH_SECONDS = 0.1
_SHARE_OF_TIME = 2


@dataclass(frozen=True, slots=True)
class End:
    """How a process ended."""

    signal: int | None = None
    code: int | None = None

    def manner(self) -> str:
        """The words that follow "ended"; empty if it is not known how."""
        if self.signal is not None:
            return f" by {self._signal_name()}"
        return "" if self.code is None else f" with exit code {self.code}"

    def _signal_name(self) -> str:
        try:
            return signal.Signals(self.signal or 0).name
        except ValueError:
            return f"signal {self.signal}"

    def sentence(self) -> str:
        """How it ended, in words, with the signal's name."""
        if self.signal is not None:
            return f"The process was ended by {self._signal_name()} while the snippet ran."
        if self.code is not None:
            return f"The snippet ended its process with exit code {self.code}."
        return "The process ended while the snippet ran, without saying why."


@dataclass(slots=True)
class ReaperReport:
    """What the reaper saw of a run.

    Attributes:
        limits_hit: Names of limits that the reaper enforces.
        killed_over: The limit for which the branch was killed.
        had_company: Whether threads or processes of earlier cells were running when it began.
    """

    limits_hit: list[str] = field(default_factory=list)
    killed_over: str | None = None
    had_company: bool = False


class Launch:
    """Owns the reaper: when its control socket closes, every process of the launch ends."""

    def __init__(
        self,
        popen: subprocess.Popen[bytes],
        control: Connection,
        scratch: Scratch | None,
        launcher: Launcher,
    ) -> None:
        self.launcher = launcher
        self._popen = popen
        self._control = control
        self._scratch = scratch
        self._folders = None if scratch is None else BranchFolders(scratch)
        self._listener: asyncio.Task[None] | None = None
        self._watcher: asyncio.Task[None] | None = None
        self._ends: dict[int, asyncio.Future[End]] = {}
        self._reports: dict[int, ReaperReport] = {}
        self._stops: dict[int, asyncio.Future[bool]] = {}
        self.hello: Mapping[str, Any] = {}

    async def greet(self, python: str, timeout_s: float) -> None:
        """Wait until the reaper answers, and listen to it from then on.

        Raises:
            ConnectionClosed, TimeoutError: The reaper does not answer.
            InterpreterError: ``python`` is too old.
            SandboxUnavailable: The branches could not be confined.
        """
        message = await self._control.receive(timeout_s)
        if "too_old" in message:
            raise interpreter.too_old(python, str(message["too_old"]))
        hello, limits = message["hello"], self.launcher.limits
        if limits is not None and not hello["supervised"]:
            raise SandboxUnavailable(
                f"The sandbox could not be closed: {hello['not_supervised_because']}."
            )
        self.hello = hello
        self._listener = asyncio.create_task(self._listen())
        if self._folders is not None and limits is not None:
            self._watcher = asyncio.create_task(self._watch(self._folders, limits))

    async def _watch(self, folders: BranchFolders, limits: SandboxLimits) -> None:
        """Kill branches that fill the disk while they run, using at most a third of the time."""
        pause = _WATCH_SECONDS
        while True:
            await asyncio.sleep(pause)
            start = time.monotonic()
            pids = tuple(self._reports)
            over = await asyncio.to_thread(folders.limits_hit, self.pid, pids, limits)
            for pid, name in over.items():
                self._note_limit({"pid": pid, "name": name, "is_killed": True})
                self.kill(pid)
            pause = max(_WATCH_SECONDS, _SHARE_OF_TIME * (time.monotonic() - start))

    async def _listen(self) -> None:
        """Handle the reaper's messages until it exits."""
        with contextlib.suppress(ConnectionClosed):
            while True:
                try:
                    message = await self._control.receive(3600.0)
                except TimeoutError:
                    continue
                self._note(message)
        for pid in tuple(self._ends):
            self._resolve(pid, End())

    def _note(self, message: Mapping[str, Any]) -> None:
        if "ended" in message:
            end = message["ended"]
            self._resolve(int(end["pid"]), End(signal=end["signal"], code=end["code"]))
            if self._folders is not None:
                self._folders.note_end(int(end["pid"]))
        elif "refused" in message:
            self._resolve(int(message["refused"]["pid"]), End())
        elif "limit" in message:
            self._note_limit(message["limit"])
        elif "stopped" in message:
            stop = self._stops.pop(int(message["stopped"]["pid"]), None)
            if stop is not None and not stop.done():
                stop.set_result(bool(message["stopped"]["had_company"]))

    def _note_limit(self, limit: Mapping[str, Any]) -> None:
        report = self._reports.get(int(limit["pid"]))
        if report is not None:
            name = str(limit["name"])
            report.limits_hit.append(name)
            report.killed_over = name if limit["is_killed"] else report.killed_over

    def _resolve(self, pid: int, end: End) -> None:
        future = self._ends.pop(pid, None)
        if future is not None and not future.done():
            future.set_result(end)

    def adopt(self, pid: int, parent: int | None) -> asyncio.Future[End]:
        """Adopt a branch's process; the future is done when the process has ended.

        Args:
            pid: Its ID, as it claims itself. The reaper checks that it comes from ``parent``; if
                not, nobody may signal it, and the future is done at once.
            parent: The branch that was asked to fork, or None for the root.

        Raises:
            ProtocolError: The ID is that of another branch.
        """
        if pid in self._ends:
            raise ProtocolError("said to be a process that it is not")
        self._ends[pid] = asyncio.get_running_loop().create_future()
        future = self._ends[pid]
        if self._folders is not None:
            self._folders.note_start(pid, parent)
        if parent is not None:
            self._control.send_now({"op": "add", "pid": pid, "parent": parent})
        if self._listener is None or self._listener.done():
            self._resolve(pid, End())
        return future

    @property
    def pid(self) -> int:
        """The process that was started: the reaper, or the sandbox program around it."""
        return self._popen.pid

    def expect_fork(self, parent: int) -> None:
        """Announce that a branch is about to fork, so that the fork gets a private folder."""
        self._control.send_now({"op": "fork", "pid": parent})

    def interrupt(self, pid: int) -> None:
        """Send SIGINT to a branch and the processes it started."""
        self._control.send_now({"op": "interrupt", "pid": pid})

    def kill(self, pid: int) -> None:
        """Send SIGKILL to a branch and the processes it started."""
        self._control.send_now({"op": "kill", "pid": pid})

    def start_run(self, pid: int, limits: Limits) -> None:
        """Have the reaper watch a branch's processes and their memory."""
        self._reports[pid] = ReaperReport()
        self._control.send_now(
            {
                "op": "start",
                "pid": pid,
                "processes": limits.processes,
                "memory_bytes": limits.memory_bytes,
            }
        )

    async def stop_run(self, pid: int) -> ReaperReport:
        """End the watch over a run, and return what the reaper saw once it has seen everything."""
        assert self._listener is not None
        stop = self._stops[pid] = asyncio.get_running_loop().create_future()
        self._control.send_now({"op": "stop", "pid": pid})
        both: set[asyncio.Future[Any]] = {stop, self._listener}
        await asyncio.wait(both, timeout=_WORD_SECONDS, return_when=asyncio.FIRST_COMPLETED)
        self._stops.pop(pid, None)
        report = self._reports.pop(pid, ReaperReport())
        report.had_company = stop.done() and stop.result()
        return report

    async def close(self) -> None:
        """End every process of the launch and remove its scratch folder."""
        tasks = {task for task in (self._listener, self._watcher) if task is not None}
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)
        self._control.close()
        deadline = asyncio.get_running_loop().time() + _STOP_SECONDS
        while self._popen.poll() is None:
            if asyncio.get_running_loop().time() > deadline:
                self._popen.kill()
                self._popen.wait()
            await asyncio.sleep(0.002)
        if self._folders is not None:
            await self._folders.close()
        if self._scratch is not None:
            await asyncio.to_thread(self._scratch.remove)
