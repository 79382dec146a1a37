"""Commands of ``exploracoder bench`` that figures rest on: problems made anew."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from exploracoder_bench.cli_options import pool_options, problem_options

_OUT = click.Path(path_type=Path, file_okay=False)


@click.command()
@click.argument("folder", type=_OUT)
@click.option("--library", required=True, metavar="NAME", help="The library: pandas, numpy, …")
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    required=True,
    help="Another seed gives other names; the same one gives the same.",
)
@problem_options
@pool_options
def renamed(**given: Any) -> int:
    """Make problems with a library that nobody has seen out of problems with one that all know.

    FOLDER becomes a kit: a copy of the library whose public names, and those of its classes, are
    others, and the problems with the same names in their words and code. A problem whose known
    solution does not pass under new names is left out and listed. Each is of the split (see
    --split) of the problem that it is made from.

    \b
      exploracoder bench renamed pandas7 --library pandas --seed 7 --problems PandasEval
      exploracoder bench run --problems pandas7 --method direct,exploration --out runs
    """
    from exploracoder_bench.commands import renamed_command

    return renamed_command(given)
