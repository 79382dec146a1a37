"""Documentation on the web: fetched when it is given, within bounds, from a server on loopback."""

from __future__ import annotations

import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest
from exploracoder_retrieval.errors import DocsUnavailable
from exploracoder_retrieval.given_docs import GivenDocs
from exploracoder_retrieval.harvest.docs import fetch as docs_fetch
from exploracoder_retrieval.harvest.docs.fetch import FetchLimits, fetch
from exploracoder_retrieval.harvest.reader import read
from exploracoder_retrieval.harvest.target import find_target
from exploracoder_retrieval.library_python import Interpreter
from http_answers import Answer, Site, files_of, redirecting, running, saying

from .conftest import by_path
from .sphinx_site import API_PAGE, inventory


@pytest.fixture
def serve(folder: Path) -> Iterator[str]:
    """The folder as a site that sends whoever asks for something in ``away`` elsewhere."""

    def answer(handler: BaseHTTPRequestHandler) -> None:
        is_away = handler.path.startswith("/away/")
        elsewhere = redirecting("http://127.0.0.1:9/elsewhere.html")
        (elsewhere if is_away else files_of(folder))(handler)

    with running(Site(answer)) as url:
        yield f"{url}/"


def test_a_site_is_fetched_when_it_is_given_and_read_without_it_afterwards(
    folder: Path, serve: str, interpreter: Interpreter, tmp_path: Path
) -> None:
    (folder / "objects.inv").write_bytes(inventory())
    (folder / "api.html").write_text(API_PAGE)
    given_docs = GivenDocs(tmp_path / "index")
    steps: list[tuple[str, int, int]] = []

    def tell(stage: str, done: int, total: int, /) -> None:
        steps.append((stage, done, total))

    given_docs.give("brew", [serve], stands_alone=True, progress=tell)
    for file in folder.iterdir():
        file.unlink()
    result = read(find_target("brew", interpreter, given_docs), interpreter)

    docs = by_path(result)
    assert docs["brew.steep"].signature == "steep(leaves, minutes=3)"
    assert docs["brew.steep"].url == f"{serve}api.html#brew.steep"
    assert docs["brew.steep"].file is None
    assert docs["brew.Pot"].mentions[0].url == f"{serve}api.html#guide"
    assert docs["brew.LIMIT"].url == f"{serve}missing.html#brew.LIMIT"
    assert steps == [("fetch", 1, 2), ("fetch", 2, 2)]


def test_a_single_file_is_fetched(
    folder: Path, serve: str, interpreter: Interpreter, tmp_path: Path
) -> None:
    (folder / "tea.jsonl").write_text('{"path": "tea.steep"}')
    given_docs = GivenDocs(tmp_path / "index")

    given_docs.give("tea", [f"{serve}tea.jsonl"], stands_alone=True)

    (doc,) = read(find_target("tea", interpreter, given_docs), interpreter).docs
    assert doc.url == f"{serve}tea.jsonl"


@pytest.mark.parametrize(
    ("path", "limits", "message"),
    [
        ("nothing.md", FetchLimits(), r"nothing\.md answers 404"),
        ("away/objects.inv", FetchLimits(), r"elsewhere\.html is not fetched: 127\.0\.0\.1 is"),
        ("large.md", FetchLimits(file_bytes=1_000), "is too much"),
        ("large.md", FetchLimits(all_bytes=1_000), "is too much"),
        ("large.md", FetchLimits(seconds=0.0), "took longer than 0 s"),
        ("bad/objects.inv", FetchLimits(), "cannot be used"),
    ],
)
def test_what_cannot_be_fetched_is_said_and_what_was_given_before_stays(
    path: str, limits: FetchLimits, message: str, folder: Path, serve: str, tmp_path: Path
) -> None:
    (folder / "large.md").write_text("tea " * 1_000)
    (folder / "bad").mkdir()
    (folder / "bad" / "objects.inv").write_text("no inventory")
    given_docs = GivenDocs(tmp_path / "index")
    given_docs.give("brew", [str(folder)], stands_alone=True)
    before = given_docs.find("brew")

    with pytest.raises(DocsUnavailable, match=message):
        given_docs.give("brew", [serve + path], stands_alone=True, limits=limits)

    assert given_docs.find("brew") == before
    assert [each.name for each in (tmp_path / "index" / "given" / "brew").iterdir()] == [
        "given.json"
    ]


@pytest.mark.parametrize(
    "url",
    ["file:///etc/passwd", "ftp://127.0.0.1/x", "http:///x", "http://me:secret@127.0.0.1/x"],
)
def test_only_the_open_web_is_fetched(url: str, tmp_path: Path) -> None:
    with pytest.raises(DocsUnavailable) as excinfo:
        fetch(url, tmp_path)

    assert "secret" not in str(excinfo.value)


def test_pages_outside_of_the_site_are_not_asked_for(
    folder: Path, serve: str, tmp_path: Path
) -> None:
    pages = ["../up.html", "http://127.0.0.1:9/x.html", "away/x.html"]
    names = {f"brew.f{number}": ("function", page) for number, page in enumerate(pages)}
    (folder / "inner").mkdir()
    (folder / "up.html").write_text("outside")
    (folder / "inner" / "objects.inv").write_bytes(inventory(names))
    copy = tmp_path / "copy"
    copy.mkdir()

    fetch(f"{serve}inner/", copy)

    assert sorted(each.name for each in copy.iterdir()) == ["0000.inv", "addresses.json"]


@pytest.fixture
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(docs_fetch, "_PAUSES_S", (0.0, 0.0))


def break_off(handler: BaseHTTPRequestHandler) -> None:
    handler.close_connection = True


def wait(_handler: BaseHTTPRequestHandler) -> None:
    time.sleep(1.0)


BUSY = saying(b"", 503, Retry_After="0")


@pytest.mark.usefixtures("_impatient")
@pytest.mark.parametrize(
    ("answers", "requests", "is_left_out"),
    [
        ([saying(b"", 404)], 1, False),
        ([saying(b"", 410)], 1, False),
        ([saying(b"", 403)], 1, True),
        ([BUSY, saying(b"", 429), saying(API_PAGE.encode())], 3, False),
        ([break_off, saying(API_PAGE.encode())], 2, False),
        ([BUSY, break_off, BUSY], 3, True),
        ([break_off, BUSY, break_off], 3, True),
    ],
)
def test_a_page_that_a_site_may_have_is_asked_for_again_and_said_if_it_does_not_come(
    answers: list[Answer],
    requests: int,
    is_left_out: bool,
    folder: Path,
    interpreter: Interpreter,
    tmp_path: Path,
) -> None:
    (folder / "objects.inv").write_bytes(inventory())
    (folder / "missing.html").write_text("<p>Tea</p>")
    left = list(answers)

    def answer(handler: BaseHTTPRequestHandler) -> None:
        (left.pop(0) if handler.path == "/api.html" else files_of(folder))(handler)

    site, given_docs = Site(answer), GivenDocs(tmp_path / "index")
    with running(site) as url:
        given_docs.give("brew", [f"{url}/"], stands_alone=True)
    result = read(find_target("brew", interpreter, given_docs), interpreter)

    assert site.asked.count("/api.html") == requests
    assert [each.name for each in result.skipped] == ([f"{url}/"] if is_left_out else [])
    assert all("1 of its pages could not be fetched" in each.reason for each in result.skipped)


@pytest.mark.usefixtures("_impatient")
def test_a_site_whose_pages_all_fail_does_not_replace_what_was_given_before(
    folder: Path, tmp_path: Path
) -> None:
    (folder / "objects.inv").write_bytes(inventory())
    given_docs = GivenDocs(tmp_path / "index")
    given_docs.give("brew", [str(folder)], stands_alone=True)
    before = given_docs.find("brew")

    def answer(handler: BaseHTTPRequestHandler) -> None:
        (files_of(folder) if handler.path == "/objects.inv" else break_off)(handler)

    with running(Site(answer)) as url, pytest.raises(DocsUnavailable, match="No page of"):
        given_docs.give("brew", [f"{url}/"], stands_alone=True)
    assert given_docs.find("brew") == before


@pytest.mark.usefixtures("_impatient")
def test_a_site_that_no_longer_answers_is_given_up(folder: Path, tmp_path: Path) -> None:
    names = {f"brew.f{number}": ("function", f"{number}.html") for number in range(30)}
    (folder / "objects.inv").write_bytes(inventory(names))
    (folder / "0.html").write_text("<p>Tea</p>")

    def answer(handler: BaseHTTPRequestHandler) -> None:
        is_there = handler.path in ("/objects.inv", "/0.html")
        (files_of(folder) if is_there else break_off)(handler)

    site = Site(answer)
    with running(site) as url, pytest.raises(DocsUnavailable, match="cannot be fetched"):
        fetch(f"{url}/", tmp_path)
    assert len(set(site.asked)) == 13


@pytest.mark.usefixtures("_impatient")
def test_a_server_that_sends_nothing_is_not_asked_again(folder: Path, tmp_path: Path) -> None:
    (folder / "objects.inv").write_bytes(inventory())
    (folder / "missing.html").write_text("<p>Tea</p>")

    def answer(handler: BaseHTTPRequestHandler) -> None:
        is_slow = handler.path == "/api.html"
        (wait if is_slow else files_of(folder))(handler)

    site = Site(answer)
    with running(site) as url:
        fetch(f"{url}/", tmp_path, FetchLimits(answer_seconds=0.2))

    assert site.asked.count("/api.html") == 1


@pytest.mark.usefixtures("_impatient")
def test_a_busy_site_is_not_taken_for_a_single_page_unless_one_is_named(tmp_path: Path) -> None:
    def answer(handler: BaseHTTPRequestHandler) -> None:
        (BUSY if handler.path == "/objects.inv" else saying(b"<p>Tea</p>"))(handler)

    with running(Site(answer)) as url:
        with pytest.raises(DocsUnavailable, match="answers 503"):
            fetch(f"{url}/", tmp_path)
        fetch(f"{url}/tea.html", tmp_path)

    assert (tmp_path / "0000.html").read_bytes() == b"<p>Tea</p>"


def test_docs_that_are_not_there_are_said(tmp_path: Path) -> None:
    given_docs = GivenDocs(tmp_path / "index")

    with pytest.raises(DocsUnavailable, match="There are no docs at"):
        given_docs.give("brew", [str(tmp_path / "nowhere")], stands_alone=False)
    assert given_docs.find("brew") is None
