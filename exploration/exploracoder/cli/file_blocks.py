"""Files' runs as a person reads them, and how far it is while they run."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from exploracoder.cli.console import printable

if TYPE_CHECKING:
    from rich.console import Console
    from rich.status import Status
    from rich.text import Text

    from exploracoder.cli.file_runs import FileRun

_STYLES = {"ok": "bold green", "error": "bold red"}
_OTHER_STYLE = "bold yellow"
_FIRST_WORD_SECONDS = 1.0
_NEXT_WORD_SECONDS = 10.0


def block(run: FileRun) -> Text:
    """One file: how it ended, what it wrote, its value, its error."""
    from rich.text import Text

    shown = Text()
    shown.append(f"{run.status:8}", _STYLES.get(run.status, _OTHER_STYLE))
    shown.append(f"{printable(run.file)}", "bold")
    shown.append(f"  {run.seconds:.2f} s\n", "dim")
    _add(shown, "", run.stdout, "")
    _add(shown, "stderr: ", run.stderr, "dim")
    _add(shown, "value:  ", run.result or "", "cyan")
    rich_kinds = [kind for kind in run.mime if kind != "text/plain"]
    _add(shown, "shows:  ", ", ".join(rich_kinds), "dim")
    if run.ename is not None:
        place = f"line {run.line}: " if run.line else ""
        _add(shown, "", f"{place}{run.ename}: {run.evalue}", "red")
    _add(shown, "limits: ", ", ".join(run.limits_hit), _OTHER_STYLE)
    return shown


def _add(shown: Text, label: str, text: str, style: str) -> None:
    lines = printable(text).rstrip("\n")
    if lines:
        indented = "\n".join(f"        {line}" for line in f"{label}{lines}".split("\n"))
        shown.append(f"{indented}\n", style)


def summary(runs: Sequence[FileRun]) -> str:
    """How many ended in which way."""
    counts = {run.status: 0 for run in runs}
    for run in runs:
        counts[run.status] += 1
    return f"{len(runs)} files: " + ", ".join(f"{many} {status}" for status, many in counts.items())


class Waiting:
    """Says on standard error how far it is, once that takes over a second.

    A line that changes on a terminal, else a line every ten seconds. Use it with ``async with``.
    """

    def __init__(self, total: int) -> None:
        self._total = total
        self._done = 0
        self._status: Status | None = None
        self._task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Waiting:
        self._task = asyncio.create_task(self._speak())
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait({self._task})
        if self._status is not None:
            self._status.stop()

    def advance(self) -> None:
        """One more is done."""
        self._done += 1
        if self._status is not None:
            self._status.update(self._words())

    @contextlib.contextmanager
    def out_of_the_way(self) -> Iterator[None]:
        """Around what is written to the same terminal."""
        if self._status is not None:
            self._status.stop()
        yield
        if self._status is not None:
            self._status.start()

    async def _speak(self) -> None:
        from rich.console import Console

        await asyncio.sleep(_FIRST_WORD_SECONDS)
        console = Console(stderr=True, highlight=False)
        if console.is_terminal:
            self._status = console.status(self._words())
            self._status.start()
            return
        while True:
            console.print(self._words())
            await asyncio.sleep(_NEXT_WORD_SECONDS)

    def _words(self) -> str:
        return f"{self._done} of {self._total} files are done"


def text_console() -> Console:
    """Standard output; without colour where nobody could see it, or NO_COLOR is set."""
    from rich.console import Console

    return Console(highlight=False, markup=False, emoji=False, soft_wrap=True)
