"""``exploracoder model test``, and the explorations after it."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
from exploracoder.settings import PROFILES
from exploracoder.testing import Delay, Outcome, RecordedRequest, ScriptedModelServer
from scripted_abilities import capable, plain, thoughtful

from .conftest import Command, Explorer, Serve
from .scripted import TeaModel

KEY = "sk-nobody-may-see-this"


def where(server: ScriptedModelServer) -> tuple[str, ...]:
    return ("--base-url", server.base_url, "--model", server.model)


def test_what_was_found_is_printed_with_the_profile_that_suits(
    command: Command, serve: Serve
) -> None:
    server = serve(capable, card={"max_model_len": 4096})
    outcome = command("model", "test", *where(server))

    assert outcome.code == 0
    for phrase in ("JSON schema", "kept to (json_schema)", "4,096 tokens", "reasoning"):
        assert phrase in outcome.out
    assert "The profile standard suits the model: its context has 4096 tokens." in outcome.out
    assert "prompt-chars 6144" in outcome.out
    assert "How fast it reads and writes" in outcome.err


def test_programs_get_it_as_json_and_without_the_key(
    command: Command, serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    server = serve(thoughtful, require_key=KEY)
    outcome = command("model", "test", *where(server), "--json", "--quiet")

    assert outcome.code == 0
    assert outcome.err == ""
    assert outcome.json["capabilities"]["reasons"] is True
    assert outcome.json["profile"] == "standard"
    assert outcome.json["settings"]["stop_at_first"] is True
    assert KEY not in outcome.out
    assert KEY not in (Path(os.environ["EXPLORACODER_CACHE"]) / "capabilities.json").read_text()


def test_one_that_cannot_be_asked_is_bad_set_up(command: Command, serve: Serve) -> None:
    server = serve(plain, require_key="another")
    outcome = command("model", "test", *where(server))

    assert outcome.code == 2
    assert outcome.err.count("Error: ") == 1
    assert "wants an API key" in outcome.err


def test_an_interrupted_test_keeps_nothing(command: Command, serve: Serve) -> None:
    def interrupt(request: RecordedRequest) -> Outcome:
        os.kill(os.getpid(), signal.SIGINT)
        return Delay(5, "late")

    outcome = command("model", "test", *where(serve(interrupt)))

    assert outcome.code == 130
    assert outcome.out == ""
    assert outcome.err.endswith("Interrupted.\n")
    assert not (Path(os.environ["EXPLORACODER_CACHE"]) / "capabilities.json").exists()


def test_explorations_with_a_tested_model_have_what_suits_it(
    command: Command, serve: Serve, explore: Explorer
) -> None:
    card = {"max_model_len": 8192}
    server = serve(plain, card=card)
    command("model", "test", *where(server))
    server.script = TeaModel()

    explore(server)
    fitting = explore.exploration.settings
    explore(server, "--profile", "standard")
    override = explore.exploration.settings

    assert (fitting.profile, fitting.prompt_chars, fitting.functions) == ("standard", 12_288, "off")
    assert override == PROFILES["standard"]


def test_an_exploration_says_what_its_model_is_given(
    command: Command, serve: Serve, explore: Explorer
) -> None:
    server = serve(plain)
    command("model", "test", *where(server))
    server.script = TeaModel()

    words = [word for word in explore.words(server) if word != "--quiet"]
    outcome = command(*words, *explore.files())

    assert "suits the model: it calls no functions." in outcome.err


def test_what_it_cost_is_said_where_the_user_wrote_a_price(
    command: Command, serve: Serve, explore: Explorer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EXPLORACODER_CONFIG", str(explore.folder / "config"))
    server = serve()
    table = Path(command("model", "prices").out.strip())
    table.write_text("- {model: 'script*', prompt: 1000, completion: 2000, currency: EUR}")
    known = command("model", "prices", server.model)
    unknown = command("model", "prices", "another")
    outcome = explore(server)
    as_json = explore(server, "--json").json
    table.write_text("- 3")
    spoilt = explore(server)

    assert (known.code, unknown.code) == (0, 1)
    assert " EUR.\n" in outcome.out
    usage = as_json["usage"]
    amount = (usage["prompt_tokens"] + 2 * usage["completion_tokens"]) / 1000
    assert as_json["money"] == {"amount": pytest.approx(amount), "currency": "EUR"}
    assert spoilt.code == 0
    assert "What that costs is not known" in spoilt.out
