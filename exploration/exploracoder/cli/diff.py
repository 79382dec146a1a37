"""``exploracoder diff``."""

from __future__ import annotations

from pathlib import Path

import click

from exploracoder.cli.console import print_json, say
from exploracoder.cli.options import json_option


@click.command()
@click.argument("a", type=click.Path(path_type=Path))
@click.argument("b", type=click.Path(path_type=Path))
@json_option
def diff(a: Path, b: Path, as_json: bool) -> int:
    """Compare the explorations in A and B, step by step.

    Tells what differs in task and libraries, in each subtask's goal, docs, code and output, and in
    the solution and its verdict; and what each has cost, which is no difference. Subtasks belong
    together by their goals, else by their place. Exit code 0: they are the same; 1: they differ;
    2: one of them cannot be read.
    """
    from exploracoder import document
    from exploracoder.comparison import compare

    compared = compare(document.load(a), document.load(b))
    if as_json:
        steps = [step.model_dump() | {"result": step.result} for step in compared.steps]
        print_json(
            {
                "a": str(a),
                "b": str(b),
                "is_same": compared.is_same,
                **compared.model_dump(exclude={"steps"}),
                "steps": steps,
            }
        )
    else:
        say(compared)
    return 0 if compared.is_same else 1
