"""Going on without a sandbox: agreed to by whoever sits at the terminal."""

from __future__ import annotations

import sys

import click

from exploracoder.cli.console import Progress, is_terminal


def ask_consent(missing: str) -> bool:
    """Ask on a terminal, once, whether to go on without a sandbox; elsewhere the answer is no.

    ``missing`` says what a sandbox would need.
    """
    from exploracoder_kernel.sandbox import QUESTION

    if not (is_terminal() and sys.stdin.isatty()):
        return False
    with Progress.question():
        click.echo(f"There is no sandbox to run code in. {missing}", err=True)
        return click.confirm(QUESTION, err=True)
