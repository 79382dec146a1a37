"""``exploracoder index``, ``exploracoder search`` and ``exploracoder map``."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from exploracoder.cli.console import (
    Progress,
    numbered_lines,
    print_json,
    say,
)
from exploracoder.cli.options import (
    index_options,
    json_option,
    library_option,
    opened_libraries,
    options_of,
    path_option,
    python_option,
)
from exploracoder.errors import InputError
from exploracoder.texts import on_a_line

if TYPE_CHECKING:
    from exploracoder_retrieval.apidoc import ApiDoc, ApiKind, Hit
    from exploracoder_retrieval.index import Index
    from exploracoder_retrieval.library_python import Interpreter

    from exploracoder.memory import Uses
    from exploracoder.state import Library

_KINDS = ("module", "class", "function", "method", "property", "attribute", "operation")
_BULK = 256
# Hits to fetch for each API shown, since a member that many classes share is shown once.
_LOOKED_AT = 6
_OTHERS = 3


@click.command()
@click.argument("library", metavar="NAME_OR_PATH")
@click.option(
    "--docs",
    multiple=True,
    metavar="PATH_OR_URL",
    help="Documentation beside the library: a folder or file of HTML, Markdown, notebooks or"
    " objects.inv, or the address of a Sphinx site. It takes the place of what was given before,"
    " is remembered, and is fetched now and not again. May be repeated.",
)
@click.option(
    "--name",
    metavar="NAME",
    help="There is no code: NAME_OR_PATH is documentation, of a library to be called NAME.",
)
@click.option("--no-docs", is_flag=True, help="Forget the documentation given before.")
@path_option(
    "--uses",
    multiple=True,
    metavar="PATH",
    help="Scripts, tests and notebooks of yours, or a folder of them: what they do with the library"
    " is read and kept as examples of it, in the place of what was kept of such files before."
    " 'exploracoder memory' lists and forgets it. May be repeated.",
)
@python_option
@index_options
@json_option
def index(
    library: str,
    docs: tuple[str, ...],
    name: str | None,
    no_docs: bool,
    uses: tuple[Path, ...],
    as_json: bool,
    **arguments: Any,
) -> int:
    """Read the docs of NAME_OR_PATH into the index: an installed library, a folder, or a .py file.

    Its Python files are read and never run. Compiled modules of what is installed are imported in a
    strict sandbox, to be asked what they hold. What has not changed since the last time is not read
    again.
    A library of which there is only documentation is known by that: a file of ApiDocs (.jsonl,
    .jsonl.gz), an OpenAPI file (.json, .yaml), an objects.inv, or, with --name, any folder or
    address of docs.

    \b
      exploracoder index mylib --docs docs/_build/html --docs tutorials/
      exploracoder index mylib --uses notebooks/ --uses tests/
      exploracoder index petstore.yaml
      exploracoder index https://docs.example.org/en/stable/ --name teahouse
    """
    from exploracoder import memory, prepare

    if no_docs and (docs or name is not None):
        raise InputError("--no-docs forgets documentation; give --docs or --name without it.")
    start = time.monotonic()
    options = options_of(arguments)
    with Progress() as progress, options.open_index() as library_index:
        interpreter = options.find_interpreter()
        if no_docs and _forget(library_index, library, interpreter, as_json=as_json):
            return 0
        record = _indexed(library_index, library, docs, name, interpreter, progress.working)
        info = library_index.info(record.name)
        note = prepare.without_code(info, library_index, interpreter)
        kept_uses = memory.keep_uses(library_index, record.name, uses) if uses else None
    seconds = round(time.monotonic() - start, 3)
    if as_json:
        skips = [one.model_dump() for one in info.skipped]
        details = {"seconds": seconds, "docs": info.docs, "skipped": skips, "note": note}
        print_json(record.model_dump() | details | (_uses_as_json(kept_uses) if kept_uses else {}))
        return 0
    version = f" {record.version}" if record.version else ""
    say(f"{record.name}{version}: {record.apis} public APIs, {seconds:.1f} s")
    _say_skipped((one.name, one.reason) for one in info.skipped)
    if note:
        say(note, err=True)
    if kept_uses:
        _say_uses(kept_uses)
    return 0


@click.command()
@click.argument("query", required=False)
@library_option("Where to look.", required=True)
@click.option(
    "-k", type=click.IntRange(1, 1000), default=10, show_default=True, help="How many to show."
)
@click.option("--kind", type=click.Choice(_KINDS), help="Only APIs of this kind.")
@click.option("--in", "inside", metavar="PATH", help="Only what lies in this module or class.")
@path_option(
    "--queries",
    metavar="FILE.jsonl",
    help="Many queries, a line {id, query} each; with --json the answer to each is a line"
    " {id, ranked}.",
)
@python_option
@index_options
@json_option
def search(
    query: str | None,
    libraries: tuple[str, ...],
    k: int,
    kind: ApiKind | None,
    inside: str | None,
    queries: Path | None,
    as_json: bool,
    **arguments: Any,
) -> int:
    """Find the APIs of a library that do what QUERY says, best first.

    A member that several classes share is shown once. Of many queries (--queries) each is answered
    with the paths as they are ranked.

    \b
      exploracoder search "join two tables" --library pandas
      exploracoder search "column names" --library pandas --in pandas.DataFrame --kind property
    """
    from exploracoder_retrieval.search_filter import Filter
    from exploracoder_retrieval.shared_members import alike, with_others

    if (query is None) == (queries is None):
        raise InputError("Give either a QUERY or a file of them with --queries.")
    questions = _read_queries(queries) if queries else [("", query or "")]
    if not all(words.strip() for _, words in questions):
        raise InputError("A query is empty.")
    only = Filter(kind, inside or "") if kind or inside else None
    with opened_libraries(libraries, arguments) as (index, names):
        if query is not None:
            groups = with_others(index.search(query, names, _LOOKED_AT * k, only=only), k, alike)
            if as_json:
                print_json([{**hit.model_dump(mode="json"), "also": also} for hit, also in groups])
            else:
                say(_ranking(query, groups))
                if not groups:
                    click.echo("Nothing of that kind, or in there, was found.", err=True)
            return 0
        for start in range(0, len(questions), _BULK):
            batch = questions[start : start + _BULK]
            answers = index.search_many([words for _, words in batch], names, k, only=only)
            for (id_, words), hits in zip(batch, answers, strict=True):
                line = {"id": id_, "ranked": [hit.doc.path for hit in hits]}
                text = _ranking(words, [(hit, ()) for hit in hits])
                if as_json:
                    print_json(line, indent=None)
                else:
                    say(text)
    return 0


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
def map(library: str, budget: int, task: str, as_json: bool, **arguments: Any) -> int:
    """Print every public API of NAME_OR_PATH in a line: path, signature, first sentence.

    It is the map that prompts have of a library: modules and classes with what is in them, the same
    text each time. Of what does not fit, a line for each module says how many APIs there are, and
    names those that are used most.

    \b
      exploracoder map justhtml
      exploracoder map pandas --budget 2000 --task "join two tables on a column"
    """
    from exploracoder.mapping import map_of

    with opened_libraries([library], arguments) as (index, names):
        lines = map_of(index, names, budget, task)
    if as_json:
        print_json({"library": names[0], "map": lines.text, "is_whole": lines.is_whole})
    else:
        say(lines.text)
    return 0


def _indexed(
    index: Index,
    target: str,
    docs: tuple[str, ...],
    name: str | None,
    interpreter: Interpreter,
    on_progress: Callable[[str], None],
) -> Library:
    """Index one library. Documentation that cannot be used is not remembered."""
    from exploracoder import prepare, user_docs

    if not docs and name is None and not user_docs.is_documentation(target):
        return prepare.index_libraries(index, (target,), interpreter)[0]
    given = user_docs.given(index, target, docs, interpreter, name=name, progress=on_progress)
    with given as library:
        return prepare.index_libraries(index, (library,), interpreter)[0]


def _forget(index: Index, target: str, interpreter: Interpreter, *, as_json: bool) -> bool:
    """Forget a library's documentation; True if nothing is left to index."""
    from exploracoder_retrieval.errors import RetrievalError

    from exploracoder import user_docs
    from exploracoder.prepare import find_library

    was_given = user_docs.take_back(index, target, interpreter)
    outcome = "forgotten" if was_given else "none were given"
    say(f"Docs of {target}: {outcome}.", err=True)
    try:
        find_library(target, interpreter)
    except RetrievalError:
        if as_json:
            print_json({"name": target, "apis": 0})
        return True
    return False


def _say_skipped(skips: Iterable[tuple[str, str]]) -> None:
    for name, reason in skips:
        click.echo(f"Skipped {on_a_line(name)}: {on_a_line(reason)}", err=True)


def _uses_as_json(uses: Uses) -> dict[str, Any]:
    skips = [{"name": name, "reason": reason} for name, reason in uses.skipped_files]
    return {"uses": {"examples": len(uses.examples), "skipped": skips}}


def _say_uses(uses: Uses) -> None:
    _say_skipped(uses.skipped_files)
    if not uses.examples:
        click.echo("No use of it was found there, so no examples are kept of your code.", err=True)
        return
    files = len({one.origin for one in uses.examples})
    counts = f"Examples kept: {len(uses.examples)} (files: {files})"
    click.echo(f"{counts}; see them with: exploracoder memory list")


def _ranking(words: str, groups: Sequence[tuple[Hit, Sequence[str]]]) -> str:
    lines = [f"# {words}"]
    for hit, also in groups:
        place = _place(hit.doc)
        lines.append(f"{hit.doc.path}  {place}" if place else hit.doc.path)
        lines += [f"    {on_a_line(line)}" for line in hit.doc.signature.splitlines()]
        if hit.doc.summary:
            lines.append(f"    {on_a_line(hit.doc.summary)}")
        if also:
            more = f" and {len(also) - _OTHERS} more" if len(also) > _OTHERS else ""
            lines.append(f"    also {', '.join(also[:_OTHERS])}{more}")
    return "\n".join(lines)


def _place(doc: ApiDoc) -> str:
    """Where it was read: an address, or file and line."""
    if doc.url:
        return on_a_line(doc.url)
    line = f":{doc.line}" if doc.line else ""
    return on_a_line(f"{doc.file}{line}") if doc.file else ""


def _read_queries(path: Path) -> list[tuple[str, str]]:
    questions = []
    for number, line in numbered_lines(path):
        try:
            row = json.loads(line)
            questions.append((row["id"], str(row["query"])))
        except (ValueError, KeyError, TypeError) as error:
            raise InputError(
                f"--queries: line {number} of {path} is not an object with id and query."
            ) from error
    return questions
