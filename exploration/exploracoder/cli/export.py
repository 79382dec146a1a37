"""``exploracoder export``."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from exploracoder.cli.console import printable
from exploracoder.cli.options import file_argument
from exploracoder.errors import InputError

if TYPE_CHECKING:
    from exploracoder.exporting import ExportForm

_STANDARD_OUTPUT = "-"


@click.command()
@file_argument
@click.option(
    "--to",
    "form",
    type=click.Choice(["py", "html", "md"]),
    required=True,
    help="'py': a script; 'html' and 'md': a report.",
)
@click.option(
    "--output",
    "-o",
    metavar="FILE",
    help="The file to write; '-' is standard output. Default: beside the notebook, by its name.",
)
@click.option("--force", is_flag=True, help="Write over a file that is there.")
def export(file: Path, form: ExportForm, output: str | None, force: bool) -> int:
    """Make a script or a report of the exploration in FILE.

    The script has the context and the solution, with the check as comments after them; code that
    awaits something outside of functions cannot be one. The report has task, plan, docs, every
    candidate with what it showed, the solution with how it was verified, and the picture of
    branches; pictures are in the file, which asks nothing of any network. Prints the name of the
    file. Exit code 2: there is nothing to export, or the file is there already.

    \b
      exploracoder export exploration.ipynb --to py --output -
      exploracoder export exploration.ipynb --to html
    """
    from exploracoder import document
    from exploracoder.exporting import export as export_text

    exploration = document.load(file)
    target = None if output == _STANDARD_OUTPUT else Path(output or file.with_suffix(f".{form}"))
    if target is not None:
        _check_target(target, file, force=force)
    text = export_text(exploration, form)
    if target is None:
        click.echo(printable(text) if sys.stdout.isatty() else text, nl=False)
        return 0
    _write(target, text)
    click.echo(target)
    return 0


def _check_target(target: Path, notebook: Path, *, force: bool) -> None:
    if os.path.isdir(target):
        raise InputError(f"--output: {target} is a folder. Name a file in it.")
    is_there = os.path.exists(target)
    if is_there and target.samefile(notebook):
        raise InputError(f"--output: {target} is the notebook itself. Name another file.")
    if is_there and not force:
        raise InputError(f"{target} is there already. Name another with --output, or use --force.")


def _write(target: Path, text: str) -> None:
    from exploracoder_kernel.notebook import write_text

    try:
        write_text(target, text)
    except OSError as error:
        raise InputError(f"--output: {target} cannot be written: {error.strerror}.") from error
