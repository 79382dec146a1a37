"""The implementations of the commands in ``cli_evidence``."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import click
from exploracoder.errors import InputError

from exploracoder_bench.bench_commands import problems_of
from exploracoder_bench.datasets.renamed import make_kit
from exploracoder_bench.executors import open_pool
from exploracoder_bench.kept_replies import keep
from exploracoder_bench.problems import check_names
from exploracoder_bench.report.kept_tables import draw_table
from exploracoder_bench.report.marked import redraw, stale_tables


def renamed_command(arguments: dict[str, Any]) -> int:
    """``bench renamed``: print how many problems were made, and which were left out and why."""
    folder: Path = arguments["folder"].absolute()
    if folder.exists() and any(folder.iterdir()):
        raise InputError(f"{folder} is not empty: name a new folder, since problems are made anew.")
    library = arguments["library"]
    problems = [one for one in problems_of(arguments) if one.libraries == (library,)]
    if not problems:
        raise InputError(f"None of the problems is about {library!r} alone. Name others.")
    check_names(problems)
    with open_pool(arguments["executor"], arguments["jobs"]) as pool:
        remade = make_kit(folder, problems, library, arguments["seed"], pool, _say)
    left_out = [one for one in remade if one.problem is None]
    click.echo(f"{len(remade) - len(left_out)} of {len(remade)} problems are in {folder}.")
    for one in left_out:
        click.echo(f"left out: {one.origin.name}: {one.reason}")
    return 0


def tables_command(pages: Sequence[Path], results: Path, *, is_check: bool) -> int:
    """``bench tables``: return 0 if every table matches its results, or was redrawn; else 1."""
    draw = partial(draw_table, results)
    code = 0
    for page in pages:
        text = page.read_text(encoding="utf-8")
        stale = stale_tables(text, draw)
        verb = "is" if is_check else "was"
        for name in stale:
            _say(f"{page}: the table {name} {verb} not what its results say.")
        if stale and is_check:
            _say("Draw it anew: make tables")
            code = 1
        elif stale:
            page.write_text(redraw(text, draw), encoding="utf-8")
    return code


def table_command(name: str, results: Path) -> int:
    """``bench table``: print the table."""
    click.echo(draw_table(results, name))
    return 0


def keep_replies_command(run: Path, file: Path) -> int:
    """``bench keep-replies``: print how many were kept."""
    click.echo(f"{keep(run, file)} replies are in {file}.")
    return 0


def _say(text: str) -> None:
    click.echo(text, err=True)
