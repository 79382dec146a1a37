"""Model servers of this machine: asked at once, within bounds, and never followed elsewhere."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from exploracoder.models.discovery import USUAL, find_servers, is_loopback
from exploracoder.testing import ScriptedModelServer

Answer = Callable[[BaseHTTPRequestHandler], None]


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that has heard enough is no error."""


@contextmanager
def serving(answer: Answer) -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        def log_message(self, format: str, *args: Any) -> None:
            pass

        def do_GET(self) -> None:
            answer(self)

    with _Server(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}/v1"
        server.shutdown()
        thread.join()


def saying(body: bytes, status: int = 200, **headers: str) -> Answer:
    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(status)
        for name, value in headers.items():
            handler.send_header(name, value)
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        handler.wfile.write(body)

    return answer


def listing(*names: str) -> bytes:
    return json.dumps({"object": "list", "data": [{"id": name} for name in names]}).encode()


def slow(handler: BaseHTTPRequestHandler) -> None:
    time.sleep(1)
    saying(listing("late"))(handler)


def test_the_usual_addresses_are_those_of_this_machine() -> None:
    assert set(USUAL) == {"Ollama", "LM Studio", "llama.cpp", "vLLM"}
    assert all(is_loopback(url) for url in USUAL.values())


async def test_servers_that_list_models_are_found_in_their_order() -> None:
    names = ("qwen3:8b", "nomic-embed-text", "qwen3:8b", "llama3")
    with (
        serving(saying(listing(*names))) as first,
        ScriptedModelServer("x") as second,
    ):
        places = {"A": first, "Nobody": "http://127.0.0.1:9/v1", "B": second.base_url}
        found = await find_servers(places)

    assert [(one.title, one.models) for one in found] == [
        ("A", ("qwen3:8b", "llama3")),
        ("B", ("scripted",)),
    ]
    assert found[1].base_url == second.base_url
    assert "authorization" not in second.requests[0].headers


@pytest.mark.parametrize(
    "answer",
    [
        saying(b"<html>another program</html>"),
        saying(b"[" * 100_000),
        saying(b'{"data": [{"id": 1}, {}]}'),
        saying(listing("m"), status=404),
        saying(b"\xff\xfe"),
        saying(listing("m" * 300, "a\nb", "")),
        saying(listing(*(f"model-{number}" for number in range(40_000)))),
    ],
    ids=["page", "deep", "other", "missing", "bytes", "names", "endless"],
)
async def test_what_is_no_list_of_models_is_nothing(answer: Answer) -> None:
    with serving(answer) as url:
        assert await find_servers({"X": url}) == ()


async def test_a_redirect_is_not_followed() -> None:
    with ScriptedModelServer("x") as other:
        elsewhere = saying(b"", status=302, Location=f"{other.base_url}/models")
        with serving(elsewhere) as url:
            found = await find_servers({"X": url})

        assert found == ()
        assert other.requests == []


async def test_all_are_asked_at_once_and_none_for_long() -> None:
    with serving(slow) as url:
        started = time.monotonic()
        found = await find_servers({str(number): url for number in range(8)}, timeout_s=0.3)

    assert found == ()
    assert time.monotonic() - started < 1


async def test_no_proxy_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    with ScriptedModelServer("x") as proxy, ScriptedModelServer("x") as server:
        monkeypatch.setenv("HTTP_PROXY", proxy.base_url.removesuffix("/v1"))
        monkeypatch.setenv("ALL_PROXY", proxy.base_url.removesuffix("/v1"))
        found = await find_servers({"X": server.base_url})

        assert len(found) == 1
        assert proxy.requests == []


@pytest.mark.parametrize(
    "url",
    [
        "http://192.168.0.1:11434/v1",
        "http://example.com/v1",
        "https://127.0.0.1:1234/v1",
        "http://127.0.0.1.example.com/v1",
        "http://user@10.0.0.1/v1",
        "file:///etc/passwd",
        "http://[::1",
        "",
    ],
)
async def test_only_loopback_is_asked(url: str) -> None:
    assert not is_loopback(url)
    assert await find_servers({"X": url}) == ()
