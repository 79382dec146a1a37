"""A server on loopback that answers as a test says."""

from __future__ import annotations

import mimetypes
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

Answer = Callable[[BaseHTTPRequestHandler], None]


class Site(ThreadingHTTPServer):
    """A server that remembers which paths it was asked for."""

    daemon_threads = True

    def __init__(self, answer: Answer) -> None:
        paths = self.asked = list[str]()

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, format: str, *args: Any) -> None:
                pass

            def do_GET(self) -> None:
                paths.append(self.path)
                answer(self)

            def do_POST(self) -> None:
                self.do_GET()

        super().__init__(("127.0.0.1", 0), Handler)

    @property
    def port(self) -> int:
        return int(self.server_address[1])

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that has heard enough is no error."""


@contextmanager
def running(server: ThreadingHTTPServer) -> Iterator[str]:
    """The address of a server, which runs meanwhile."""
    with server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
            thread.join()


@contextmanager
def serving(answer: Answer) -> Iterator[str]:
    with running(Site(answer)) as url:
        yield f"{url}/v1"


def saying(body: bytes, status: int = 200, **headers: str) -> Answer:
    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(status)
        for name, value in headers.items():
            handler.send_header(name.replace("_", "-"), value)
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        handler.wfile.write(body)

    return answer


def redirecting(url: str) -> Answer:
    return saying(b"", 302, Location=url)


def files_of(folder: Path) -> Answer:
    """What a web server says that has a folder's files."""

    def answer(handler: BaseHTTPRequestHandler) -> None:
        file = folder / handler.path.strip("/")
        if file.is_file():
            kind = mimetypes.guess_type(file.name)[0] or "application/octet-stream"
            saying(file.read_bytes(), Content_Type=kind)(handler)
        else:
            saying(b"There is no such file.", 404)(handler)

    return answer
