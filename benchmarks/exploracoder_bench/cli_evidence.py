"""Commands of ``exploracoder bench`` that figures rest on: problems and tables made anew."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import click
from exploracoder.errors import InputError

from exploracoder_bench.cli_options import pool_options, problem_options
from exploracoder_bench.progress_lines import say

_OUT = click.Path(path_type=Path, file_okay=False)


@click.command()
@click.argument("folder", type=_OUT)
@click.option("--library", required=True, metavar="NAME", help="The library: pandas, numpy, …")
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    required=True,
    help="Decides the names: the same seed, the same names.",
)
@problem_options
@pool_options
def renamed(**arguments: Any) -> int:
    """Turn problems about a well-known library into problems about one that nobody has seen.

    FOLDER becomes a kit: a copy of the library in which all public names are new, and the problems
    rewritten to use them. A problem whose known solution does not pass under the new names is left
    out and listed. Each problem is in the split (see --split) of the one it is made from.

    \b
      exploracoder bench renamed pandas7 --library pandas --seed 7 --problems PandasEval
      exploracoder bench run --problems pandas7 --method direct,exploration --out runs
    """
    from exploracoder_bench.bench_commands import problems_of
    from exploracoder_bench.datasets.renamed import make_kit
    from exploracoder_bench.executors import open_pool
    from exploracoder_bench.problems import check_names

    folder: Path = arguments["folder"].absolute()
    if folder.exists() and any(folder.iterdir()):
        raise InputError(f"{folder} is not empty: name a new folder, since problems are made anew.")
    library = arguments["library"]
    problems = [one for one in problems_of(arguments) if one.libraries == (library,)]
    if not problems:
        raise InputError(f"None of the problems is about {library!r} alone. Name others.")
    check_names(problems)
    with open_pool(arguments["executor"], arguments["jobs"]) as pool:
        remade = make_kit(folder, problems, library, arguments["seed"], pool, say)
    left_out = [one for one in remade if one.problem is None]
    click.echo(f"{len(remade) - len(left_out)} of {len(remade)} problems are in {folder}.")
    for one in left_out:
        click.echo(f"left out: {one.origin.name}: {one.reason}")
    return 0


_results_option = click.option(
    "--results",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    default=Path("benchmarks/results"),
    show_default=True,
    metavar="DIR",
    help="The kept results, with tables.json.",
)


@click.command()
@click.argument("name")
@_results_option
def table(name: str, results: Path) -> int:
    """Draw the table NAME from kept results; DIR/tables.json says what it is made of."""
    from exploracoder_bench.report.kept_tables import draw_table

    click.echo(draw_table(results, name))
    return 0


@click.command()
@click.argument(
    "pages", nargs=-1, required=True, type=click.Path(path_type=Path, exists=True, dir_okay=False)
)
@click.option("--check", is_flag=True, help="Write nothing; exit code 1 if a page is stale.")
@_results_option
def tables(pages: tuple[Path, ...], check: bool, results: Path) -> int:
    """Redraw the tables of Markdown PAGES, wherever a comment names the command of one.

    \b
      <!-- table: exploracoder bench table NAME -->
      <!-- end -->
    """
    from exploracoder_bench.report.kept_tables import draw_table
    from exploracoder_bench.report.marked import redraw, stale_tables

    draw = partial(draw_table, results)
    code = 0
    for page in pages:
        text = page.read_text(encoding="utf-8")
        stale = stale_tables(text, draw)
        verb = "is" if check else "was"
        for name in stale:
            say(f"{page}: the table {name} {verb} not what its results say.")
        if stale and check:
            say("Draw it anew: make tables")
            code = 1
        elif stale:
            page.write_text(redraw(text, draw), encoding="utf-8")
    return code


@click.command("keep-replies")
@click.argument("folder", type=_OUT, metavar="DIR")
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
def keep_replies(folder: Path, file: Path) -> int:
    """Write the replies of the run in DIR to FILE, so that anybody can repeat it.

    \b
      exploracoder bench keep-replies runs replies.jsonl
      exploracoder bench run … --replies replies.jsonl --out again

    The second command asks no model. It needs code that asks what was asked then: if a prompt has
    changed since, it is refused.
    """
    from exploracoder_bench.kept_replies import keep

    click.echo(f"{keep(folder, file)} replies are in {file}.")
    return 0
