"""Outputs of a notebook, without what differs from run to run or from kernel to kernel."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_COLOURS = r"\x1b\[[\d;]*[A-Za-z]"
_RULES: tuple[tuple[str, str], ...] = (
    # Colours, and the carriage returns of commands that ran in a terminal.
    (_COLOURS, ""),
    (r"\r\n", "\n"),
    # What a cell is compiled under, and where that comes from.
    (r"<cell \d+>|(?:/\S*/)?ipykernel_\d+/\d+\.py|<ipython-input-[\w-]+>|\b\d{6,}\.py", "<cell>"),
    (r"\b(?:Cell|Input) (?:In ?)?\[\d+\]", "<cell>"),
    # Addresses, ids, times and temporary places.
    (r"\b0x[0-9a-fA-F]+", "0x…"),
    (r"\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b|\b[0-9a-f]{32}\b", "<id>"),
    (r"(CPU times|Wall time|Execution time):.*", r"\1: …"),
    (r"\d+(?:\.\d+)? ?(?:ns|µs|us|μs|ms|s)\b(?: ± [^\n]*)?", "<time>"),
    (r"\b(?:\d{4}-\d\d-\d\d[T ])?\d{1,2}:\d\d:\d\d(?:\.\d+)?(?:Z|\b)", "<time>"),
    (r"/tmp/[\w./-]+", "<temporary>"),
)


@dataclass(frozen=True, slots=True)
class Difference:
    """An output that differs between two runs of a notebook; code cells count from 1."""

    cell: int
    ours: str
    theirs: str


def differences(ours: Any, theirs: Any, folders: Sequence[Path]) -> list[Difference]:
    """Where two runs of the same notebook differ: the first output of each such cell.

    Args:
        ours: The notebook after one run.
        theirs: The notebook after the other.
        folders: Folders that the runs had for themselves; their names do not count.
    """
    found = []
    pairs = zip(_code_cells(ours), _code_cells(theirs), strict=True)
    for number, (one, other) in enumerate(pairs, 1):
        mine, yours = normalised(one.outputs, folders), normalised(other.outputs, folders)
        unequal = ((left, right) for left, right in _filled(mine, yours) if left != right)
        found += [Difference(number, *both) for both in itertools.islice(unequal, 1)]
    return found


def normalised(outputs: Sequence[Any], folders: Sequence[Path] = ()) -> list[str]:
    """The outputs of a cell as texts that can be compared.

    What is written to both streams in a row is told apart by stream alone: ipykernel collects the
    two for themselves, so that their order among each other is not that of the writes.
    """
    found: list[str] = []
    streams: dict[str, str] = {}
    for output in outputs:
        if output["output_type"] == "stream":
            streams[output["name"]] = streams.get(output["name"], "") + output["text"]
            continue
        found += _told(streams)
        found.append(_told_output(output))
    found += _told(streams)
    return [_without_chance(text, folders) for text in found]


def _told(streams: dict[str, str]) -> list[str]:
    told = [f"{name}: {_last_words(text)}" for name, text in sorted(streams.items())]
    streams.clear()
    return told


def _last_words(text: str) -> str:
    """A progress bar writes over itself as often as time allows: what stays is compared."""
    lines = text.replace("\r\n", "\n").split("\n")
    return "\n".join(line.rstrip("\r").rpartition("\r")[2] for line in lines)


def _told_output(output: Any) -> str:
    kind = output["output_type"]
    if kind == "error":
        # IPython chooses the lines around a failing one by the kind of name a cell is compiled
        # under: compared is the failing line itself.
        traceback = re.sub(_COLOURS, "", "\n".join(output["traceback"]))
        lines = [line for line in traceback.split("\n") if not re.match(r" +\d+(?: |$)", line)]
        return f"error: {output['ename']}: {output['evalue']}\n" + "\n".join(lines)
    return f"{kind}: " + json.dumps(output["data"], sort_keys=True, ensure_ascii=False)


def _without_chance(text: str, folders: Sequence[Path]) -> str:
    for folder in folders:
        text = text.replace(str(folder), "<folder>")
    text = text.replace(str(Path.home()), "~")
    for pattern, replacement in _RULES:
        text = re.sub(pattern, replacement, text)
    return text


def _code_cells(notebook: Any) -> list[Any]:
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def _filled(mine: list[str], yours: list[str]) -> Iterator[tuple[str, str]]:
    missing = "(nothing)"
    for place in range(max(len(mine), len(yours))):
        left = mine[place] if place < len(mine) else missing
        right = yours[place] if place < len(yours) else missing
        yield left, right
