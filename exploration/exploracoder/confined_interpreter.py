"""The user's interpreter, and library code that it runs in a strict sandbox."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from exploracoder_retrieval.errors import NotConfined, RetrievalError
from exploracoder_retrieval.library_python import Interpreter

from exploracoder.background import run_sync
from exploracoder.errors import InputError, raised_as

if TYPE_CHECKING:
    from exploracoder_kernel.observation import Observation

SECONDS = 60.0
# Describing the compiled modules of a library such as numpy takes a megabyte.
_OUTPUT_CHARS = 64_000_000


def find_interpreter(python: str | None, *, import_compiled: bool = False) -> Interpreter:
    """The interpreter that snippets run in; our own if none is named. Raises InputError.

    Compiled modules of its installed libraries are described in a strict sandbox; with
    ``import_compiled``, so are those of folders given as libraries.
    """
    with raised_as(InputError, RetrievalError, of="--python"):
        return Interpreter.inspect(
            python or sys.executable, confined_runner=run_confined, imports_named=import_compiled
        )


def run_confined(python: Path, code: str, readable: tuple[Path, ...]) -> tuple[str, str]:
    """Run code confined; return what it printed and why it failed, or "" if it did not.

    It has no network, no keys, and of the user's files only the ``readable`` ones, whatever sandbox
    was chosen for snippets.

    Raises:
        NotConfined: No strict sandbox is available, or the interpreter cannot be started in it.
    """
    from exploracoder_kernel.errors import SidecarError

    try:
        observation = run_sync(_run(python, code, readable))
    except (SidecarError, OSError) as error:
        raise NotConfined(str(error)) from error
    return observation.stdout, "" if observation.ran else _reason(observation)


async def _run(python: Path, code: str, readable: tuple[Path, ...]) -> Observation:
    from exploracoder_kernel.run_limits import Limits
    from exploracoder_kernel.sandbox import choose
    from exploracoder_kernel.sidecar import Sidecar

    limits = Limits(wall_seconds=SECONDS, max_output_chars=_OUTPUT_CHARS)
    with tempfile.TemporaryDirectory(prefix="exploracoder-") as name:
        folder = Path(name)
        sandbox = choose("strict", python=python, cwd=folder, inputs=readable)
        async with Sidecar(
            python, folder, limits=limits, strategy="replay", launcher=sandbox.launcher
        ) as sidecar:
            return await sidecar.run(sidecar.root, code)


def _reason(observation: Observation) -> str:
    if observation.status == "timeout":
        return f"it took longer than {SECONDS:.0f} s"
    return (
        f"{observation.error.ename}: {observation.error.evalue}"
        if observation.error
        else f"it was {observation.status}"
    )
