"""``exploracoder map``."""

from __future__ import annotations

from typing import Any

import click

from exploracoder.cli.console import print_json
from exploracoder.cli.options import index_options, json_option, opened_libraries, python_option


@click.command()
@click.argument("library", metavar="NAME_OR_PATH")
@click.option(
    "--budget",
    type=click.IntRange(min=1),
    default=8000,
    show_default=True,
    metavar="TOKENS",
    help="At most about so long.",
)
@click.option(
    "--task",
    default="",
    metavar="TEXT",
    help="Where not all fits, what this task is likeliest to need comes first. Without it that is"
    " what the library's docs, examples and tests use most.",
)
@python_option
@index_options
@json_option
def map(library: str, budget: int, task: str, as_json: bool, **given: Any) -> int:
    """Print every public API of NAME_OR_PATH in a line: path, signature, first sentence.

    It is the map that prompts have of a library: modules and classes with what is in them, the same
    text each time. Of what does not fit, a line for each module says how many APIs there are, and
    names those that are used most.

    \b
      exploracoder map justhtml
      exploracoder map pandas --budget 2000 --task "join two tables on a column"
    """
    from exploracoder.mapping import map_of

    with opened_libraries([library], given) as (index, names):
        lines = map_of(index, names, budget, task)
    if as_json:
        print_json({"library": names[0], "map": lines.text, "is_whole": lines.is_whole})
    else:
        click.echo(lines.text)
    return 0
