"""The interpreters that a sidecar has started, each with its reaper."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import logging
import os
import socket
import sys
from collections.abc import Mapping
from pathlib import Path

from exploracoder_kernel import interpreter, memory_file
from exploracoder_kernel.branch_process import BranchProcess
from exploracoder_kernel.connection import Connection, ConnectionClosed
from exploracoder_kernel.errors import InterpreterError, SandboxUnavailable, SidecarError
from exploracoder_kernel.launch import Launch
from exploracoder_kernel.launch_command import Command, Launcher
from exploracoder_kernel.pipes import Pipes
from exploracoder_kernel.recording import Recorder
from exploracoder_kernel.sandbox import bubblewrap
from exploracoder_kernel.scratch import Scratch, sweep

_START_SECONDS = 60.0
_STARTS = 3

_log = logging.getLogger(__name__)


@dataclasses.dataclass(frozen=True, slots=True)
class LaunchSettings:
    """What every launch of a sidecar shares."""

    python: str
    cwd: Path
    environment: Mapping[str, str]
    launcher: Launcher


class _EndedEarlyError(InterpreterError):
    """The first process ended before its first message."""


class Launches:
    """Owns every launch of a sidecar, from its start until no branch lives in it."""

    def __init__(self, settings: LaunchSettings) -> None:
        self._settings = settings
        self._open: list[Launch] = []
        self._is_closed = False

    def find_python(self) -> None:
        """Check the interpreter before anything is started.

        Raises:
            InterpreterError: It can't be used.
        """
        python = interpreter.find_interpreter(self._settings.python)
        self._settings = dataclasses.replace(self._settings, python=python)

    async def start(self) -> BranchProcess:
        """Start a fresh process, in a launch of its own, and again if it ends as it starts or could
        not be confined, which may be due to a file that vanished meanwhile.

        Raises:
            InterpreterError: The interpreter can't be used.
            SandboxUnavailable: It could not be confined.
            SidecarError: The folder does not exist, no scratch folder can be made, or the sidecar
                was closed meanwhile.
        """
        for _ in range(_STARTS - 1):
            try:
                return await self._start()
            except (_EndedEarlyError, SandboxUnavailable) as early:
                _log.warning("%s Starting once more.", early)
        return await self._start()

    async def _start(self) -> BranchProcess:
        process, start = await open_launch(self._settings)
        self._open.append(process.launch)
        try:
            if self._is_closed:
                raise SidecarError("The sidecar was closed while a branch was being built.")
            process.expect(int(process.launch.hello["root"]))
            await process.wait_ready()
            process.pipes.recorder = None
        except TimeoutError as error:
            raise _not_ready(self._settings.python, "It started, and then said nothing.") from error
        except ConnectionClosed as error:
            end = await process.end()
            process.pipes.pump()
            detail = f"It ended early{end.manner()}. {start.text('stderr')}"
            raise _not_ready(self._settings.python, detail, _EndedEarlyError) from error
        finally:
            if not process.is_alive:
                process.close()
                await self.end(process.launch)
        return process

    async def end(self, launch: Launch) -> None:
        """End a launch in which no branch lives any more."""
        if launch in self._open:
            await launch.close()
            self._open = [other for other in self._open if other is not launch]

    async def close(self) -> None:
        """End all launches."""
        self._is_closed = True
        launches, self._open = self._open, []
        await asyncio.gather(*(launch.close() for launch in launches))


def _not_ready(
    python: str, detail: str, kind: type[InterpreterError] = InterpreterError
) -> InterpreterError:
    """The error for a Python that runs, but whose first branch does not come up."""
    return kind(f"{python} runs, but no snippet can run in it: {detail.strip()[-2000:]}")


async def open_launch(settings: LaunchSettings) -> tuple[BranchProcess, Recorder]:
    """Start an interpreter and wait until its reaper answers.

    Returns:
        The root branch's process, which is not ready yet, and a recorder of its output so far.

    Raises:
        InterpreterError: It could not be started, is not Python, or too old.
        SandboxUnavailable: It could not be confined.
        SidecarError: The folder does not exist, or no scratch folder can be made.
    """
    if sys.platform == "win32":
        raise SidecarError("The sidecar needs Linux or macOS: Windows has no Unix sockets to pass.")
    if not settings.cwd.is_dir():
        raise SidecarError(f"No folder {settings.cwd}. Create it, or choose another to run in.")
    await asyncio.to_thread(sweep)
    process = _spawn(settings)
    process.pipes.recorder = start = Recorder(2000)
    try:
        await process.launch.greet(settings.python, _START_SECONDS)
    except ConnectionClosed:
        process.pipes.pump()
        detail = start.text("stderr")
        if bubblewrap.has_failed(detail):
            raise SandboxUnavailable(
                f"It could not be set up: {detail.strip()[-500:]}. Try again, or in another folder."
            ) from None
        raise interpreter.not_python(settings.python, detail) from None
    except TimeoutError:
        detail = f"It did not answer in {_START_SECONDS:g} s."
        raise interpreter.not_python(settings.python, detail) from None
    finally:
        if not process.launch.hello:
            process.close()
            await process.launch.close()
    return process, start


def _spawn(settings: LaunchSettings) -> BranchProcess:
    with contextlib.ExitStack() as theirs, contextlib.ExitStack() as ours:
        scratch = _make_scratch() if settings.launcher.needs_scratch else None
        if scratch is not None:
            ours.callback(scratch.remove)
        setup = memory_file.create()
        theirs.callback(os.close, setup)
        control, control_end = socket.socketpair()
        branch, branch_end = socket.socketpair()
        pipes = Pipes()
        for close in (control_end.close, branch_end.close, pipes.close_write_ends):
            theirs.callback(close)
        for close in (control.close, branch.close, pipes.close):
            ours.callback(close)
        stdout, stderr = pipes.write_ends
        command = Command(
            python=settings.python,
            control=control_end.fileno(),
            branch=branch_end.fileno(),
            setup=setup,
            environment=settings.environment,
            cwd=settings.cwd.absolute(),
            scratch=None if scratch is None else scratch.folder,
            stdout=stdout,
            stderr=stderr,
        )
        try:
            popen = settings.launcher.launch(command)
        except OSError as error:
            raise interpreter.not_python(settings.python, str(error.strerror)) from error
        ours.pop_all()
        launch = Launch(popen, Connection(control), scratch, settings.launcher)
        return BranchProcess(launch, Connection(branch), pipes)


def _make_scratch() -> Scratch:
    try:
        return Scratch.create()
    except OSError as error:
        raise SidecarError(
            f"No scratch folder can be made: {error}. Free some space, or set TMPDIR."
        ) from error
