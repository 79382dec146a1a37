"""The sandbox of a command: chosen, and its absence agreed to by whoever sits there."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from exploracoder.cli.console import is_terminal
from exploracoder.errors import SetupError

if TYPE_CHECKING:
    from exploracoder_kernel.sandbox import LevelChoice, Sandboxing


def find_sandbox(
    level: LevelChoice, *, python: str | Path, folder: Path, readable: Sequence[Path] = ()
) -> Sandboxing:
    """The sandbox that code will run in. On a terminal, asks once whether to go on without one.

    Args:
        level: What was asked for.
        python: The interpreter that code runs in.
        folder: Where it works; its files can be read.
        readable: More files and folders that can be.

    Raises:
        SetupError: There is none, and nobody agreed to go on without.
    """
    from exploracoder_kernel.errors import SandboxUnavailable, SidecarError
    from exploracoder_kernel.sandbox import QUESTION, Consent, choose

    def found() -> Sandboxing:
        return choose(level, python=python, cwd=folder, inputs=readable)

    try:
        try:
            return found()
        except SandboxUnavailable as none:
            if level != "auto" or not (is_terminal() and sys.stdin.isatty()):
                raise
            click.echo(f"There is no sandbox to run code in. {none.missing}", err=True)
            if not click.confirm(QUESTION, err=True):
                raise
            Consent().give()
            return found()
    except (SidecarError, OSError) as error:
        raise SetupError(str(error)) from error
