"""``exploracoder memory``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click
from exploracoder_retrieval.errors import RetrievalError

from exploracoder.cli.console import print_json, say
from exploracoder.cli.options import json_option
from exploracoder.errors import InputError, SetupError, raised_as

if TYPE_CHECKING:
    from exploracoder_retrieval.examples.kept import KeptExample, KeptExamples


@click.group()
def memory() -> None:
    """List or forget the examples that are kept of your code and of what you accepted.

    They are of the files given with 'exploracoder index --uses', of snippets that you accepted, and
    of solutions that passed a check. They lie on this machine, and stand in prompts of explorations
    whose task they fit. '--set memory=false' explores without them and keeps nothing.
    """


@memory.command(name="list")
@click.argument("library", required=False)
@json_option
def list_(library: str | None, as_json: bool) -> int:
    """List what is kept, or what is kept for LIBRARY."""
    examples = _examples()
    selection = examples.all() if library is None else examples.of(library)
    if as_json:
        print_json([{"id": one.id, **one.model_dump(mode="json")} for one in selection])
    elif not selection:
        say("Nothing is kept.", err=True)
    for one in () if as_json else selection:
        say(_line(one))
    return 0


@memory.command()
@click.argument("library", required=False)
@click.option("--id", "ids", multiple=True, metavar="ID", help="Only this one. May be repeated.")
@click.option("--yes", "-y", is_flag=True, help="Do not ask before all libraries' are forgotten.")
def forget(library: str | None, ids: tuple[str, ...], yes: bool) -> int:
    """Forget what is kept for LIBRARY, or for all libraries.

    \b
      exploracoder memory forget justhtml
      exploracoder memory forget justhtml --id 3f1c0a9be812
    """
    examples = _examples()
    if library is None and ids:
        raise InputError("--id goes with a library: exploracoder memory forget LIBRARY --id ID")
    if library is None and not yes:
        click.confirm("Forget what is kept for all libraries?", abort=True, err=True)
    with raised_as(SetupError, RetrievalError):
        count = examples.forget_all() if library is None else examples.forget(library, ids)
    say(f"{count} example{'' if count == 1 else 's'} forgotten.")
    return 0


def _examples() -> KeptExamples:
    from exploracoder_retrieval.examples.kept import KeptExamples

    from exploracoder.prepare import user_folder

    return KeptExamples(user_folder())


def _line(one: KeptExample) -> str:
    version = f" {one.version}" if one.version else ""
    place = f"{one.origin}:{one.line}" if one.line else one.origin
    task = f" [{one.task}]" if one.task not in ("", one.title) else ""
    about = f"{one.title}{task} (APIs: {len(one.apis)}, {one.kept:%Y-%m-%d}, {place})"
    return f"{one.library}{version}  {one.id}  {about}"
