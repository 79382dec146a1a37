"""The Python that the user chose, checked before and while it starts."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from exploracoder_kernel.errors import InterpreterError

OLDEST = "3.9"


def find_interpreter(python: str | Path) -> str:
    """The path of an executable file.

    Args:
        python: A path, or a command name that is looked up on ``PATH``.

    Raises:
        InterpreterError: There is no such file, it is a folder, or it may not be executed.
    """
    command = str(python)
    if os.sep not in command:
        executable = shutil.which(command)
        if executable is None:
            raise InterpreterError(
                f"No command named {command!r} on PATH. Give the path of a Python interpreter."
            )
        return executable
    # Without "..": a sandbox has only the folders on the direct way to it, none for detours.
    path = Path(os.path.normpath(Path(os.path.expanduser(command)).absolute()))
    if not os.path.exists(path):
        raise InterpreterError(f"No interpreter at {path}. Check the path.")
    if path.is_dir():
        raise InterpreterError(
            f"{path} is a folder. Give the interpreter itself, such as {path / 'bin' / 'python'}."
        )
    if not os.access(path, os.X_OK):
        raise InterpreterError(f"{path} is not executable. Give a Python interpreter.")
    return str(path)


def not_python(python: str, detail: str) -> InterpreterError:
    """The error for a program that started and did not behave as Python."""
    quote = f" It said: {detail.strip()[-500:]}" if detail.strip() else ""
    return InterpreterError(
        f"{python} did not start as Python.{quote} "
        f"Choose an interpreter of Python {OLDEST} or newer."
    )


def too_old(python: str, version: str) -> InterpreterError:
    """The error for a Python that is older than the oldest supported version."""
    return InterpreterError(
        f"{python} is Python {version}. The sidecar needs Python {OLDEST} or newer: "
        "choose another interpreter."
    )
