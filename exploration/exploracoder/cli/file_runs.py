"""Run files, each in its own branch forked from one root, and show the runs to people."""

from __future__ import annotations

import asyncio
import os
import sys
from collections import Counter
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from exploracoder.cli.console import printable
from exploracoder.errors import InputError
from exploracoder.state import State

if TYPE_CHECKING:
    from exploracoder_kernel.executor import Executor
    from exploracoder_kernel.observation import Observation
    from rich.text import Text

FileStatus = Literal["ok", "error", "timeout", "killed", "limit"]
STANDARD_INPUT = "-"
_MOST_BYTES = 8_000_000
_STYLES = {"ok": "bold green", "error": "bold red"}
_OTHER_STYLE = "bold yellow"


class FileRun(State):
    """What running a file showed; ``file`` is its name as it was given.

    Attributes:
        status: ``error``: an exception left it; ``timeout``: it was stopped after its time;
            ``limit``: it was stopped at another limit; ``killed``: its process ended over it.
        result: ``repr`` of the value of its last expression.
        mime: The kinds of rich output it showed, in order, each once.
        limits_hit: The limits that it reached, of time, memory, processes, files or output.
        line: Where in the file it failed; for people only.
    """

    file: str
    status: FileStatus
    ename: str | None = None
    evalue: str | None = None
    stdout: str = ""
    stderr: str = ""
    result: str | None = None
    mime: tuple[str, ...] = ()
    seconds: float = 0.0
    limits_hit: tuple[str, ...] = ()
    line: int | None = Field(default=None, exclude=True)


@dataclass(frozen=True, slots=True)
class Source:
    """Code to run, and where it comes from."""

    file: str
    code: str


def read_sources(files: Sequence[str]) -> list[Source]:
    """Read all files before any is run. Raises InputError at the first unreadable one."""
    if files.count(STANDARD_INPUT) > 1:
        raise InputError("Standard input can be read once: give '-' once.")
    return [Source(file, read_source(file)) for file in files]


def read_source(file: str) -> str:
    """The code of a file or of standard input. Raises InputError if it cannot be read."""
    name = "Standard input" if file == STANDARD_INPUT else file
    path = Path(file)
    if file != STANDARD_INPUT and os.path.isdir(path):
        raise InputError(f"{file} is a folder. Name the files in it: {path / '*.py'}")
    if path.suffix == ".ipynb":
        raise InputError(f"{file} is a notebook; give files of Python. nbconvert can make them.")
    try:
        data = _head(None if file == STANDARD_INPUT else path)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise InputError(f"{name} cannot be read: {reason}.") from error
    if len(data) > _MOST_BYTES:
        raise InputError(f"{name} is larger than {_MOST_BYTES / 1e6:.0f} MB. Is it Python?")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{name} is not text in UTF-8. Save it in that encoding.") from error


def _head(path: Path | None) -> bytes:
    """Read one byte past the limit, to detect input that is too large or never ends."""
    if path is None:
        return sys.stdin.buffer.read(_MOST_BYTES + 1)
    with path.open("rb") as stream:
        return stream.read(_MOST_BYTES + 1)


async def run_files(
    sidecar: Executor, sources: Sequence[Source], *, jobs: int
) -> AsyncGenerator[FileRun, None]:
    """Run each source in a fork of the root, at most ``jobs`` at once; yield in the order given.

    Raises SidecarError if nothing can be run any more.
    """
    slots = asyncio.Semaphore(jobs)
    runs = [asyncio.create_task(_run(sidecar, source, slots)) for source in sources]
    try:
        for run in runs:
            yield await run
    finally:
        for run in runs:
            run.cancel()
        await asyncio.gather(*runs, return_exceptions=True)


async def _run(sidecar: Executor, source: Source, slots: asyncio.Semaphore) -> FileRun:
    async with slots:
        branch = await sidecar.fork(sidecar.root, goal=source.file)
        try:
            observation = await sidecar.run(branch, source.code)
        finally:
            await sidecar.drop(branch)
    return as_file_run(source.file, observation)


def as_file_run(file: str, observation: Observation) -> FileRun:
    """Convert an observation to a row.

    Nobody else interrupts a single file, so one that was interrupted did it itself: an error.
    """
    status = "error" if observation.status == "interrupted" else observation.status
    kinds = [kind for output in observation.outputs for kind in output.get("data", ())]
    fields = observation.model_dump(include={"stdout", "stderr", "result", "limits_hit"})
    if observation.error is not None:
        fields |= observation.error.model_dump(include={"ename", "evalue", "line"})
    return FileRun(
        file=file,
        status=status,
        mime=tuple(dict.fromkeys(kinds)),
        seconds=round(observation.seconds, 6),
        **fields,
    )


def block(run: FileRun) -> Text:
    """Render one file's run: status, output, value, error."""
    from rich.text import Text

    rich_text = Text()
    rich_text.append(f"{run.status:8}", _STYLES.get(run.status, _OTHER_STYLE))
    rich_text.append(f"{printable(run.file)}", "bold")
    rich_text.append(f"  {run.seconds:.2f} s\n", "dim")
    _add(rich_text, "", run.stdout, "")
    _add(rich_text, "stderr: ", run.stderr, "dim")
    _add(rich_text, "value:  ", run.result or "", "cyan")
    rich_kinds = [kind for kind in run.mime if kind != "text/plain"]
    _add(rich_text, "shows:  ", ", ".join(rich_kinds), "dim")
    if run.ename is not None:
        place = f"line {run.line}: " if run.line else ""
        _add(rich_text, "", f"{place}{run.ename}: {run.evalue}", "red")
    _add(rich_text, "limits: ", ", ".join(run.limits_hit), _OTHER_STYLE)
    return rich_text


def _add(rich_text: Text, label: str, text: str, style: str) -> None:
    lines = printable(text).rstrip("\n")
    if lines:
        body = "\n".join(f"        {line}" for line in f"{label}{lines}".split("\n"))
        rich_text.append(f"{body}\n", style)


def summary(runs: Sequence[FileRun]) -> str:
    """Count the runs by status."""
    counts = Counter(run.status for run in runs)
    return f"{len(runs)} files: " + ", ".join(f"{many} {status}" for status, many in counts.items())
