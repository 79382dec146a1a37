"""``exploracoder index`` and ``exploracoder search``."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from exploracoder.cli.console import Progress, print_json
from exploracoder.cli.options import index_options, json_option, python_option
from exploracoder.errors import InputError

if TYPE_CHECKING:
    from exploracoder.state import Library

_BULK = 256


@click.command()
@click.argument("library", metavar="NAME_OR_PATH")
@python_option
@index_options
@json_option
def index(library: str, as_json: bool, **given: Any) -> int:
    """Read the docs of NAME_OR_PATH into the index: an installed library, a folder, or a .py file.

    The library is read, not imported. What has not changed since the last time is not read again.
    """
    started = time.monotonic()
    with open_libraries((library,), given) as (_, libraries):
        known = libraries[0]
    seconds = time.monotonic() - started
    if as_json:
        print_json(known.model_dump() | {"seconds": round(seconds, 3)})
    else:
        click.echo(f"{known.name} {known.version}: {known.apis} public APIs, {seconds:.1f} s")
    return 0


@click.command()
@click.argument("query", required=False)
@click.option(
    "--library",
    "-l",
    "libraries",
    multiple=True,
    required=True,
    metavar="NAME_OR_PATH",
    help="Where to look. May be repeated.",
)
@click.option(
    "-k", type=click.IntRange(1, 1000), default=10, show_default=True, help="How many to show."
)
@click.option(
    "--queries",
    type=click.Path(path_type=Path),
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
    queries: Path | None,
    as_json: bool,
    **given: Any,
) -> int:
    """Find the APIs of a library that do what QUERY says, best first."""
    if (query is None) == (queries is None):
        raise InputError("Give either a QUERY or a file of them with --queries.")
    asked = _read_queries(queries) if queries else [("", query or "")]
    if not all(words.strip() for _, words in asked):
        raise InputError("A query is empty.")
    with open_libraries(libraries, given) as (opened, found_libraries):
        names = [one.name for one in found_libraries]
        for start in range(0, len(asked), _BULK):
            batch = asked[start : start + _BULK]
            found = opened.search_many([words for _, words in batch], names, k)
            for (id_, words), hits in zip(batch, found, strict=True):
                if queries:
                    line = {"id": id_, "ranked": [hit.doc.path for hit in hits]}
                    click.echo(
                        json.dumps(line, ensure_ascii=False) if as_json else _ranking(words, hits)
                    )
                elif as_json:
                    print_json([hit.model_dump(mode="json") for hit in hits])
                else:
                    click.echo(_ranking(words, hits))
    return 0


@contextmanager
def open_libraries(
    targets: tuple[str, ...], given: dict[str, Any]
) -> Iterator[tuple[Any, tuple[Library, ...]]]:
    """The index with the libraries in it, up to date."""
    from exploracoder import prepare

    with (
        Progress() as progress,
        prepare.open_index(
            chroma_url=given["chroma_url"],
            embeddings_url=given["embeddings_url"],
            embeddings_model=given["embeddings_model"],
        ) as opened,
    ):
        interpreter = prepare.find_interpreter(given["python"])
        yield (
            opened,
            prepare.index_libraries(opened, targets, interpreter, progress=progress.working),
        )


def _ranking(words: str, hits: Any) -> str:
    lines = [f"# {words}"]
    for hit in hits:
        place = f"  {hit.doc.file}:{hit.doc.line}" if hit.doc.file else ""
        lines.append(f"{hit.doc.path}{place}")
        lines.append(f"    {hit.doc.signature}")
        if hit.doc.summary:
            lines.append(f"    {hit.doc.summary}")
    return "\n".join(lines)


def _read_queries(path: Path) -> list[tuple[str, str]]:
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"--queries: {path} cannot be read: {error}") from error
    asked = []
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
            asked.append((row["id"], str(row["query"])))
        except (ValueError, KeyError, TypeError) as error:
            raise InputError(
                f"--queries: line {number} of {path} is not an object with id and query."
            ) from error
    return asked
