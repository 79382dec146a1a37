"""``exploracoder replay``."""

from __future__ import annotations

import difflib
from pathlib import Path
from typing import Any

import click

from exploracoder.cli.console import Progress, print_json, run_async
from exploracoder.cli.options import (
    json_option,
    kernel_option,
    python_option,
    sandbox_options,
    strategy_option,
)
from exploracoder.errors import SetupError
from exploracoder.replay import ReplayedCell


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@kernel_option
@strategy_option
@python_option
@sandbox_options
@json_option
def replay(file: Path, as_json: bool, **given: Any) -> int:
    """Run the accepted cells of the exploration in FILE again, without a model.

    Says of each cell whether its output is the same, changed, or it failed. Exit code 0: all are
    the same; 1: some are not. FILE is not touched.
    """
    cells = _replay(file, given)
    if as_json:
        print_json({"notebook": str(file), "cells": [cell.model_dump() for cell in cells]})
    else:
        for cell in cells:
            click.echo(_in_words(cell))
        same = sum(cell.result == "same" for cell in cells)
        click.echo(f"{same} of {len(cells)} cells are as they were.")
    return 0 if all(cell.result == "same" for cell in cells) else 1


def _replay(file: Path, given: dict[str, Any]) -> list[ReplayedCell]:
    from exploracoder_kernel.errors import SidecarError
    from exploracoder_kernel.limits import Limits
    from exploracoder_kernel.sidecar import Sidecar

    from exploracoder import document, prepare
    from exploracoder.bringing import Source, bring, check_source
    from exploracoder.cli.sandbox import find_sandbox
    from exploracoder.replay import replay as replay_cells

    exploration = document.load(file)
    source = None if given["kernel"] is None else Source(given["kernel"])
    check_source(source, exploration.brought)
    then = exploration.python if Path(exploration.python).exists() else None
    interpreter = prepare.find_interpreter(given["python"] or then)
    paths = prepare.import_paths(exploration.task.libraries, interpreter)
    sandboxing = find_sandbox(
        given["sandbox"],
        python=interpreter.executable,
        folder=Path.cwd(),
        readable=given["readable"],
    )

    async def work() -> list[ReplayedCell]:
        limits = Limits(wall_seconds=exploration.settings.run_seconds)
        cells = []
        async with Sidecar(
            interpreter.executable,
            limits=limits,
            strategy=given["strategy"],
            env=paths,
            launcher=sandboxing.launcher,
        ) as sidecar:
            await bring(sidecar, source, exploration.brought)
            async for cell in replay_cells(sidecar, exploration):
                progress.working(f"Ran {cell.cell}: {cell.result}")
                cells.append(cell)
        return cells

    with Progress() as progress:
        try:
            return run_async(work())
        except SidecarError as error:
            raise SetupError(str(error)) from error


def _in_words(cell: ReplayedCell) -> str:
    line = f"{cell.result:8} {cell.cell}: {cell.goal}"
    if cell.result == "same":
        return line
    diff = difflib.unified_diff(
        cell.before.splitlines(), cell.now.splitlines(), "before", "now", lineterm="", n=1
    )
    return "\n".join([line, *(f"         {changed}" for changed in diff)])
