"""``exploracoder apisearch``."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any

import click

from exploracoder.cli.console import print_result, say
from exploracoder.cli.options import (
    index_options,
    json_option,
    library_option,
    opened_libraries,
    python_option,
)
from exploracoder.errors import InputError, raised_as
from exploracoder.settings import make_settings

if TYPE_CHECKING:
    from exploracoder_retrieval.apisearch.answer import Answer
    from exploracoder_retrieval.index import Index

_ENGINE = "duckduckgo"


@click.command()
@click.argument("query")
@library_option("In whose docs to look.")
@click.option(
    "--web", is_flag=True, help="Ask the web, too: the query is sent, and nothing else of yours."
)
@click.option(
    "--engine",
    default=_ENGINE,
    show_default=True,
    metavar="NAME_OR_URL",
    help="Whom to ask there: duckduckgo, or the address of a SearXNG server.",
)
@click.option(
    "--site",
    "sites",
    multiple=True,
    metavar="HOST",
    help="A site to search instead of the usual ones. May be repeated.",
)
@click.option(
    "--seconds",
    type=click.FloatRange(min=0, max=10, min_open=True),
    metavar="S",
    help="How long to wait for the web; 0.6 by default. What comes later is kept for next time.",
)
@click.option("-k", type=click.IntRange(1, 100), default=10, show_default=True, help="How many.")
@python_option
@index_options
@json_option
def apisearch(
    query: str,
    libraries: tuple[str, ...],
    web: bool,
    engine: str,
    sites: tuple[str, ...],
    seconds: float | None,
    k: int,
    as_json: bool,
    **arguments: Any,
) -> int:
    """Find APIs for QUERY in the docs of libraries, on the web, or both.

    From the web come the names that pages on the sites say most. A query that looks like code, or
    holds a path, a secret or data, is not sent.

    \b
      exploracoder apisearch "monthly means of a time series" --library pandas
      exploracoder apisearch "monthly means of a time series" --web
    """
    from exploracoder_retrieval.apisearch.api_search import ApiSearch
    from exploracoder_retrieval.errors import RetrievalError

    from exploracoder.engine.knowing.lookup import open_web

    if not libraries and not web:
        raise InputError("Say where to look: --library NAME, --web, or both.")
    if not web and (sites or seconds is not None or engine != _ENGINE):
        raise InputError("--engine, --site and --seconds are about the web: they go with --web.")
    settings = make_settings(
        "standard",
        web_search=engine if web else None,
        web_sites=" ".join(sites) or None,
    )
    web_search = open_web(settings, seconds)
    manager: AbstractContextManager[tuple[Index | None, list[str]]] = nullcontext((None, []))
    if libraries:
        manager = opened_libraries(libraries, arguments)
    with manager as (index, names), raised_as(InputError, RetrievalError):
        answer = ApiSearch(index, names, web=web_search).search(query, k)
    print_result(answer.model_dump(mode="json"), _words(answer), as_json=as_json)
    for note in () if as_json else answer.notes:
        say(note, err=True)
    return 0 if answer.apis else 1


def _words(answer: Answer) -> str:
    lines = []
    for api in answer.apis:
        place = f"  {api.doc.file}:{api.doc.line}" if api.doc and api.doc.file else ""
        lines.append(f"{api.name}{place or ''.join(f'  {url}' for url in api.urls[:1])}")
        if api.doc and api.doc.summary:
            lines.append(f"    {api.doc.summary}")
    return "\n".join(lines) or "Nothing was found."
