"""The interpreters that a sidecar has started, each with its reaper."""

from __future__ import annotations

import asyncio
import dataclasses
import logging

from exploracoder_kernel.branch_process import BranchProcess
from exploracoder_kernel.connection import ConnectionClosed
from exploracoder_kernel.errors import InterpreterError, SidecarError
from exploracoder_kernel.interpreter import find_interpreter
from exploracoder_kernel.launch import Launch, Setting

_log = logging.getLogger(__name__)


class _EndedEarlyError(InterpreterError):
    """The first process ended before its first word."""


class Launches:
    """Owns every launch of a sidecar, from its start until no branch lives in it."""

    def __init__(self, setting: Setting) -> None:
        self._setting = setting
        self._open: list[Launch] = []
        self._is_closed = False

    def find_python(self) -> None:
        """Make sure of the interpreter before anything is started.

        Raises:
            InterpreterError: It can't be used.
        """
        python = find_interpreter(self._setting.python)
        self._setting = dataclasses.replace(self._setting, python=python)

    async def start(self) -> BranchProcess:
        """A fresh process, in a launch of its own; one that ends as it starts is started once more.

        Raises:
            InterpreterError: The interpreter can't be used.
            SidecarError: The folder is missing, or the sidecar was closed meanwhile.
        """
        try:
            return await self._start()
        except _EndedEarlyError as early:
            _log.warning("%s It is started once more.", early)
        return await self._start()

    async def _start(self) -> BranchProcess:
        launch, ends = await Launch.start(self._setting)
        self._open.append(launch)
        if self._is_closed:
            ends.connection.close()
            ends.pipes.close()
            await self.end(launch)
            raise SidecarError("The sidecar was closed while a branch was being built.")
        process = BranchProcess(launch, ends.connection, ends.pipes)
        process.expect(int(launch.hello["root"]))
        try:
            await process.wait_ready()
            ends.pipes.recorder = None
        except TimeoutError as error:
            raise _not_ready(self._setting.python, "It started, and then said nothing.") from error
        except ConnectionClosed as error:
            end = await process.end()
            ends.pipes.pump()
            detail = f"It ended early{end.manner()}. {ends.start.text('stderr')}"
            raise _not_ready(self._setting.python, detail, _EndedEarlyError) from error
        finally:
            if not process.is_alive:
                process.close()
                await self.end(launch)
        return process

    async def end(self, launch: Launch) -> None:
        """End a launch in which no branch lives any more."""
        if launch in self._open:
            await launch.close()
            self._open = [other for other in self._open if other is not launch]

    async def close(self) -> None:
        """End all of them."""
        self._is_closed = True
        launches, self._open = self._open, []
        await asyncio.gather(*(launch.close() for launch in launches))


def _not_ready(
    python: str, detail: str, kind: type[InterpreterError] = InterpreterError
) -> InterpreterError:
    """The error for a Python that runs, and whose first branch does not come up."""
    return kind(f"{python} runs, but no snippet can run in it: {detail.strip()[-2000:]}")
