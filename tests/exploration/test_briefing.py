"""What a model writes of a library before it plans: once, and by itself."""

from __future__ import annotations

from pathlib import Path

import pytest
from exploracoder.testing import Failure, ScriptedModelServer

from .conftest import Command, Explorer, Serve, model_words
from .scripted import TeaModel, kind_of

BRIEFING = {"summary", "example_plan"}


def asked(server: ScriptedModelServer) -> list[str]:
    """The questions about the library alone."""
    kinds = [kind_of(request) for request in server.chat_requests]
    return [kind for kind in kinds if kind in BRIEFING]


def test_a_model_that_was_exchanged_under_its_name_writes_its_own(
    serve: Serve, explore: Explorer
) -> None:
    server = serve(card={"meta": {"size": 1}})
    counts = []
    for size in (1, 1, 2, 1):
        server.card = {"meta": {"size": size}}
        explore(server, "--method", "capir")
        counts.append(len(asked(server)))
    elsewhere = serve(card={"meta": {"size": 1}})
    explore(elsewhere, "--method", "capir")

    assert counts == [1, 1, 2, 2]
    assert len(asked(elsewhere)) == 1


@pytest.mark.parametrize("method", ["capir", "exploration"])
def test_what_was_written_beforehand_costs_no_exploration(
    serve: Serve, explore: Explorer, command: Command, method: str
) -> None:
    server = serve()
    words = ("--method", method, "--profile", "standard", "--json", "--quiet")
    outcome = command("brief", "tealeaf/", *words, *model_words(server))
    calls = len(server.chat_requests)
    exploration = explore(server, *words[:-1])

    (briefing,) = outcome.json["briefings"].values()
    assert briefing["summary"]
    assert outcome.json["usage"]["calls"] == calls == len(asked(server)) == 1
    assert exploration.json["usage"]["calls"] == len(server.chat_requests) - calls
    assert "briefing" not in exploration.json["usage_by_part"]

    again = command("brief", "tealeaf/", *words, *model_words(server))

    assert again.json["usage"]["calls"] == 0
    assert again.json["briefings"] == outcome.json["briefings"]


def test_another_number_of_plans_is_written_apart_and_none_at_all_is_not_asked_for(
    serve: Serve,
    command: Command,
    own_library: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("EXPLORACODER_CACHE", str(tmp_path / "cache"))
    server = serve()
    library = own_library / "tealeaf"
    command("index", library, "--docs", own_library / "README.md")

    def brief(*words: str) -> tuple[int, int]:
        words = (*words, "--json", "--quiet", *model_words(server))
        result = command("brief", library, *words).json
        return result["usage"]["calls"], len(result["briefings"]["tealeaf"]["plans"])

    assert brief("--set", "few-shot-plans=1") == (2, 1)
    assert brief("--set", "few-shot-plans=2") == (3, 2)
    assert brief("--set", "few-shot-plans=2") == (0, 2)
    assert brief("--method", "exploracoder-paper-no-knowledge") == (0, 0)


@pytest.mark.parametrize(("status", "kind"), [(401, "model"), (400, "request")])
def test_a_model_that_does_not_write_is_said(
    serve: Serve, command: Command, status: int, kind: str
) -> None:
    server = serve(lambda _: Failure(status, "no"))
    outcome = command("brief", "tealeaf/", "--json", "--quiet", *model_words(server))

    assert outcome.code == 2
    assert (outcome.json["status"], outcome.json["error_kind"]) == ("failed", kind)


def test_people_are_told_in_words(serve: Serve, command: Command) -> None:
    outcome = command("brief", "tealeaf/", "--quiet", *model_words(serve(TeaModel())))

    assert outcome.code == 0
    assert "tealeaf: a summary of" in outcome.out
    assert "model calls," in outcome.out
