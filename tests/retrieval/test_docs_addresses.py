"""Where a page may send whoever fetches it: each address is judged before it is connected to."""

from __future__ import annotations

import gzip
import socket
import ssl
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest
from exploracoder_retrieval.errors import DocsUnavailable
from exploracoder_retrieval.harvest.docs.addresses import is_public
from exploracoder_retrieval.harvest.docs.fetch import FetchLimits, fetch
from http_answers import Answer, Site, redirecting, running, saying


@pytest.fixture
def serve() -> Iterator[Callable[[Answer], Site]]:
    with ExitStack() as stack:

        def start(answer: Answer) -> Site:
            site = Site(answer)
            stack.enter_context(running(site))
            return site

        yield start


def page_of(site: Site) -> str:
    return f"http://127.0.0.1:{site.port}/tea.md"


@pytest.fixture
def connected(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """The addresses that this process connects to."""
    addresses: list[object] = []
    connect = socket.socket.connect

    def record(self: socket.socket, address: object) -> None:
        addresses.append(address)
        connect(self, address)  # type: ignore[arg-type]

    monkeypatch.setattr(socket.socket, "connect", record)
    return addresses


@pytest.mark.parametrize(
    "away",
    [
        "http://169.254.169.254/latest/meta-data/",
        "http://10.1.2.3/",
        "http://192.168.0.1/x",
        "http://[::1]:9/",
        "http://[::ffff:10.0.0.1]/",
        "http://[64:ff9b::10.0.0.1]/",
        "http://[fe80::1]/",
        "http://0.0.0.0/",
        "http://127.1/",
        "http://2130706433/",
        "http://localhost/",
        "http://100.64.0.1/",
    ],
)
def test_a_redirect_to_what_is_private_is_refused_before_anything_is_connected_to(
    away: str, serve: Callable[[Answer], Site], connected: list[object], tmp_path: Path
) -> None:
    site = serve(redirecting(away))

    with pytest.raises(DocsUnavailable, match=r"is not fetched: .* name it"):
        fetch(page_of(site), tmp_path)

    assert set(connected) == {("127.0.0.1", site.port)}


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_a_named_server_of_this_machine_does_not_lead_to_another_one(
    host: str, serve: Callable[[Answer], Site], tmp_path: Path
) -> None:
    inner = serve(saying(b"secret"))
    outer = serve(redirecting(f"http://{host}:{inner.port}/tea.md"))

    with pytest.raises(DocsUnavailable, match="is not fetched"):
        fetch(page_of(outer), tmp_path)

    assert inner.asked == []


def test_a_redirect_on_the_named_host_and_port_is_followed(
    serve: Callable[[Answer], Site], tmp_path: Path
) -> None:
    def answer(request: BaseHTTPRequestHandler) -> None:
        (saying(b"# Tea") if request.path == "/new.md" else redirecting("/new.md"))(request)

    site = serve(answer)

    fetch(page_of(site), tmp_path)

    assert site.asked == ["/tea.md", "/new.md"]
    assert (tmp_path / "0000.md").read_bytes() == b"# Tea"


def test_a_name_that_means_another_machine_later_is_judged_anew(
    serve: Callable[[Answer], Site], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = serve(redirecting("/new.md"))
    answers = iter(["127.0.0.1", "127.0.0.2"])
    real = socket.getaddrinfo

    def rebound(host: str, port: int, *rest: object, **more: object) -> object:
        return real(next(answers), port, *rest, **more)  # type: ignore[call-overload]

    monkeypatch.setattr(socket, "getaddrinfo", rebound)

    with pytest.raises(DocsUnavailable, match=r"is not fetched: .* 127\.0\.0\.2"):
        fetch(f"http://tea.example:{site.port}/tea.md", tmp_path)


def test_one_deadline_holds_for_all_redirects_together(
    serve: Callable[[Answer], Site], tmp_path: Path
) -> None:
    def answer(request: BaseHTTPRequestHandler) -> None:
        time.sleep(0.4)
        redirecting(f"/{len(site.asked)}.md")(request)

    site = serve(answer)

    with pytest.raises(DocsUnavailable, match="took longer than 1 s"):
        fetch(page_of(site), tmp_path, FetchLimits(seconds=1.0))

    assert len(site.asked) <= 3


def test_an_answer_that_comes_drop_by_drop_ends_with_the_deadline(
    serve: Callable[[Answer], Site], tmp_path: Path
) -> None:
    end_event = threading.Event()

    def answer(request: BaseHTTPRequestHandler) -> None:
        request.wfile.write(b"HTTP/1.1 200 OK\r\nX: ")
        while not end_event.wait(0.05):
            request.wfile.write(b"x")

    site = serve(answer)

    with pytest.raises(DocsUnavailable, match="took longer than 1 s"):
        fetch(page_of(site), tmp_path, FetchLimits(seconds=1.0))
    end_event.set()


def test_what_is_packed_is_read_and_has_the_same_bounds(
    serve: Callable[[Answer], Site], tmp_path: Path
) -> None:
    small = serve(saying(gzip.compress(b"# Tea"), Content_Encoding="gzip"))
    bomb = serve(saying(gzip.compress(b"\0" * 50_000_000), Content_Encoding="gzip"))
    odd = serve(saying(b"x", Content_Encoding="br"))
    garbage = serve(saying(b"no gzip", Content_Encoding="gzip"))

    fetch(page_of(small), tmp_path)

    assert (tmp_path / "0000.md").read_bytes() == b"# Tea"
    for site, message in [(bomb, "too much"), (odd, "packed as 'br'"), (garbage, "damaged")]:
        with pytest.raises(DocsUnavailable, match=message):
            fetch(page_of(site), tmp_path, FetchLimits(file_bytes=1_000_000))


@pytest.mark.parametrize(
    "proxy",
    ["socks5://127.0.0.1:9", "socks://127.0.0.1:9", "http://x:y", "q://me:s3cret@127.0.0.1:9"],
)
@pytest.mark.parametrize("variable", ["HTTPS_PROXY", "ALL_PROXY"])
def test_a_proxy_that_cannot_be_used_is_named(
    variable: str, proxy: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "socksio", None)
    monkeypatch.setenv(variable, proxy)

    with pytest.raises(DocsUnavailable, match="ALL_PROXY names cannot be used") as failure:
        fetch("https://tea.example/tea.md", tmp_path)

    assert "s3cret" not in str(failure.value)


def test_a_proxy_may_be_named_without_a_scheme(
    serve: Callable[[Answer], Site], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    proxy = serve(saying(b"# Tea"))
    monkeypatch.setenv("HTTP_PROXY", f"me:s3cret@127.0.0.1:{proxy.port}")

    fetch("http://tea.example/tea.md", tmp_path)

    assert (tmp_path / "0000.md").read_bytes() == b"# Tea"


def test_this_machines_own_authorities_are_trusted(
    serve: Callable[[Answer], Site], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)
    certificate, key = tmp_path / "certificate.pem", tmp_path / "key.pem"
    command = "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost -addext"
    words = [*command.split(), "subjectAltName=DNS:localhost", "-keyout", key, "-out", certificate]
    subprocess.run(words, check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    site = serve(saying(b"# Tea"))
    site.socket = context.wrap_socket(site.socket, server_side=True)
    url = f"https://localhost:{site.port}/tea.md"
    with pytest.raises(DocsUnavailable, match="CERTIFICATE_VERIFY_FAILED"):
        fetch(url, tmp_path)
    own_defaults = ssl.create_default_context

    def with_own(**options: Any) -> ssl.SSLContext:
        defaults = own_defaults(**options)
        if not options:  # those of the machine, and not of a file
            defaults.load_verify_locations(certificate)
        return defaults

    monkeypatch.setattr(ssl, "create_default_context", with_own)

    fetch(url, tmp_path)

    assert (tmp_path / "0000.md").read_bytes() == b"# Tea"


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("93.184.216.34", True),
        ("2606:2800:220:1::1", True),
        ("64:ff9b::93.184.216.34", True),
        ("224.0.0.1", False),
        ("240.0.0.1", False),
        ("2002:7f00:1::", False),
        ("fe80::1%eth0", False),
        ("::", False),
    ],
)
def test_an_address_is_public_however_it_is_written(address: str, expected: bool) -> None:
    assert is_public(address) is expected
