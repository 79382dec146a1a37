"""Web search within a time limit, restricted to given sites, with earlier results cached."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import TimeoutError as FutureTimeoutError
from dataclasses import dataclass

from exploracoder_retrieval.apisearch.page_cache import PageCache
from exploracoder_retrieval.apisearch.providers import Provider
from exploracoder_retrieval.apisearch.query_guard import Guard
from exploracoder_retrieval.apisearch.slots import Slots
from exploracoder_retrieval.apisearch.web_page import LIMIT_S, SITES, Page, allowed, restricted
from exploracoder_retrieval.errors import QueryRefused, WebSearchError

# A request that nobody waits for any longer still finishes, and its result is cached.
_REQUEST_LIMIT_S = 10.0
_REQUESTS = 2


@dataclass(frozen=True, slots=True)
class WebResult:
    """Pages, and a sentence on what went wrong, if anything did."""

    pages: tuple[Page, ...] = ()
    note: str = ""


class WebSearch:
    """Queries a search engine, within a time limit, and never with what a guard refuses.

    A slow request continues in the background, at most two at a time and for at most ten seconds,
    and its result is cached, so that the same query is answered a moment later.

    Source: ToolCoder, section 3.1 (search engine, sites, delay within 0.6 s).
    """

    def __init__(
        self,
        provider: Provider,
        *,
        sites: Sequence[str] = SITES,
        limit_s: float = LIMIT_S,
        cache: PageCache | None = None,
    ) -> None:
        self._provider = provider
        self._sites = tuple(sites)
        self._limit_s = limit_s
        self._cache = cache
        self._slots = Slots(_REQUESTS)

    def search(self, query: str, guard: Guard) -> WebResult:
        """The pages for a query, within the time limit. A failure is reported in the note."""
        try:
            query = guard.check(query)
        except QueryRefused as refusal:
            return WebResult(note=str(refusal))
        key = PageCache.key(self._provider.name, self._sites, query)
        pages = self._cache.get(key) if self._cache else None
        if pages is not None:
            return WebResult(pages)
        try:
            self._provider.prepare()
            return self._asked(query, key)
        except WebSearchError as error:
            return WebResult(note=str(error))

    def _asked(self, query: str, key: str) -> WebResult:
        going_on = self._slots.start(lambda: self._request(query, key))
        if going_on is None:
            return WebResult(note="Earlier web searches are still going on; ask again later.")
        try:
            return WebResult(going_on.result(self._limit_s))
        except FutureTimeoutError:
            return WebResult(
                note=f"The web did not answer within {self._limit_s:g} s; ask again later."
            )

    def _request(self, query: str, key: str) -> tuple[Page, ...]:
        results = self._provider.search(restricted(query, self._sites), _REQUEST_LIMIT_S)
        pages = allowed(results, self._sites)
        if self._cache is not None and pages:
            self._cache.put(key, pages)
        return pages
