"""Endpoints that misbehave: each ends in a solution or in a sentence, and none gets the key out."""

from __future__ import annotations

import asyncio
import base64
import json
import re
import time
import tracemalloc
from urllib.parse import quote

import pytest
from exploracoder.errors import ModelError
from exploracoder.models import endpoint
from exploracoder.models.chat import Message, Sampling
from exploracoder.models.openai_client import OpenAIChatModel
from exploracoder.testing import Delay, Outcome, RecordedRequest, ScriptedModelServer

from .conftest import CHECK, Explorer, Serve
from .misbehaving import CASES, FAILED, KEY, USELESS, drip, endless
from .raw_endpoint import Answer, RawEndpoint, bomb, raw_endpoint, says
from .scripted import TeaModel, kind_of


@pytest.fixture(autouse=True)
def short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setattr(endpoint, "_FIRST_PAUSE_S", 0.01)


def traces_of_the_key(*texts: str) -> list[str]:
    """Each form of the key, or piece of it, that is found."""
    forms = [KEY[start : start + 8] for start in range(len(KEY) - 7)]
    forms += [quote(KEY, safe=""), KEY.encode().hex(), base64.b64encode(KEY.encode()).decode()]
    return [form for form in forms for text in texts if form.lower() in text.lower()]


@pytest.mark.parametrize(("answer", "code", "said"), CASES.values(), ids=CASES)
def test_an_exploration_ends_with_a_solution_or_a_sentence(
    answer: Answer, code: int, said: str, explore: Explorer
) -> None:
    with raw_endpoint(answer) as server:
        outcome = explore.run(
            *("explore", "Name the strong leaves.", "--library", "tealeaf/", "--method", "direct"),
            *("--base-url", server.base_url, "--model", server.model, "--quiet", "--json"),
            *("--output", explore.notebook, *explore.files(CHECK)),
        )

    output = outcome.out + outcome.err
    notebook = explore.notebook.read_text(encoding="utf-8")
    assert outcome.code == code, output
    assert "Traceback" not in output
    assert re.search(said, f"{outcome.json.get('verification')} {outcome.json.get('error')}")
    assert len(server.requests) <= 8
    assert not traces_of_the_key(output, notebook)
    assert not re.search(r"nginx|<h1>", output + notebook)
    assert explore.exploration.status == ("solved" if code == 0 else "failed")


def exploring(
    server: RawEndpoint | ScriptedModelServer, explore: Explorer, *more: object
) -> list[object]:
    """The words that explore the usual task with the usual method."""
    return [
        *("explore", "Name the strong leaves.", "--library", "tealeaf/", "--json"),
        *("--base-url", server.base_url, "--model", server.model),
        *("--output", explore.notebook, *explore.files(None), *more),
    ]


@pytest.mark.parametrize("cells", ["true", "false"])
@pytest.mark.parametrize("name", ["an empty text", "prose", "a refusal", "thoughts with code"])
def test_all_steps_of_an_exploration_bear_with_a_model_that_never_answers(
    name: str, cells: str, explore: Explorer
) -> None:
    answer, code, said = CASES[name]
    with raw_endpoint(answer) as server:
        outcome = explore.run(*exploring(server, explore, "--set", f"cells={cells}"))

    assert outcome.code == code
    assert "Traceback" not in outcome.out + outcome.err
    assert len(server.requests) < 40
    if code:
        assert outcome.json["status"] == explore.exploration.status == "failed"
        assert re.search(said, outcome.json["verification"])
        assert explore.exploration.is_planned == (cells == "false")


def test_who_wrote_no_cells_for_want_of_tokens_is_told_what_to_raise(explore: Explorer) -> None:
    with raw_endpoint(CASES["thoughts that took all tokens"][0]) as server:
        outcome = explore.run(*exploring(server, explore))

    assert "raise --set write-tokens" in outcome.json["verification"]


def test_an_exploration_without_a_solution_goes_on_when_the_model_answers(
    explore: Explorer, serve: Serve
) -> None:
    with raw_endpoint(CASES["a refusal"][0]) as silent:
        first = explore.run(*exploring(silent, explore, "--method", "direct"))
    server = serve()
    words = ("--base-url", server.base_url, "--model", server.model)
    again = explore.run("resume", explore.notebook, *words)

    assert (first.code, again.code) == (1, 0)
    assert explore.exploration.solution is not None


def test_a_briefing_that_does_not_come_in_time_is_gone_on_without(
    explore: Explorer, serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(OpenAIChatModel.__init__.__kwdefaults__, "timeout_s", 5.0)
    talker = TeaModel()

    def late(request: RecordedRequest) -> Outcome:
        is_late = kind_of(request) in ("summary", "example_plan")
        return Delay(10.0, "too late") if is_late else talker(request)

    server = serve(late)
    settings = ("--set", "cells=false")
    outcome = explore.run(*exploring(server, explore, *settings))

    assert outcome.code == 0, outcome.err
    assert "Goes on without an overview. The model scripted at" in " ".join(outcome.err.split())
    assert explore.exploration.is_planned
    assert explore.exploration.summary == ""


@pytest.mark.parametrize("answer", [drip, endless], ids=["slow", "fast"])
def test_a_body_without_an_end_ends_at_the_deadline_or_at_the_most_bytes(answer: Answer) -> None:
    with raw_endpoint(answer) as server:
        error, seconds, _ = ask(server.base_url, timeout_s=1.0)

    assert re.search("did not answer within 1 s|is not an OpenAI", str(error))
    assert seconds < 5.0
    assert len(server.requests) == 1


def test_a_bomb_takes_no_more_memory_than_any_long_reply() -> None:
    payload = bomb(1 << 28)
    with raw_endpoint(says(payload, headers={"Content-Encoding": "gzip"})) as server:
        error, _, peak = ask(server.base_url, timeout_s=30.0)

    assert "is not an OpenAI-compatible API" in str(error)
    assert peak < 8 * endpoint.MOST_BYTES


@pytest.mark.parametrize(
    "name", [*USELESS, *(name for name in FAILED if "redirect" in name or "page" in name)]
)
def test_what_will_not_pass_is_asked_once(name: str) -> None:
    with raw_endpoint(CASES[name][0]) as server:
        ask(server.base_url, timeout_s=30.0)
    requests = [request for request in server.requests if request.path.endswith("/completions")]

    assert len(requests) == (4 if re.search("50[02]", name) else 1)


def test_a_refusal_that_no_other_wording_helps_is_the_last() -> None:
    error = {"error": {"message": "Use max_completion_tokens, not max_tokens."}}
    with raw_endpoint(says(json.dumps(error), status="400 Bad")) as server:
        ask(server.base_url, timeout_s=30.0)
        ask(server.base_url, timeout_s=30.0, is_text=True)

    assert len(server.requests) == 2 + 2


def ask(base_url: str, *, timeout_s: float, is_text: bool = False) -> tuple[ModelError, float, int]:
    """The error that one question ends with, the seconds it took, and the memory, in bytes."""

    async def run() -> None:
        async with OpenAIChatModel(base_url, KEY, "scripted", timeout_s=timeout_s) as model:
            if is_text:
                await model.continue_text("x = ", Sampling())
            else:
                await model.complete([Message("user", "Hello")], Sampling())

    tracemalloc.start()
    start = time.monotonic()
    try:
        with pytest.raises(ModelError) as error_info:
            asyncio.run(run())
        return error_info.value, time.monotonic() - start, tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
