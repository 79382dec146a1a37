"""The single interface: documentation first, then the web if it is switched on."""

from __future__ import annotations

import time
from collections.abc import Sequence

from exploracoder_retrieval.apidoc import ApiDoc
from exploracoder_retrieval.apisearch.answer import Answer, FoundApi
from exploracoder_retrieval.apisearch.names_on_pages import NamedApi, pick_names
from exploracoder_retrieval.apisearch.query_guard import Guard
from exploracoder_retrieval.apisearch.web import WebSearch
from exploracoder_retrieval.errors import QueryRefused
from exploracoder_retrieval.index import Index

MAX_CHARS = 2_000


class ApiSearch:
    """``APISearch(query) → answer`` over the docs of libraries, the web, or both.

    Source: ToolCoder, section 3.1, equation 1; documentation for libraries that the web knows
    nothing about, the web for those that it knows.
    """

    def __init__(
        self,
        index: Index | None = None,
        libraries: Sequence[str] = (),
        *,
        web: WebSearch | None = None,
        guard: Guard | None = None,
    ) -> None:
        """Set what to search.

        Args:
            index: Where the libraries' docs are; None searches no docs.
            libraries: By distribution or import name.
            web: The web search; None keeps everything on this machine.
            guard: What must not be sent to the web.
        """
        self._index = index if libraries else None
        self._libraries = tuple(libraries)
        self._web = web
        self._guard = guard or Guard()

    def search(self, query: str, k: int = 10) -> Answer:
        """The APIs for a query, at most k from each source, those from the docs first.

        Raises:
            QueryRefused: the query is empty.
            LibraryNotFound: a library is not indexed.
            EmbeddingError, IndexUnavailable: the docs cannot be searched.
        """
        if not query.strip():
            raise QueryRefused("The query is empty. Say in a few words what the API should do.")
        start = time.perf_counter()
        notes = [] if len(query) <= MAX_CHARS else [f"Only the first {MAX_CHARS:,} were searched."]
        apis = self._documented(query[:MAX_CHARS], k)
        is_complete = True
        if self._web is not None:
            result = self._web.search(query, self._guard)
            notes += [result.note] if result.note else []
            is_complete = not result.note
            names = {api.name for api in apis}
            web_apis = (self._named(one) for one in pick_names(result.pages, k))
            apis += [api for api in web_apis if api.name not in names]
        return Answer(
            query=query,
            apis=tuple(apis),
            notes=tuple(notes),
            seconds=time.perf_counter() - start,
            is_complete=is_complete,
        )

    def _documented(self, query: str, k: int) -> list[FoundApi]:
        if self._index is None:
            return []
        hits = self._index.search(query, self._libraries, k)
        return [
            FoundApi(name=hit.doc.path, source="documentation", score=hit.score, doc=hit.doc)
            for hit in hits
        ]

    def _named(self, api: NamedApi) -> FoundApi:
        """An API named on the web, with its docs if the index has them."""
        doc = self._doc(api.name)
        return FoundApi(
            name=doc.path if doc else api.name,
            source="web",
            score=api.score,
            doc=doc,
            urls=tuple(api.urls),
        )

    def _doc(self, name: str) -> ApiDoc | None:
        doc = self._index.get(name) if self._index else None
        return doc if doc is not None and self._is_mine(doc) else None

    def _is_mine(self, doc: ApiDoc) -> bool:
        return any(
            library in (doc.library, doc.path.partition(".")[0]) for library in self._libraries
        )
