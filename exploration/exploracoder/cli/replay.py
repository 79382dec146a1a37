"""``exploracoder replay``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from exploracoder.cli.console import Progress, print_result, run_async
from exploracoder.cli.options import (
    file_argument,
    json_option,
    kernel_option,
    options_of,
    python_option,
    sandbox_options,
    strategy_option,
    trust_option,
)
from exploracoder.replay import Replay, ReplayedCell


@click.command()
@file_argument
@kernel_option
@strategy_option
@python_option
@sandbox_options
@trust_option
@json_option
def replay(file: Path, as_json: bool, **arguments: Any) -> int:
    """Run the accepted cells of the exploration in FILE again, without a model.

    Names the libraries whose version is not the recorded one, then says of each cell whether its
    output is the same, changed, or it failed. Exit code 0: all cells are the same; 1: some are not,
    or none has run yet; 2: a library is not there any more. FILE is not touched.
    """
    result = _replay(file, arguments)
    details = {"notebook": str(file), **result.model_dump()}
    print_result(details, result, as_json=as_json)
    return 0 if result.is_same else 1


def _replay(file: Path, arguments: dict[str, Any]) -> Replay:
    from exploracoder import document
    from exploracoder.cli.questions import check_trust
    from exploracoder.user_variables import find_source
    from exploracoder.workspace import prepare_replay

    exploration = document.load(file)
    options = options_of(arguments)
    check_trust(exploration, file, options)
    folder, source = file.absolute().parent, find_source(arguments["kernel"])
    run_replay = prepare_replay(exploration, folder, options, source=source)

    def tell(cell: ReplayedCell) -> None:
        progress.working(f"Ran {cell.cell}: {cell.result}")

    with Progress() as progress:
        return run_async(run_replay(tell))
