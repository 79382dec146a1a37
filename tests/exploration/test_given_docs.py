"""Documentation given on the command line: beside a library, or in the place of one."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from .conftest import Command, Explorer, Serve, model_words
from .scripted import TASK

LINES = [
    {"path": "tealeaf.read_leaves", "kind": "function", "doc": "Read leaves \x1b[2J from a text."},
    {"path": "tealeaf.Flow", "kind": "class", "doc": "A lazy pipeline.", "url": "https://tea.test"},
]


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A cache of its own, and a folder from which the library cannot be imported."""
    monkeypatch.setenv("EXPLORACODER_CACHE", str(tmp_path / "cache"))
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")


@pytest.fixture
def lines(tmp_path: Path) -> Path:
    file = tmp_path / "tealeaf.jsonl"
    file.write_text("\n".join(map(json.dumps, [*LINES, {"path": 3}])), encoding="utf-8")
    return file


def test_a_library_of_docs_alone_is_indexed_searched_and_forgotten(
    command: Command, lines: Path, match: Callable[[str, str], bool]
) -> None:
    indexing = command("index", lines, "--name", "tea docs")
    search = command("search", "lazy pipeline", "-l", "tea docs", "-k", "2")
    lines.unlink()
    without_file = command("search", "lazy pipeline", "-l", "tea docs", "--json")
    removal = command("index", "tea docs", "--no-docs")
    last_search = command("search", "lazy pipeline", "-l", "tea docs")

    assert (indexing.code, search.code, without_file.code, removal.code) == (0, 0, 0, 0)
    assert indexing.out.startswith("tea docs: 2 public APIs")
    assert match(r"Skipped .*jsonl:3: its path is no dotted", indexing.err)
    assert match("tealeaf is not installed for .*so nothing that imports it runs", indexing.err)
    assert search.out.splitlines()[1] == "tealeaf.Flow  https://tea.test"
    assert f"tealeaf.read_leaves  {lines}:1" in search.out
    assert "\x1b" not in search.out
    assert json.loads(without_file.out)[0]["doc"]["path"] == "tealeaf.Flow"
    assert last_search.code == 2
    assert match("No library 'tea docs' is installed", last_search.err)


def test_nothing_of_docs_or_queries_controls_the_terminal(
    command: Command, lines: Path, tmp_path: Path
) -> None:
    row = {"id": "\x1b[2J", "query": "a lazy\u2028pipeline"}
    queries = tmp_path / "queries.jsonl"
    queries.write_text(json.dumps(row, ensure_ascii=False), encoding="utf-8")
    command("index", lines, "--name", "tea")

    words = ["search", "--queries", queries, "-l", "tea"]
    outcomes = [command("map", "tea"), command(*words), command(*words, "--json")]

    assert [one.code for one in outcomes] == [0, 0, 0]
    assert "\x1b" not in "".join(one.out for one in outcomes)
    assert outcomes[2].json["id"] == "\x1b[2J"


def test_docs_beside_a_library_are_kept_when_it_is_used_later(
    command: Command, library: Path, tmp_path: Path
) -> None:
    page = "# Guide\n\n## tealeaf.brewed(cups)\n\nWhat only the guide knows.\n"
    (tmp_path / "guide.md").write_text(page, encoding="utf-8")
    indexing = command("index", library / "tealeaf", "--docs", tmp_path / "guide.md", "--json")
    search = command("search", "what the guide knows", "-l", library / "tealeaf", "-k", "1")
    removal = command("index", library / "tealeaf", "--no-docs", "--json")

    assert indexing.json["docs"] == [str(tmp_path / "guide.md")]
    assert indexing.json["apis"] == removal.json["apis"] + 1
    assert search.out.splitlines()[1] == f"tealeaf.brewed  {tmp_path / 'guide.md'}:3"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["pandas.jsonl"], "is installed. To add docs to it"),
        (["https://tea.test/docs/"], "Say what the library .* is called"),
        (["x.jsonl", "--name", "../up"], "--name must be a word or two"),
        (["x.jsonl", "--name", "x"], "There are no docs at x.jsonl"),
        (["pytest", "--docs", "nowhere"], "There are no docs at nowhere"),
        (["pytest", "--docs", "x", "--no-docs"], "--no-docs forgets documentation"),
        (["http://127.0.0.1:9/", "--name", "x"], "cannot be fetched"),
    ],
)
def test_docs_that_cannot_be_used_are_refused_and_not_remembered(
    words: list[str], message: str, command: Command, match: Callable[[str, str], bool]
) -> None:
    outcome = command("index", *words)

    assert outcome.code == 2
    assert match(message, outcome.err)
    assert not list(Path("../cache").rglob("given.json"))


def test_a_file_without_an_api_is_not_remembered(command: Command, tmp_path: Path) -> None:
    (tmp_path / "none.jsonl").write_text("{}\n")

    outcome = command("index", tmp_path / "none.jsonl")

    assert outcome.code == 2
    assert not list(Path("../cache").rglob("given.json"))


def test_docs_without_an_api_do_not_replace_those_given_before(
    command: Command, lines: Path, tmp_path: Path
) -> None:
    (tmp_path / "none.jsonl").write_text("{}\n")
    command("index", lines, "--name", "tea")

    failure = command("index", tmp_path / "none.jsonl", "--name", "tea")
    search = command("search", "lazy pipeline", "-l", "tea")

    assert (failure.code, search.code) == (2, 0)
    assert "tealeaf.Flow" in search.out


def test_docs_that_cannot_be_embedded_do_not_replace_those_given_before(
    command: Command, lines: Path, tmp_path: Path
) -> None:
    (tmp_path / "more.jsonl").write_bytes(lines.read_bytes())
    command("index", lines, "--name", "tea")
    given = next(Path("../cache").rglob("given.json")).read_text()
    nobody = ["--embeddings-url", "http://127.0.0.1:9/v1", "--embeddings-model", "m"]

    failure = command("index", tmp_path / "more.jsonl", "--name", "tea", *nobody)

    assert failure.code == 2
    assert "The embedding endpoint http://127.0.0.1:9/v1 cannot be reached" in failure.err
    assert "--library" not in failure.err
    assert next(Path("../cache").rglob("given.json")).read_text() == given


def test_docs_of_code_that_cannot_be_indexed_are_not_remembered(
    command: Command, tmp_path: Path
) -> None:
    (tmp_path / "bare.py").touch()
    (tmp_path / "guide.md").write_text("# A guide to nothing\n")

    outcome = command("index", tmp_path / "bare.py", "--docs", tmp_path / "guide.md")

    assert outcome.code == 2
    assert not list(Path("../cache").rglob("given.json"))


def test_exploring_a_library_of_docs_alone_ends_and_says_that_it_is_not_installed(
    serve: Serve, explore: Explorer, lines: Path
) -> None:
    outcome = explore.run(
        *["explore", TASK, "-l", lines, *model_words(serve()), "--output", explore.notebook],
    )

    assert outcome.code == 1
    exploration = explore.exploration
    candidates = [one for step in exploration.steps for one in step.candidates]
    errors = {one.observation.error.ename for one in candidates if one.observation.error}
    assert "ModuleNotFoundError" in errors
    assert {
        near for one in candidates for problem in one.problems for near in problem.nearest
    } == set()
    assert "tealeaf is not installed for" in " ".join(outcome.err.split())
