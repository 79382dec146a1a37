"""``index`` and ``search``, with the index whole, damaged, or embedded by an endpoint."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NoReturn

import pytest
from exploracoder_retrieval.errors import EmbeddingError
from exploracoder_retrieval.index import Index

from .conftest import Command, Explorer, Serve, start_command


@pytest.fixture
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache folder that the test may damage."""
    monkeypatch.setenv("EXPLORACODER_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def test_index_says_what_it_read(command: Command) -> None:
    outcome = command("index", "tealeaf/", "--json")

    assert outcome.code == 0
    assert outcome.json["name"] == "tealeaf"
    assert outcome.json["version"] == "2.1"
    assert outcome.json["apis"] == 15


def test_search_finds_an_api_by_what_it_does(command: Command) -> None:
    outcome = command("search", "how long to steep", "-l", "tealeaf/", "-k", "3")

    assert outcome.code == 0
    assert outcome.out.splitlines()[1].startswith("tealeaf.steep_seconds")


@pytest.fixture
def brewers(tmp_path: Path) -> Path:
    """A library of six classes that share a method."""
    folder = tmp_path / "brewers"
    folder.mkdir()
    method = '    def brew(self) -> None:\n        """Brew the leaves in hot water."""\n'
    classes = "".join(f'class Brewer{n}:\n    """One of many."""\n\n{method}\n' for n in "ABCDEF")
    (folder / "__init__.py").write_text(
        f'"""Brewers."""\n\n{classes}def clean() -> None:\n    """Clean the water tank."""\n'
    )
    return folder


def test_a_member_of_six_classes_is_shown_once(command: Command, brewers: Path) -> None:
    words = ["search", "brew leaves in hot water", "-l", f"{brewers}/", "-k", "3"]
    text, results = command(*words).out, command(*words, "--json").json

    assert text.count("Brew the leaves") == 1
    assert "brewers.clean" in text
    assert text.splitlines()[4].startswith("    also brewers.Brewer")
    assert text.splitlines()[4].endswith(" and 2 more")
    (brew,) = (one for one in results if one["doc"]["path"].endswith(".brew"))
    assert len(brew["also"]) == 5


def test_search_may_be_narrowed_to_a_kind_and_a_place(command: Command, brewers: Path) -> None:
    words = ["search", "brew leaves in hot water", "-l", f"{brewers}/"]

    classes = command(*words, "--kind", "class", "--json").json
    inside = command(*words, "--in", "brewers.BrewerC", "--json").json
    nothing = command(*words, "--in", "brewers.BrewerX")
    unknown = command(*words, "--kind", "klass")

    assert {hit["doc"]["kind"] for hit in classes} == {"class"}
    assert [hit["doc"]["path"] for hit in inside] == ["brewers.BrewerC.brew"]
    assert "Nothing of that kind, or in there, was found." in nothing.err
    assert unknown.code == 2


def test_search_in_bulk_answers_line_by_line(command: Command, tmp_path: Path) -> None:
    queries = tmp_path / "queries.jsonl"
    rows = [{"id": "a", "query": "lazy pipeline"}, {"id": 2, "query": "heat the water"}]
    queries.write_text("\n".join(json.dumps(row) for row in rows), encoding="utf-8")
    outcome = command("search", "--queries", queries, "-l", "tealeaf/", "-k", "50", "--json")
    lines = [json.loads(line) for line in outcome.out.splitlines()]

    assert [line["id"] for line in lines] == ["a", 2]
    assert lines[0]["ranked"][0] == "tealeaf.Flow"
    assert lines[1]["ranked"][0] == "tealeaf.Kettle.heat"


def test_an_endpoint_without_a_key_can_embed(
    command: Command, serve: Serve, own_cache: Path
) -> None:
    words = ["--embeddings-url", serve().base_url, "--embeddings-model", "letters", "--json"]
    outcome = command("index", "tealeaf/", *words)

    assert outcome.code == 0
    assert outcome.json["apis"] == 15


@pytest.mark.thorough
@pytest.mark.slow
@pytest.mark.parametrize("pattern", ["*.sqlite3", "*.json*", "*"])
def test_a_damaged_index_is_built_again(
    command: Command, serve: Serve, explore: Explorer, own_cache: Path, library: Path, pattern: str
) -> None:
    command("index", "tealeaf/")
    files = [path for path in (own_cache / "index").rglob(pattern) if path.is_file()]
    for path in files:
        path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    words = explore.words(serve(), *explore.files(), "--method", "docprompting", "--json")
    with start_command(words, library) as process:
        out, err = process.communicate(timeout=60)

    assert files
    assert process.returncode == 0, err
    assert json.loads(out)["status"] == "solved"
    assert explore.exploration.overall.kept


AWAY = "The embeddings endpoint cannot be reached."


def away(*_: Any, **__: Any) -> NoReturn:
    raise EmbeddingError(AWAY)


@pytest.mark.parametrize("name", ["search", "map"])
def test_an_index_that_fails_is_said_in_a_sentence(
    command: Command, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr(Index, "search", away)
    words = {"search": ["steep", "-l", "tealeaf/"], "map": ["tealeaf/", "--task", "steep"]}
    outcome = command(name, *words[name])

    assert (outcome.code, outcome.err.splitlines()[-1]) == (2, f"Error: {AWAY}")


def test_an_index_that_fails_ends_an_exploration_as_failed(
    serve: Serve, explore: Explorer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Index, "search", away)
    outcome = explore(serve(), "--json", "--set", "cells=false")

    assert outcome.code == 2
    assert (outcome.json["status"], outcome.json["error"]) == ("failed", AWAY)
    assert (explore.exploration.status, explore.exploration.reason) == ("failed", AWAY)


def test_what_nobody_expected_does_not_leave_an_exploration_running(
    serve: Serve, explore: Explorer, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: Any, **__: Any) -> NoReturn:
        raise ZeroDivisionError("tea")

    monkeypatch.setattr(Index, "search", broken)
    with pytest.raises(ZeroDivisionError):
        explore(serve(), "--set", "cells=false")

    assert explore.exploration.status == "failed"
    assert "ZeroDivisionError('tea')" in explore.exploration.reason
