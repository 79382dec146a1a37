"""``exploracoder diff``."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from exploracoder.cli.console import print_json, printable, text_console
from exploracoder.cli.options import PATH, json_option

if TYPE_CHECKING:
    from exploracoder.state import Exploration

_STYLES = {"+": "green", "-": "red", "@": "cyan"}


@click.command()
@click.argument("a", type=PATH)
@click.argument("b", type=PATH)
@json_option
def diff(a: Path, b: Path, as_json: bool) -> int:
    """Compare the explorations in A and B, line by line.

    Tells what differs in task and libraries, in each subtask's goal, docs, code and output, and in
    the solution and its verdict, under the goal where it differs; and what each has cost, which is
    no difference. Exit code 0: they are the same; 1: they differ; 2: one of them cannot be read.
    """
    from rich.text import Text

    from exploracoder import document

    names, both = (str(a), str(b)), (document.load(a), document.load(b))
    lines = list(_difference(_lines(both[0]), _lines(both[1]), names))
    if as_json:
        cost = [one.usage.model_dump() | {"seconds_total": one.seconds_total} for one in both]
        print_json(
            {"a": names[0], "b": names[1], "is_same": not lines, "difference": lines, "cost": cost}
        )
        return 1 if lines else 0
    costs = [f"{name}: {document.cost(one)}" for name, one in zip(names, both, strict=True)]
    for line in [*lines, *costs, "They differ." if lines else "They are the same."]:
        text_console(soft_wrap=True).print(Text(printable(line), _STYLES.get(line[:1], "")))
    return 1 if lines else 0


def _lines(exploration: Exploration) -> list[str]:
    """What was asked, done and found, without what differs from run to run."""
    from exploracoder import document
    from exploracoder.replay import shown, stable

    task = exploration.task
    parts = [task.text, f"Libraries: {document.libraries(exploration)}"]
    parts += [f"## Context\n{task.context}", f"## Check\n{task.check}"]
    for step in exploration.steps:
        docs = ", ".join(doc.path for doc in step.recommendation.kept)
        parts.append(f"## {step.subtask.goal}\n{step.status}\nDocs: {docs}")
        if step.candidate is not None:
            parts += [step.candidate.code, shown(step.candidate.observation)]
    verdict = document.plain_verification(exploration)
    parts.append(f"## Solution\n{exploration.status}\n{verdict}")
    if exploration.solution is not None:
        final = exploration.solution.final
        parts += [final.code, shown(final.observation)]
    return stable("\n\n".join(part for part in parts if part)).splitlines()


def _difference(old: list[str], new: list[str], names: tuple[str, str]) -> Iterator[str]:
    """A unified diff whose hunks name the heading that they are under."""
    for line in difflib.unified_diff(old, new, *names, lineterm=""):
        start = re.match(r"@@ -(\d+)", line)
        above = [one for one in old[: int(start[1])] if one.startswith("## ")] if start else []
        yield " ".join([line, *above[-1:]])
