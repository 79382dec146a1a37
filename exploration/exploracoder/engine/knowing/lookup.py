"""APISearch: what a model may look up in the docs and on the web, and what must stay local.

Source: ToolCoder, sections 3.1 and 3.4; there a fine-tuned model writes the call into its code.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from exploracoder_kernel.observation import Variable
from exploracoder_retrieval.apisearch.web_page import LIMIT_S
from exploracoder_retrieval.embedded_words import words
from exploracoder_retrieval.errors import RetrievalError
from pydantic import BaseModel, ConfigDict, Field

from exploracoder.engine.reading import syntax
from exploracoder.engine.reading.snippet_names import without_magics
from exploracoder.engine.reading.value_text import describe_apis
from exploracoder.errors import InputError
from exploracoder.folders import cache_folder
from exploracoder.settings import Settings
from exploracoder.state import Candidate

if TYPE_CHECKING:
    from exploracoder_retrieval.apisearch.answer import Answer
    from exploracoder_retrieval.apisearch.query_guard import Guard
    from exploracoder_retrieval.apisearch.web import WebSearch

    from exploracoder.engine.workbench import Workbench

NAME = "APISearch"
FOUND = 5
_DESCRIPTION = (
    "Searches for APIs that do what the query says, in the library's documentation{web}. Use it"
    " only when the documentation that you were shown has no API for what is to be done. The query"
    " is a few plain English words on functionality: no code, no names or values of variables."
)


class Query(BaseModel):
    """What the model asks."""

    model_config = ConfigDict(extra="forbid")

    query: str = Field(description="what the API should do, in a few plain English words")


def description(bench: Workbench) -> str:
    """The function's description for the model."""
    web = " and on the web" if bench.settings.web_search != "off" else ""
    return _DESCRIPTION.format(web=web)


def open_web(settings: Settings, limit_s: float | None = None) -> WebSearch | None:
    """The web search that the settings name; None when it is off.

    ``limit_s`` is how long a search may block its caller; by default as long as ToolCoder's.

    Raises:
        InputError: it needs a package that is not installed, or its address cannot be used.
    """
    if settings.web_search == "off":
        return None
    from exploracoder_retrieval.apisearch.page_cache import PageCache
    from exploracoder_retrieval.apisearch.providers import find_provider
    from exploracoder_retrieval.apisearch.web import WebSearch

    try:
        provider = find_provider(settings.web_search)
        provider.prepare()
    except RetrievalError as error:
        raise InputError(str(error)) from error
    return WebSearch(
        provider,
        sites=settings.web_sites.split(),
        limit_s=limit_s or LIMIT_S,
        cache=PageCache(cache_folder() / "web" / "pages.sqlite"),
    )


def search(
    bench: Workbench,
    query: str,
    k: int,
    *,
    variables: Sequence[Variable] = (),
    tries: Sequence[Candidate] = (),
) -> Answer:
    """The APIs for a query, at most k from each source; blocks.

    The values of ``variables`` and the output of ``tries`` are not sent to the web. Raises
    RetrievalError if nothing can be searched.
    """
    from exploracoder_retrieval.apisearch.api_search import ApiSearch

    if bench.libraries.web is None:
        bench.libraries.web = open_web(bench.settings)
    guard = None if bench.libraries.web is None else _guard(bench, variables, tries)
    api_search = ApiSearch(
        bench.libraries.index, bench.libraries.names, web=bench.libraries.web, guard=guard
    )
    return api_search.search(query, k)


def _guard(
    bench: Workbench, variables: Sequence[Variable], candidates: Sequence[Candidate]
) -> Guard:
    """A guard that keeps the user's values and names local; words of the docs may be sent."""
    from exploracoder_retrieval.apisearch.query_guard import Guard

    task = bench.exploration.task
    codes = (task.context, task.check, task.stub)
    values = [value for code in codes for value in _literals(code)]
    values += [one.preview for one in variables]
    all_candidates = [link.candidate for link in bench.exploration.trace] + list(candidates)
    values += [_shown(one) for one in all_candidates]
    public = (f"{doc.path} {doc.signature} {doc.summary}" for doc in bench.libraries.known.docs)
    names = _COMPOUND.findall("\n".join(codes))
    return Guard(values, names=names, public=(bench.libraries.words, *public))


def _literals(code: str) -> Iterator[str]:
    """What is quoted in code, also in comments, and its numbers; docstrings of several lines are
    no data.
    """
    yield from (match[0] for match in _LITERAL.finditer(code))
    nodes = list(ast.walk(syntax.parsed(code) or syntax.tree(without_magics(code))))
    docstrings = {ast.get_docstring(node) for node in nodes if isinstance(node, syntax.FUNCTIONS)}
    for node in nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str | bytes):
            text = str(node.value)
            if inspect.cleandoc(text) not in docstrings:
                yield text


# Strings and numbers, and names of several words: those of one word are often plain English.
_LITERAL = re.compile(r"'[^'\n]*'|\"[^\"\n]*\"|\b\d[\d.]*")
_COMPOUND = re.compile(r"\b[A-Za-z]+(?:_\w+|[a-z\d][A-Z]\w*|\d\w*)")


def _shown(candidate: Candidate) -> str:
    """The words that a candidate printed, without those in its code, which are labels."""
    observation = candidate.observation
    if observation is None:
        return ""
    error = observation.error.evalue if observation.error else ""
    output_words = words(f"{observation.stdout} {observation.result or ''} {error}")
    return " ".join(set(output_words) - set(words(candidate.code)))


def in_words(bench: Workbench, answer: Answer) -> str:
    """An answer as text for the model: docs where they exist, else names with their web pages."""
    docs = [api.doc for api in answer.apis if api.doc is not None]
    others = [api for api in answer.apis if api.doc is None]
    parts = [describe_apis(docs, bench.settings.doc_chars)] if docs else []
    if others:
        parts.append("Named on the web, and not in the documentation:")
        parts += [f"- {api.name} ({api.urls[0]})" for api in others]
    return "\n".join([*parts, *answer.notes]) or "Nothing was found."
