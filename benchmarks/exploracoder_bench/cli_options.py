"""Options that several commands of ``exploracoder bench`` have."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click


def split_option(help: str, **more: Any) -> Callable[..., Any]:
    """The ``--split`` option, with the command's own help text."""
    return click.option(
        "--split", type=click.Choice(["seen", "held-out", "all"]), help=help, **more
    )


def problem_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that choose problems and the interpreters of their libraries."""
    for option in (
        click.option(
            "--search-path",
            type=click.Path(path_type=Path, exists=True, file_okay=False),
            metavar="DIR",
            help="More modules for the interpreters: what 'bench private-libraries' made.",
        ),
        click.option(
            "--pythons",
            metavar="EXE|LIBRARY=EXE,…",
            help="The interpreter of all libraries, or of each; pandas' serves numpy, monkey and"
            " beatnum too. Default: environments of the pins of published data sets, and this one.",
        ),
        split_option(
            "Problems that may be looked at (seen) or only counted (held-out), as splits.json says;"
            " 'all' includes problems that it does not mention.",
            default="all",
            show_default=True,
        ),
        click.option(
            "--select",
            multiple=True,
            metavar="NAME,…",
            help="smoke (the first two of each data set), data sets, or problems. Default: all.",
        ),
        click.option(
            "--problems",
            multiple=True,
            required=True,
            metavar="SPEC",
            help="A folder of tasks, a kit's folder, a published data set's name, NAME=FILE, or"
            " api-use=NAME. May be repeated.",
        ),
    ):
        command = option(command)
    return command


def pool_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options for where samples run, and how many at a time."""
    for option in (
        click.option(
            "--jobs",
            type=click.IntRange(1, 256),
            default=1,
            show_default=True,
            help="Samples at a time, with --executor local.",
        ),
        click.option(
            "--executor",
            default="local",
            show_default=True,
            metavar="NAME",
            help="local, or dask://HOST:PORT of a Dask scheduler whose workers see the same files.",
        ),
    ):
        command = option(command)
    return command
