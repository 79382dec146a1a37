"""A model hub for tests: a real HTTP server that has one file."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from http_answers import running


class FileServer(ThreadingHTTPServer):
    """A hub with one file; `stop_after` cuts each answer short, and `status` refuses.

    With a `block`, so many bytes are sent each time that `goes_on` is released.
    """

    daemon_threads = True

    def __init__(
        self, content: bytes, *, ranges: bool = True, stop_after: int = 1 << 30, block: int = 0
    ) -> None:
        super().__init__(("127.0.0.1", 0), _FileHandler)
        self.content, self.ranges, self.stop_after = content, ranges, stop_after
        self.block, self.goes_on = block, threading.Semaphore(0)
        self.asked: list[tuple[str, str]] = []
        self.status = 200

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that was told to end is no error."""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class _FileHandler(BaseHTTPRequestHandler):
    server: FileServer

    def log_message(self, format: str, *args: Any) -> None:
        pass

    def do_GET(self) -> None:
        byte_range = self.headers.get("Range", "")
        self.server.asked.append((self.path, byte_range))
        start = int(byte_range.removeprefix("bytes=").rstrip("-")) if self.server.ranges else 0
        body = self.server.content[start:]
        status = self.server.status
        self.send_response(206 if self.server.ranges and status == 200 else status)
        self.send_header("Content-Length", str(len(body)))
        if self.server.ranges:
            size = len(self.server.content)
            self.send_header("Content-Range", f"bytes {start}-{size - 1}/{size}")
        self.end_headers()
        body = body[: self.server.stop_after]
        block = self.server.block or len(body) or 1
        for start in range(0, len(body), block):
            if self.server.block:
                self.server.goes_on.acquire(timeout=20)
            self.wfile.write(body[start : start + block])


@contextmanager
def hub_with(
    monkeypatch: pytest.MonkeyPatch, content: bytes, **options: Any
) -> Iterator[FileServer]:
    server = FileServer(content, **options)
    with running(server):
        monkeypatch.setenv("HF_ENDPOINT", server.url)
        monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
        yield server
