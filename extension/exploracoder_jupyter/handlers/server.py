"""What the server has: its status, libraries and their docs."""

from __future__ import annotations

import asyncio

from jupyter_server.auth.decorator import authorized
from tornado.web import authenticated

from exploracoder_jupyter.handlers.base import Handler, answered, only_reads, runs_code

_MOST_QUERY_CHARS = 2_000


class StatusHandler(Handler):
    """``GET status``."""

    # Tabs ask again and again: that is no activity that keeps a server alive.
    _track_activity = False

    @authenticated
    @authorized
    @answered
    async def get(self) -> None:
        """Model, sandbox, and settings."""
        host = await self.host()
        from exploracoder_jupyter.status import status

        self.answer(await status(host))


class LibrariesHandler(Handler):
    """``GET libraries`` and ``POST libraries``."""

    @authenticated
    @authorized
    @answered
    async def get(self) -> None:
        """What a kernel's Python has installed."""
        host = await self.host()
        from exploracoder_jupyter.status import libraries

        self.answer(await libraries(host, self.get_query_argument("kernel_name", None)))

    @authenticated
    @runs_code
    @answered
    async def post(self) -> None:
        """Read a library into the index."""
        host = await self.host()
        from exploracoder_jupyter.protocol import IndexRequest
        from exploracoder_jupyter.status import index_library

        self.answer(await index_library(host, self.read_body(IndexRequest)))


class SearchHandler(Handler):
    """``GET search``."""

    @authenticated
    @authorized
    @answered
    async def get(self) -> None:
        """ApiDocs of indexed libraries."""
        host = await self.host()
        from exploracoder_jupyter.status import search

        query = self.get_query_argument("query", "")[:_MOST_QUERY_CHARS]
        names = [name for name in self.get_query_argument("libraries", "").split(",") if name]
        k = self.number("k", 10, least=1, most=100)
        self.answer(await search(host, query, names, k))


class DocsHandler(Handler):
    """``POST docs``."""

    @authenticated
    @only_reads
    @answered
    async def post(self) -> None:
        """Take the docs of an API apart."""
        from exploracoder_retrieval.docpage import doc_page

        from exploracoder_jupyter.protocol import DocRequest

        asked = self.read_body(DocRequest)
        self.answer(await asyncio.to_thread(doc_page, asked.name, asked.doc))


class LookupsHandler(Handler):
    """``POST lookups``."""

    @authenticated
    @runs_code
    @answered
    async def post(self) -> None:
        """Look something up in the source of libraries."""
        host = await self.host()
        from exploracoder_jupyter.protocol import LibraryLookup
        from exploracoder_jupyter.status import look_up

        self.answer(await look_up(host, self.read_body(LibraryLookup)))


class SuggestionsHandler(Handler):
    """``POST suggestions``."""

    @authenticated
    @only_reads
    @answered
    async def post(self) -> None:
        """What a task takes with it from a notebook."""
        host = await self.host()
        from exploracoder_jupyter.protocol import SuggestionRequest
        from exploracoder_jupyter.status import suggestions

        self.answer(await suggestions(host, self.read_body(SuggestionRequest)))


class UnknownHandler(Handler):
    """Any other path of ours."""

    @authenticated
    async def get(self, *_: str) -> None:
        """There is nothing."""
        self.refuse(404, "There is nothing at this path.")

    post = put = patch = delete = get
