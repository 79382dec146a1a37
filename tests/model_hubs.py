"""A model hub for tests: a real HTTP server that has one file."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest


class FileServer(ThreadingHTTPServer):
    """A hub with one file; `stop_after` cuts each answer short, and `status` refuses."""

    def __init__(self, content: bytes, *, ranges: bool = True, stop_after: int = 1 << 30) -> None:
        super().__init__(("127.0.0.1", 0), _FileHandler)
        self.content, self.ranges, self.stop_after = content, ranges, stop_after
        self.asked: list[tuple[str, str]] = []
        self.status = 200

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
        self.wfile.write(body[: self.server.stop_after])


@contextmanager
def hub_with(
    monkeypatch: pytest.MonkeyPatch, content: bytes, **options: Any
) -> Iterator[FileServer]:
    with FileServer(content, **options) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        monkeypatch.setenv("HF_ENDPOINT", server.url)
        monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
        yield server
        server.shutdown()
        thread.join()
