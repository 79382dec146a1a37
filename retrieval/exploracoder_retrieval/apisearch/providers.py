"""Search engines: DuckDuckGo, or a SearXNG server at a given address."""

from __future__ import annotations

import importlib
import json
import re
import time
from collections.abc import Sequence
from typing import Any, Protocol
from urllib.parse import unquote, urlsplit

from exploracoder_retrieval.apisearch.web_page import Page
from exploracoder_retrieval.errors import WebSearchError
from exploracoder_retrieval.web_access import is_loopback

DUCKDUCKGO = "duckduckgo"
_MAX_BYTES = 2_000_000
_LEADS_ON = re.compile(r"(?:https?:)?//duckduckgo\.com/l/\?uddg=(?P<target>.*?)(?:&rut=.*)?\Z")


class Provider(Protocol):
    """A search engine."""

    @property
    def name(self) -> str:
        """Which engine this is; cache entries are bound to it."""

    def prepare(self) -> None:
        """Do slow imports before any clock starts. Raises WebSearchError."""

    def search(self, query: str, timeout_s: float) -> Sequence[Page]:
        """The pages that the engine finds, best first. Raises WebSearchError."""


class DuckDuckGo:
    """DuckDuckGo's no-JavaScript page, requested and parsed by the ddgs package.

    Only this one engine of the package is used: its own search queries several at once and waits
    for all of them. ``url`` is another address that answers in the same format.
    """

    def __init__(self, url: str | None = None) -> None:
        self.name = url or DUCKDUCKGO
        self._url = url

    def prepare(self) -> None:
        try:
            importlib.import_module("ddgs.engines.duckduckgo")
        except ImportError:
            raise WebSearchError(
                "Web search needs the package ddgs. Run: pip install 'exploracoder[web]'"
            ) from None

    def search(self, query: str, timeout_s: float) -> Sequence[Page]:
        from ddgs.engines.duckduckgo import Duckduckgo
        from ddgs.exceptions import DDGSException

        # The client accepts fractional seconds, although it is annotated with int.
        engine: Any = Duckduckgo(timeout=timeout_s)  # type: ignore[arg-type]
        if self._url is not None:
            engine.search_url = self._url
        try:
            results = engine.search(query)
        except DDGSException as error:
            # The message may repeat the request, so only the kind of failure is reported.
            raise _unreachable("DuckDuckGo", type(error).__name__) from None
        except (ValueError, TypeError, LookupError) as error:  # not a page of results
            raise _unreadable("DuckDuckGo", type(error).__name__) from None
        if results is None:
            raise WebSearchError("DuckDuckGo refused the search. It limits how often one may ask.")
        return [Page(title=one.title, url=_target(one.href), text=one.body) for one in results]


class SearxNG:
    """A SearXNG server that returns its results as JSON: many teams run their own.

    Source: docs.searxng.org, "Search API"; the server's ``search.formats`` must list ``json``.
    """

    def __init__(self, url: str) -> None:
        """Set the server's address.

        Raises:
            WebSearchError: it is not an address, or contains a password or key, which would be
                saved with the settings.
        """
        try:
            parts = urlsplit(url)
            is_address = parts.scheme in ("http", "https") and bool(parts.hostname)
        except ValueError:
            is_address = False
        if not is_address:
            raise WebSearchError(
                "Web search is 'off', 'duckduckgo', or the address of a SearXNG server such as"
                " http://127.0.0.1:8888."
            )
        if "@" in parts.netloc or parts.query:
            raise WebSearchError(
                "The address of a SearXNG server must hold no password or key: it is saved."
            )
        self.name = url.rstrip("/")

    def prepare(self) -> None:
        importlib.import_module("httpx")

    def search(self, query: str, timeout_s: float) -> Sequence[Page]:
        import httpx

        end = time.monotonic() + timeout_s
        try:
            with (
                httpx.Client(timeout=timeout_s, trust_env=not is_loopback(self.name)) as client,
                client.stream(
                    "GET", f"{self.name}/search", params={"q": query, "format": "json"}
                ) as reply,
            ):
                if reply.status_code != 200:
                    raise _unreadable(self.name, f"status {reply.status_code}")
                body = _bounded(reply.iter_bytes(), self.name, end)
        except httpx.HTTPError as error:
            raise _unreachable(self.name, type(error).__name__) from None
        return _read(body, self.name)


def find_provider(setting: str) -> Provider:
    """The engine that a setting names: ``duckduckgo``, or a SearXNG server's address.

    Raises:
        WebSearchError: it names neither.
    """
    return DuckDuckGo() if setting == DUCKDUCKGO else SearxNG(setting)


def _target(url: str) -> str:
    """The address a result leads to: DuckDuckGo wraps some in a redirect of its own."""
    match = _LEADS_ON.match(url)
    return unquote(match["target"]) if match else url


def _bounded(pieces: Any, server: str, end: float) -> bytes:
    """The reply's bytes, bounded in size and, however slowly they trickle in, in time."""
    body = b""
    for piece in pieces:
        body += piece
        if len(body) > _MAX_BYTES:
            raise _unreadable(server, f"more than {_MAX_BYTES:,} bytes")
        if time.monotonic() > end:
            raise _unreachable(server, "too slow")
    return body


def _read(body: bytes, server: str) -> list[Page]:
    try:
        rows = json.loads(body)["results"]
        return [
            Page(
                title=str(row.get("title") or ""),
                url=str(row["url"]),
                text=str(row.get("content") or ""),
            )
            for row in rows
        ]
    except (ValueError, LookupError, TypeError, AttributeError):
        raise _unreadable(server, "not its JSON") from None


def _unreachable(server: str, why: str) -> WebSearchError:
    return WebSearchError(f"{server} cannot be asked ({why}). Is the network there?")


def _unreadable(server: str, why: str) -> WebSearchError:
    return WebSearchError(f"{server} answered something else than results ({why}).")
