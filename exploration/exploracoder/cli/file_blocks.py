"""Files' runs as a person reads them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from exploracoder.cli.console import printable

if TYPE_CHECKING:
    from rich.text import Text

    from exploracoder.cli.file_runs import FileRun

_STYLES = {"ok": "bold green", "error": "bold red"}
_OTHER_STYLE = "bold yellow"


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
    counts = Counter(run.status for run in runs)
    return f"{len(runs)} files: " + ", ".join(f"{many} {status}" for status, many in counts.items())
