"""``exploracoder replay``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from exploracoder.cli.console import Progress, print_json, run_async, say
from exploracoder.cli.options import (
    json_option,
    kernel_option,
    python_option,
    sandbox_options,
    strategy_option,
    trust_option,
)
from exploracoder.replay import Replay


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@kernel_option
@strategy_option
@python_option
@sandbox_options
@trust_option
@json_option
def replay(file: Path, as_json: bool, **given: Any) -> int:
    """Run the accepted cells of the exploration in FILE again, without a model.

    Names the libraries whose version is not the recorded one, then says of each cell whether its
    output is the same, changed, or it failed. Exit code 0: all cells are the same; 1: some are not;
    2: a library is not there any more. FILE is not touched.
    """
    replayed = _replay(file, given)
    if as_json:
        print_json({"notebook": str(file), **replayed.model_dump()})
    else:
        say(replayed)
    return 0 if replayed.is_same else 1


def _replay(file: Path, given: dict[str, Any]) -> Replay:
    from exploracoder import confined, document, prepare
    from exploracoder.bringing import Source, check_source
    from exploracoder.cli.sandbox import find_sandbox
    from exploracoder.cli.trust import check_trust
    from exploracoder.installed import find_libraries
    from exploracoder.replaying import replay_with

    exploration = document.load(file)
    check_trust(exploration, file, given)
    source = None if given["kernel"] is None else Source(given["kernel"])
    check_source(source, exploration.brought)
    then = prepare.interpreter_then(exploration)
    interpreter = confined.find_interpreter(given["python"] or then)
    libraries = find_libraries(exploration, interpreter, (Path.cwd(), file.absolute().parent))
    target = exploration.task.target
    sandboxing = find_sandbox(
        given["sandbox"],
        python=interpreter.executable,
        folder=Path.cwd(),
        readable=(*given["readable"], *([Path(target.root)] if target else [])),
    )
    with Progress() as progress:
        replaying = replay_with(
            libraries,
            python=interpreter.executable,
            strategy=given["strategy"],
            sandboxing=sandboxing,
            source=source,
            tell=lambda cell: progress.working(f"Ran {cell.cell}: {cell.result}"),
        )
        return run_async(replaying)
