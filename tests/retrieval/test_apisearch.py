"""One search over docs and web: what it finds, how long it takes, and what it never sends."""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from exploracoder_retrieval.apidoc import ApiDoc
from exploracoder_retrieval.apisearch.api_search import ApiSearch
from exploracoder_retrieval.apisearch.names_on_pages import pick_names
from exploracoder_retrieval.apisearch.page_cache import PageCache
from exploracoder_retrieval.apisearch.providers import DuckDuckGo, Provider, SearxNG, find_provider
from exploracoder_retrieval.apisearch.query_guard import Guard
from exploracoder_retrieval.apisearch.web import WebSearch
from exploracoder_retrieval.apisearch.web_page import Page
from exploracoder_retrieval.embeddings import MiniLmEmbedder
from exploracoder_retrieval.errors import QueryRefused, WebSearchError
from exploracoder_retrieval.harvest.result import Harvest, LibraryInfo
from exploracoder_retrieval.index import Index

from tests.retrieval.search_engine import Answers, SearchEngine

FOUND = [
    ("Resampling", "https://pandas.pydata.org/a", "Call df.resample('M') or pd.Series.resample()."),
    ("Evil", "https://example.com/b", "Use evil.module.run() instead."),
    ("Monthly means", "https://stackoverflow.com/q/1", "pandas.DataFrame.resample, then mean()"),
]


@pytest.fixture
def answers() -> Answers:
    return Answers(results=FOUND)


@pytest.fixture
def engine(answers: Answers) -> Iterator[SearchEngine]:
    with SearchEngine(answers) as running:
        yield running


@pytest.fixture(params=["duckduckgo", "searxng"])
def provider(request: pytest.FixtureRequest, engine: SearchEngine) -> Provider:
    if request.param == "duckduckgo":
        return DuckDuckGo(f"{engine.url}/html/")
    return SearxNG(engine.url)


@pytest.fixture
def web(engine: SearchEngine, tmp_path: Path) -> WebSearch:
    return WebSearch(SearxNG(engine.url), limit_s=5, cache=PageCache(tmp_path / "web.sqlite"))


@pytest.fixture
def index(tmp_path: Path, embedder: MiniLmEmbedder) -> Iterator[Index]:
    summaries = {
        "pandas.DataFrame.resample": "Resample time series.",
        "pandas.concat": "Join frames.",
    }
    docs = tuple(
        ApiDoc(path=path, kind="function", library="pandas", summary=words)
        for path, words in summaries.items()
    )
    library = LibraryInfo(
        name="pandas",
        import_name="pandas",
        version="1",
        source="module",
        root="",
        overview="",
        examples=(),
    )
    with Index.open(tmp_path / "index", embedder) as fresh_index:
        fresh_index.update(Harvest(library=library, docs=docs, skipped=()))
        yield fresh_index


def test_an_engine_is_asked_for_pages_on_the_sites_and_others_are_dropped(
    provider: Provider, answers: Answers
) -> None:
    search = WebSearch(provider, sites=("pydata.org", "stackoverflow.com"), limit_s=5)

    result = search.search("resample a frame monthly", Guard())

    assert result.note == ""
    assert [page.host for page in result.pages] == ["pandas.pydata.org", "stackoverflow.com"]
    query = "resample a frame monthly (site:pydata.org OR site:stackoverflow.com)"
    assert answers.asked == [query]


def test_an_address_that_leads_on_is_taken_for_where_it_leads(
    engine: SearchEngine, answers: Answers
) -> None:
    redirect = "//duckduckgo.com/l/?uddg=https%3A%2F%2Fnumpy.org%2Fdiff%3Fa%3D1&rut=0f1e"
    answers.results = [("Diff", redirect, "numpy.diff")]

    result = WebSearch(DuckDuckGo(engine.url), limit_s=5).search("differences", Guard())

    assert [page.url for page in result.pages] == ["https://numpy.org/diff?a=1"]


def test_docs_come_first_and_what_only_the_web_names_comes_after(
    index: Index, web: WebSearch
) -> None:
    answer = ApiSearch(index, ["pandas"], web=web).search("resample monthly", 1)
    more = ApiSearch(None, web=web).search("resample monthly", 2)

    assert [(api.name, api.source) for api in answer.apis] == [
        ("pandas.DataFrame.resample", "documentation"),
        ("pandas.Series.resample", "web"),
    ]
    assert [api.name for api in more.apis] == [
        "pandas.Series.resample",
        "pandas.DataFrame.resample",
    ]
    assert more.apis[0].urls[0] == "https://pandas.pydata.org/a"
    assert answer.is_complete


def test_a_name_on_the_web_that_the_index_knows_brings_its_docs(
    index: Index, web: WebSearch
) -> None:
    apis = ApiSearch(index, ["pandas"], web=web).search("glue tables together", 5).apis

    docs = {api.name: api.doc for api in apis}
    assert docs["pandas.DataFrame.resample"] is not None
    assert docs["pandas.Series.resample"] is None


def test_without_a_web_search_nothing_is_asked(index: Index, answers: Answers) -> None:
    answer = ApiSearch(index, ["pandas"]).search("resample")

    assert answer.apis[0].name == "pandas.DataFrame.resample"
    assert answers.asked == []


def test_a_slow_engine_is_not_waited_for_and_its_late_answer_is_kept(
    engine: SearchEngine, answers: Answers, tmp_path: Path
) -> None:
    answers.held = threading.Event()
    cache = PageCache(tmp_path / "web.sqlite")
    search = WebSearch(SearxNG(engine.url), cache=cache)
    SearxNG(engine.url).prepare()

    start = time.monotonic()
    first = search.search("resample", Guard())
    seconds = time.monotonic() - start
    answers.held.set()
    deadline = time.monotonic() + 10
    while not search.search("resample", Guard()).pages and time.monotonic() < deadline:
        time.sleep(0.02)

    assert 0.5 < seconds < 10
    assert (first.pages, first.note) == (
        (),
        "The web did not answer within 0.6 s; ask again later.",
    )
    assert len(search.search("resample", Guard()).pages) == 2


def test_requests_that_hang_take_two_threads_and_no_more(
    engine: SearchEngine, answers: Answers
) -> None:
    answers.held = threading.Event()
    search = WebSearch(SearxNG(engine.url), limit_s=0.05)

    notes = [search.search(f"resample {number}", Guard()).note for number in range(10)]

    hanging = [one for one in threading.enumerate() if one.name == "exploracoder-web"]
    assert len(hanging) == 2
    assert notes[-1] == "Earlier web searches are still going on; ask again later."


def test_what_was_found_before_is_not_asked_again_until_it_is_old(
    engine: SearchEngine, answers: Answers, tmp_path: Path
) -> None:
    provider = SearxNG(engine.url)
    search = WebSearch(provider, limit_s=5, cache=PageCache(tmp_path / "a.sqlite"))
    forgetful_search = WebSearch(
        provider, limit_s=5, cache=PageCache(tmp_path / "b.sqlite", max_age_s=0)
    )

    results = [search.search("resample", Guard()).pages for _ in range(3)]
    count = len(answers.asked)
    for _ in range(2):
        forgetful_search.search("resample", Guard())

    assert results[0] == results[1] == results[2] != ()
    assert count == 1
    assert len(answers.asked) == 3


def test_the_cache_is_bounded_and_holds_no_question(tmp_path: Path) -> None:
    cache = PageCache(tmp_path / "web.sqlite", max_rows=3)
    for number in range(6):
        key = PageCache.key("duckduckgo", ["numpy.org"], f"question {number}")
        cache.put(key, [Page(title="t", url="https://numpy.org", text=str(number))])

    with sqlite3.connect(tmp_path / "web.sqlite") as connection:
        (count,) = connection.execute("SELECT count(*) FROM pages").fetchone()
    connection.close()
    assert count == 3
    assert cache.get(key) is not None
    assert b"question" not in (tmp_path / "web.sqlite").read_bytes()


def test_a_damaged_cache_is_made_anew(tmp_path: Path) -> None:
    file = tmp_path / "web.sqlite"
    file.write_bytes(b"not a database" * 500)
    cache = PageCache(file)
    page = Page(title="t", url="https://numpy.org", text="")

    before = cache.get("key")
    cache.put("key", [page])

    assert before is None
    assert cache.get("key") == (page,)


@pytest.mark.parametrize(
    ("status", "raw", "said"),
    [
        (500, b"", "status 500"),
        (200, b"<html>", "not its JSON"),
        (200, b'{"results": [{"title": 1}]}', "not its JSON"),
        (200, b"x" * 2_100_000, "more than"),
    ],
)
def test_an_engine_that_answers_something_else_is_told(
    status: int, raw: bytes, said: str, web: WebSearch, answers: Answers
) -> None:
    answers.status, answers.raw = status, raw

    result = web.search("resample", Guard())

    assert result.pages == ()
    assert said in result.note


def test_an_engine_that_is_not_there_is_told_without_the_query() -> None:
    result = WebSearch(SearxNG("http://127.0.0.1:9"), limit_s=5).search("resample", Guard())
    other = WebSearch(DuckDuckGo("http://127.0.0.1:9/"), limit_s=5).search("resample", Guard())

    assert "http://127.0.0.1:9 cannot be asked" in result.note
    assert "DuckDuckGo cannot be asked" in other.note
    assert "resample" not in result.note + other.note


def test_a_refused_search_is_told(engine: SearchEngine, answers: Answers) -> None:
    answers.status = 202

    result = WebSearch(DuckDuckGo(engine.url), limit_s=5).search("resample", Guard())

    assert "limits how often" in result.note


@pytest.mark.parametrize(
    "chosen", ["google", "ftp://host", "http://", "http://u:pw@host/", "http://host/?key=1", "["]
)
def test_what_is_no_engine_is_refused(chosen: str) -> None:
    with pytest.raises(WebSearchError) as excinfo:
        find_provider(chosen)

    assert "pw" not in str(excinfo.value)


@pytest.mark.parametrize(
    "query",
    [
        "total = price * 1.2",
        "def area(r): return r",
        "import secret_module",
        "from acme import Client",
        "df.merge(orders, on='customer')",
        "rows[0]['name']",
        "why does {'a': 1} fail",
        "first line\nsecond line",
        "sk-abcdef0123456789abcdef",
        "my password is hunter2",
        "token: abc",
        "parse a1b2c3d4e5f6a7b8c9d0e1f2",
        "mail jane.doe@example.org",
        "read http://intranet/report",
        "ping 10.0.0.12",
        "call 555 123 4567 890",
        "mean of 3.5, 4.25, 7",
        "open /home/jane/data",
        "read ~/plans",
        r"read C:\plans",
        "read sub/folder/file",
        "read customers.csv",
        "rows where name is 'Jane Doe-7'",
    ],
)
def test_code_secrets_and_data_are_never_sent(query: str, web: WebSearch, answers: Answers) -> None:
    result = web.search(query, Guard())

    assert "not sent" in result.note
    assert query not in result.note
    assert answers.asked == []


@pytest.mark.parametrize(
    "query",
    [
        "resample a time series to monthly means",
        "pandas.DataFrame.groupby and apply",
        "how to use merge() with a left join",
        "read a .csv file with and/or without header",
        "what is the 'left join' of two tables?",
        "http client with retries, python 3.11",
        "datapipe that reads from a list of numbers",
        "convert utf-8 bytes to text",
    ],
)
def test_plain_words_may_be_sent(query: str) -> None:
    assert Guard().check(f"  {query} ") == query


@pytest.mark.parametrize("query", ["", "   \n"])
def test_an_empty_query_is_refused(query: str, web: WebSearch) -> None:
    with pytest.raises(QueryRefused, match="empty"):
        ApiSearch(None, web=web).search(query)


def test_a_query_of_ten_thousand_characters_is_searched_in_docs_and_not_sent(
    index: Index, web: WebSearch, answers: Answers
) -> None:
    answer = ApiSearch(index, ["pandas"], web=web).search("resample " * 1_112)

    assert answer.apis[0].name == "pandas.DataFrame.resample"
    assert [note for note in answer.notes if "was not sent" in note]
    assert not answer.is_complete
    assert answers.asked == []


def test_words_of_the_users_data_are_not_sent_unless_the_docs_have_them_too() -> None:
    guard = Guard(
        ["customer = 'Wolpertinger'", "[42, 17]"],
        names=["secret_orders"],
        public=["A customer's cart."],
    )

    assert guard.check("carts by customer") == "carts by customer"
    for query in ("find Wolpertinger", "find wolpertingers", "rows above 42", "sum secret_orders"):
        with pytest.raises(QueryRefused, match="data or code"):
            guard.check(query)


def test_names_are_ranked_by_place_and_frequency() -> None:
    pages = [
        Page(
            title="", url="https://a.org", text="numpy.cumsum, np.cumsum, np.cumsum() once; np.diff"
        ),
        Page(title="", url="https://b.org", text="Then scipy.integrate.quad(f). Use diff()."),
    ]

    names = [api.name for api in pick_names(pages)]

    assert names == ["numpy.cumsum", "numpy.diff", "scipy.integrate.quad"]


def test_what_is_no_api_is_not_taken_for_one() -> None:
    text = (
        "See docs.python.org or https://x.io/a.b.html, mail me@x.org. Run main.py, e.g. print(1), "
        "len(x) and self.x.fit(). i.e. nothing in version 3.11.2 is(1) <script>alert(1)</script>"
    )

    names = {api.name for api in pick_names([Page(title="", url="https://a.org", text=text)])}

    assert names == {"x.fit", "alert"}
