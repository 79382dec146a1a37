"""A search engine on loopback that answers in both forms: DuckDuckGo's page, SearXNG's JSON."""

from __future__ import annotations

import html
import json
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any
from urllib.parse import parse_qs, urlsplit

Result = tuple[str, str, str]  # title, address, words


@dataclass
class Answers:
    """What the engine answers next; ``held`` keeps it from answering until it is set."""

    results: Sequence[Result] = ()
    status: int = 200
    raw: bytes | None = None
    held: threading.Event | None = None
    drip: bool = False
    asked: list[str] = field(default_factory=list)
    headers: list[str] = field(default_factory=list)


class SearchEngine:
    """Use it as a context manager; every query that reached it is in ``answers.asked``."""

    def __init__(self, answers: Answers) -> None:
        self.answers = answers
        self._httpd = _Listener(("127.0.0.1", 0), _Handler)
        self._httpd.answers = answers
        self._thread = threading.Thread(
            target=self._httpd.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True
        )

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._httpd.server_address[1]}"

    def __enter__(self) -> SearchEngine:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self.answers.held is not None:
            self.answers.held.set()
        self._httpd.shutdown()
        self._httpd.server_close()
        self._thread.join()


class _Listener(ThreadingHTTPServer):
    answers: Answers
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Clients that hang up are part of the tests."""


class _Handler(BaseHTTPRequestHandler):
    server: _Listener

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing is printed."""

    def do_GET(self) -> None:
        query = parse_qs(urlsplit(self.path).query)
        rows = [{"title": t, "url": u, "content": c} for t, u, c in self.server.answers.results]
        self._answer(query["q"][0], json.dumps({"results": rows}).encode())

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        rows = "".join(
            f'<div class="result__body"><h2>{html.escape(t)}</h2>'
            f'<a href="{html.escape(u)}">{html.escape(c)}</a></div>'
            for t, u, c in self.server.answers.results
        )
        self._answer(parse_qs(body)["q"][0], f"<html><body>{rows}</body></html>".encode())

    def _answer(self, query: str, body: bytes) -> None:
        answers = self.server.answers
        answers.asked.append(query)
        answers.headers.append(str(self.headers))
        if answers.held is not None:
            answers.held.wait(20)
        body = body if answers.raw is None else answers.raw
        self.send_response(answers.status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
