"""An endpoint that answers with whatever bytes a scenario says, and the pieces of such answers."""

from __future__ import annotations

import gzip
import json
import socketserver
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

Answer = Callable[["Request"], Iterable[bytes]]


@dataclass(frozen=True, slots=True)
class Request:
    """What came in: ``key`` is what was sent as bearer token, ``number`` counts from 1."""

    path: str
    key: str
    number: int


@dataclass(slots=True)
class RawEndpoint:
    """Where it listens, and how often it was asked."""

    answer: Answer
    base_url: str = ""
    model: str = "scripted"
    requests: list[Request] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)


@contextmanager
def raw_endpoint(answer: Answer) -> Iterator[RawEndpoint]:
    """Serves one scenario: each connection is good for one request."""
    endpoint = RawEndpoint(answer)

    class Handler(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            words = self.rfile.readline().split()
            headers = dict(self._header_lines())
            self.rfile.read(int(headers.get("content-length", "0")))
            with endpoint.lock:
                key = headers.get("authorization", "").removeprefix("Bearer ")
                request = Request(words[1].decode(), key, len(endpoint.requests) + 1)
                endpoint.requests.append(request)
            try:
                for piece in endpoint.answer(request):
                    self.wfile.write(piece)
                    self.wfile.flush()
            except OSError:
                pass  # Nobody listens any more.

        def _header_lines(self) -> Iterator[tuple[str, str]]:
            while line := self.rfile.readline().strip():
                name, _, value = line.decode("latin-1").partition(":")
                yield name.lower(), value.strip()

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        endpoint.base_url = f"http://127.0.0.1:{server.server_address[1]}/v1"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield endpoint
        finally:
            server.shutdown()
            thread.join()


def response(
    body: bytes | str,
    *,
    status: str = "200 OK",
    kind: str | None = "application/json",
    headers: Mapping[str, str] | None = None,
    length: int | None = None,
) -> bytes:
    """A whole HTTP response."""
    data = body if isinstance(body, bytes) else body.encode("utf-8", "surrogatepass")
    lines = [f"HTTP/1.1 {status}", "Connection: close"]
    lines += [f"Content-Length: {len(data) if length is None else length}"]
    lines += [f"Content-Type: {kind}"] if kind else []
    lines += [f"{name}: {value}" for name, value in (headers or {}).items()]
    return "\r\n".join([*lines, "", ""]).encode() + data


def says(body: bytes | str, **options: Any) -> Answer:
    """Answers all requests with one response."""
    return lambda request: [response(body, **options)]


def completion(text: object, **fields: Any) -> dict[str, Any]:
    """A completion with one choice, whose message holds ``text``; ``fields`` go beside."""
    message = {"role": "assistant", "content": text}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    return {"model": "scripted", "choices": [choice], **fields}


def complete(text: object, **fields: Any) -> Answer:
    """Answers with a completion."""
    return says(json.dumps(completion(text, **fields)))


def with_choice(**fields: Any) -> Answer:
    """Answers with a completion whose one choice has these fields."""
    return says(json.dumps({"choices": [{"index": 0, "finish_reason": "stop", **fields}]}))


def bomb(size: int) -> bytes:
    """So many bytes of white space, and then nothing, packed."""
    return gzip.compress(b" " * size, 9)
