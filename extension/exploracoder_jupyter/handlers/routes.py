"""All our routes but the event stream: who may ask, and what answers.

To add a route, add a line to `TABLE`; nothing else lets a request in.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar

from exploracoder.commands import COMMAND
from exploracoder.errors import InputError
from exploracoder.texts import words_of
from exploracoder_retrieval.docpage import DocPage, doc_page
from pydantic import BaseModel
from tornado.web import HTTPError

from exploracoder_jupyter import exports, status
from exploracoder_jupyter.errors import UnknownError
from exploracoder_jupyter.handlers.access import READS, RUNS_CODE, SAVES, WRITES, Permissions
from exploracoder_jupyter.handlers.request_fields import MOST_NOTEBOOK_BYTES, RouteRequest
from exploracoder_jupyter.hosted_explorations import Host
from exploracoder_jupyter.protocol import (
    Accepted,
    DocRequest,
    EmbeddedModel,
    Explorations,
    IndexRequest,
    Libraries,
    LibraryLookup,
    Lookup,
    LookupAnswer,
    NewExploration,
    NotebookSave,
    OpenExploration,
    OpenRequest,
    SavedNotebook,
    SearchResults,
    SuggestionRequest,
)

Answer = BaseModel | exports.Download | None
BodyT = TypeVar("BodyT")

_ONE = "explorations/ID"
_ID = "([0-9a-f]{32})"
_MOST_REVISION = 10**15 - 1
_MOST_QUERY_CHARS = 2_000


@dataclass(frozen=True, slots=True)
class Route:
    """A method and a path, in which ``ID`` stands for an exploration's id.

    Routes that tabs poll have ``is_activity`` off, so that polling does not keep a server alive.
    """

    method: str
    path: str
    permissions: Permissions
    answer: Callable[[RouteRequest], Awaitable[Answer] | Answer]
    status: int = 200
    is_activity: bool = True


def find(method: str, path: str) -> tuple[Route, str]:
    """Find the route of a request, and the id of the exploration that its path names.

    Raises UnknownError for an unknown path, HTTPError 405 for a method that it does not support.
    """
    matches = [
        (route, match)
        for route in TABLE
        if (match := re.fullmatch(route.path.replace("ID", _ID), path))
    ]
    for route, match in matches:
        if route.method == method:
            return route, "".join(match.groups())
    if matches:
        raise HTTPError(405)
    raise UnknownError("There is nothing at this path.")


async def _libraries(request: RouteRequest) -> Libraries:
    return await status.libraries(request.host, request.query.get("kernel_name"))


async def _search(request: RouteRequest) -> SearchResults:
    query = request.query.get("query", "")[:_MOST_QUERY_CHARS]
    names = [name for name in request.query.get("libraries", "").split(",") if name]
    return await status.search(
        request.host, query, names, request.number("k", 10, least=1, most=100)
    )


async def _pull(request: RouteRequest) -> EmbeddedModel:
    download = request.host.workshop.download
    download.start()
    return download.state()


async def _cancel_pull(request: RouteRequest) -> EmbeddedModel:
    download = request.host.workshop.download
    download.cancel()
    return download.state()


async def _explorations(request: RouteRequest) -> Explorations:
    return Explorations(explorations=await request.host.summaries())


async def _start(request: RouteRequest) -> OpenExploration:
    return (await request.host.create(request.body(NewExploration))).snapshot()


async def _open(request: RouteRequest) -> OpenExploration:
    hosted_exploration, was_resumed = await request.host.resume(request.body(OpenRequest))
    return hosted_exploration.snapshot(was_resumed=was_resumed)


async def _state(request: RouteRequest) -> OpenExploration:
    hosted_exploration = request.host.get(request.id)
    # A tab that was reloaded is told by an event if the notebook was moved.
    hosted_exploration.keeper.follow_soon()
    return hosted_exploration.snapshot()


async def _command(request: RouteRequest) -> Accepted:
    hosted_exploration = request.host.use(request.id)
    command = request.body(COMMAND)
    revision = request.number("revision", _MOST_REVISION, least=0, most=_MOST_REVISION)
    try:
        return Accepted(number=await hosted_exploration.do(command, revision))
    except InputError as error:
        raise UnknownError(words_of(error)) from error


async def _doc(http_request: RouteRequest) -> DocPage:
    request = http_request.body(DocRequest)
    return await asyncio.to_thread(doc_page, request.name, request.doc)


async def _lookups(request: RouteRequest) -> LookupAnswer:
    return await status.look_up_for(request.host, request.id, request.body(Lookup))


async def _save(request: RouteRequest) -> SavedNotebook:
    return await request.host.save_notebook(request.body(NotebookSave, MOST_NOTEBOOK_BYTES))


async def _export(request: RouteRequest) -> exports.Download:
    exploration = await request.host.state_of(request.id)
    return await exports.export(exploration, request.query.get("format", "py"))


def _sent(
    form: type[BodyT], answer: Callable[[Host, BodyT], Awaitable[Answer]]
) -> Callable[[RouteRequest], Awaitable[Answer]]:
    """Adapt a function that takes only the host and the body, parsed as ``form``."""
    return lambda request: answer(request.host, request.body(form))


TABLE = (
    Route("GET", "status", READS, lambda request: status.status(request.host), is_activity=False),
    Route("GET", "models", READS, lambda request: status.models(request.host)),
    Route(
        "GET",
        "models/pull",
        READS,
        lambda request: request.host.workshop.download.state(),
        is_activity=False,
    ),
    Route("POST", "models/pull", RUNS_CODE, _pull, status=202),
    Route("DELETE", "models/pull", RUNS_CODE, _cancel_pull),
    Route("GET", "libraries", READS, _libraries),
    Route("POST", "libraries", RUNS_CODE, _sent(IndexRequest, status.index_library)),
    Route("GET", "search", READS, _search),
    Route("POST", "docs", READS, _doc),
    Route("POST", "lookups", RUNS_CODE, _sent(LibraryLookup, status.look_up)),
    Route("POST", "suggestions", READS, _sent(SuggestionRequest, status.suggestions)),
    Route("PUT", "notebook", SAVES, _save),
    Route("GET", "explorations", READS, _explorations),
    Route("POST", "explorations", RUNS_CODE, _start, status=201),
    Route("POST", "explorations/open", RUNS_CODE, _open),
    Route("POST", "explorations/replay", RUNS_CODE, _sent(OpenRequest, Host.replay)),
    Route("GET", _ONE, READS, _state),
    Route("DELETE", _ONE, WRITES, lambda request: request.host.close(request.id), status=204),
    Route("POST", f"{_ONE}/command", RUNS_CODE, _command, status=202),
    Route("POST", f"{_ONE}/lookups", READS, _lookups),
    Route("GET", f"{_ONE}/export", READS, _export),
)
