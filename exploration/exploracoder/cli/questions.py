"""Questions to the user at the terminal: whether code may run."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from exploracoder.cli.console import Progress, is_terminal, printable
from exploracoder.errors import InputError, UntrustedError
from exploracoder.state import Exploration

if TYPE_CHECKING:
    from exploracoder.workspace import Options

_LEVELS = {"auto": "auto: strict, or what you agreed to where no sandbox can be had"}


def check_trust(exploration: Exploration, file: Path, options: Options) -> None:
    """Ask on a terminal whether an exploration that was not made here may run.

    Args:
        exploration: As loaded, before any part of it is used.
        file: Its notebook.
        options: The command's options.

    Raises:
        InputError: The answer was no, or there is nobody to ask.
    """
    from exploracoder import trust, workspace

    try:
        workspace.check_trust(exploration, str(file), options, reads=(file.absolute().parent,))
    except UntrustedError as error:
        if not _is_interactive():
            raise InputError(f"{error} With --trust it runs without a question.") from None
        click.echo(f"{file} was not made here by you.", err=True)
        preview = error.preview
        level = _LEVELS.get(preview.sandbox, preview.sandbox)
        words = trust.in_words(preview.model_copy(update={"sandbox": level}))
        click.echo(printable(words), err=True)
        if not click.confirm("Run it?", err=True):
            raise InputError(f"Nothing of {file} was run.") from None
        trust.sign(exploration)


def ask_consent(missing: str) -> bool:
    """Ask on a terminal, once, whether to go on without a sandbox; elsewhere the answer is no.

    ``missing`` says what a sandbox would need.
    """
    from exploracoder_kernel.sandbox import QUESTION

    if not _is_interactive():
        return False
    with Progress.question():
        click.echo(f"There is no sandbox to run code in. {missing}", err=True)
        return click.confirm(QUESTION, err=True)


def _is_interactive() -> bool:
    return is_terminal() and sys.stdin.isatty()
