"""The Pythons of a server's kernels, and what is installed in them.

Interpreters are inspected in threads, since each inspection runs a process.
"""

from __future__ import annotations

import asyncio
import os
import re
import sys
import time
from pathlib import Path, PurePath

from exploracoder.confined_interpreter import run_confined
from exploracoder.errors import InputError
from exploracoder.prepare import find_library
from exploracoder.texts import Text
from exploracoder_retrieval.errors import RetrievalError
from exploracoder_retrieval.harvest.docs.source import ALONE
from exploracoder_retrieval.harvest.target import Target
from exploracoder_retrieval.library_python import Interpreter

from exploracoder_jupyter.protocol import InstalledLibrary
from exploracoder_jupyter.services import Services

# A new installation is noticed after at most this long.
_FRESH_SECONDS = 20.0
_PYTHON = re.compile(r"(python|pypy)[\d.]*(\.exe)?", re.IGNORECASE)
# Names that Jupyter replaces by its own interpreter.
_OWN = {"python", "python3", f"python{sys.version_info.major}.{sys.version_info.minor}"}


class Pythons:
    """Finds the interpreter of a kernelspec, and caches its inspection for a while."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._answers: dict[str, tuple[float, Interpreter]] = {}

    async def of_kernel(self, kernel_name: str | None) -> str:
        """The Python that a kernelspec starts, by default that of the server's default kernel.

        Raises InputError when there is no such kernelspec, or it is not a Python kernel.
        """
        language, argv = await self._services.spec_argv(kernel_name)
        if language.lower() not in ("python", ""):
            raise InputError(
                Text("The kernel %1 runs %2. Choose a Python kernel.", repr(kernel_name), language)
            )
        program = argv[argv.index("--python") + 1] if "--python" in argv[:-1] else argv[:1]
        command = program if isinstance(program, str) else "".join(program)
        if command in _OWN:
            # Behind a gateway, this is the gateway's own Python.
            return "" if self._services.is_remote else sys.executable
        if not _PYTHON.fullmatch(PurePath(command).name):
            raise InputError(
                f"The kernel {kernel_name!r} starts {command!r}, which does not say what Python it"
                " runs. Make a kernelspec that names it: python -m ipykernel install."
            )
        return command

    async def all(self) -> set[str]:
        """The Pythons of all kernelspecs, and the server's own."""
        pythons = {sys.executable}
        for name in await self._services.spec_names():
            try:
                pythons.add(await self.of_kernel(name))
            except InputError:
                continue
        return pythons

    async def interpreter(self, python: str, *, anew: bool = False) -> Interpreter:
        """Inspect an interpreter, or reuse a recent result. Raises InputError when that fails."""
        if self._services.is_remote and not Path(python or "-").exists():  # noqa: ASYNC240
            # Code runs behind the gateway; docs are read on this machine.
            python = sys.executable
        answer_time, cached_answer = self._answers.get(python, (0.0, None))
        if (
            cached_answer is not None
            and not anew
            and time.monotonic() - answer_time < _FRESH_SECONDS
        ):
            return cached_answer
        try:
            answer = await asyncio.to_thread(
                Interpreter.inspect, python, confined_runner=run_confined
            )
        except RetrievalError as error:
            raise InputError(str(error)) from error
        self._answers[python] = (time.monotonic(), answer)
        return answer

    async def targets(self, names: tuple[str, ...], python: str) -> list[Target]:
        """Resolve the libraries of a task.

        Raises InputError, with similar names, when one is not found.
        """
        interpreter = await self.interpreter(python)
        try:
            return await asyncio.to_thread(_find_all, names, interpreter)
        except RetrievalError:
            # The library may have been installed a moment ago.
            interpreter = await self.interpreter(python, anew=True)
        try:
            return await asyncio.to_thread(_find_all, names, interpreter)
        except RetrievalError as error:
            raise InputError(_without_options(str(error))) from error

    async def installed(self, python: str) -> list[InstalledLibrary]:
        """All installed distributions that an interpreter can import from, by name."""
        interpreter = await self.interpreter(python)
        return await asyncio.to_thread(_installed, interpreter)


def absolute(target: str, root: Path) -> str:
    """A library's name unchanged, or its path made absolute, relative to the server's root."""
    is_path = "/" in target or target.startswith(("~", ".")) or target.endswith((".py", *ALONE))
    return str((root / Path(os.path.expanduser(target))).absolute()) if is_path else target.strip()


def _find_all(names: tuple[str, ...], interpreter: Interpreter) -> list[Target]:
    return [find_library(name, interpreter) for name in names]


def _installed(interpreter: Interpreter) -> list[InstalledLibrary]:
    return [
        InstalledLibrary(name=one.name, import_name=one.import_name, version=one.version)
        for one in interpreter.importable()
    ]


def _without_options(message: str) -> str:
    """Reword a command-line message for the notebook, where one chooses a kernel instead."""
    return message.replace(" with --python", ", by a notebook with another kernel")
