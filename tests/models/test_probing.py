"""What a model and its server can do is found out by asking, and said as it is."""

from __future__ import annotations

import json
import time
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest
from exploracoder.errors import AnswerTimeoutError, ModelError
from exploracoder.models.capabilities import Capabilities, capabilities_memory
from exploracoder.models.model_facts import facts_of
from exploracoder.models.openai_client import OpenAIChatModel
from exploracoder.models.probing import probe
from exploracoder.testing import Delay, Failure, Raw, RecordedRequest, ScriptedModelServer
from http_answers import saying, serving
from scripted_abilities import LOGPROBS, capable, plain, thoughtful

KEY = "sk-nobody-may-see-this"


async def found(server: ScriptedModelServer, **options: Any) -> Capabilities:
    arguments = {"model": server.model, "max_retries": 0} | options
    timeout_s = arguments.pop("timeout", 30.0)
    async with OpenAIChatModel(server.base_url, KEY, **arguments) as model:
        return await probe(model, tell=lambda _: None, timeout_s=timeout_s)


async def test_a_server_that_knows_the_whole_api_is_found_to() -> None:
    card = {"max_model_len": 32_768, "meta": {"n_params": 7_615_616_512}}
    with ScriptedModelServer(capable, card=card, piece_pause_s=0.1) as server:
        capabilities = await found(server)

        assert len(server.chat_requests) == 6
    assert capabilities.model_dump(exclude={"prompt_tokens_per_s", "completion_tokens_per_s"}) == {
        "schema_mode": "json_schema",
        "tools": True,
        "streaming": True,
        "several": True,
        "logprobs": True,
        "prefix_cache": True,
        "reasons": False,
        "context_tokens": 32_768,
        "parameters": 7_615_616_512,
    }
    # Words are tokens there: about 700 are read in 0.7 s at least, and 40 come in six pieces.
    assert 0 < (capabilities.prompt_tokens_per_s or 0) < 1600
    assert 0 < (capabilities.completion_tokens_per_s or 0) < 200


async def test_a_server_that_knows_little_is_not_said_to_fail() -> None:
    refusals: dict[str, Any] = {
        "refuse_n": True,
        "refuse_tools": True,
        "refuse_stream": True,
        "refuse_formats": ["json_schema", "json_object"],
        "report_usage": False,
    }
    with ScriptedModelServer(plain, **refusals) as server:
        capabilities = await found(server)

    assert capabilities == Capabilities(
        schema_mode="ignored",
        tools=False,
        streaming=False,
        several=False,
        logprobs=False,
        reasons=False,
    )


@pytest.mark.parametrize(
    ("refused", "mode"),
    [(["json_schema"], "json_object"), (["json_schema", "json_object"], "words")],
)
async def test_how_a_schema_is_conveyed_is_found(refused: list[str], mode: str) -> None:
    with ScriptedModelServer(capable, refuse_formats=refused) as server:
        assert (await found(server)).schema_mode == mode


async def test_a_model_that_thinks_is_found_to() -> None:
    with ScriptedModelServer(thoughtful) as server:
        capabilities = await found(server)

    assert capabilities.reasons
    assert capabilities.schema_mode == "json_schema"
    # How long the thought took is not known apart from how long the prompt took.
    assert capabilities.prompt_tokens_per_s is None
    assert capabilities.completion_tokens_per_s is not None


CARDS: dict[str, tuple[dict[str, Any], int | None]] = {
    "vLLM": ({"max_model_len": 4096}, 4096),
    "hosted": ({"context_length": 131_072}, 131_072),
    "another hosted": ({"context_window": 8192}, 8192),
    "llama.cpp": ({"meta": {"n_ctx": 8192, "n_ctx_train": 32_768}}, 8192),
    "trained with more than it has": ({"meta": {"n_ctx_train": 32_768}}, None),
    "not a number": ({"max_model_len": "4096"}, None),
    "no length": ({"max_model_len": -1, "context_length": True}, None),
    "no length at all": ({"max_model_len": 10**40}, None),
}


@pytest.mark.parametrize(("card", "tokens"), CARDS.values(), ids=CARDS)
async def test_the_context_is_what_the_list_of_models_says(
    card: dict[str, Any], tokens: int | None
) -> None:
    with ScriptedModelServer(plain, card=card) as server:
        assert (await found(server)).context_tokens == tokens


# What three servers say beside the API, shortened.
PAGES: dict[str, tuple[str, Any, dict[str, int]]] = {
    "llama.cpp": (
        "/props",
        {"default_generation_settings": {"n_ctx": 8192, "params": {}}, "total_slots": 1},
        {"context_tokens": 8192},
    ),
    "Ollama": (
        "/api/ps",
        {
            "models": [
                {"name": "other:latest", "context_length": 1},
                {
                    "name": "m:latest",
                    "details": {"format": "gguf", "parameter_size": "8.2B"},
                    "size_vram": 0,
                    "context_length": 4096,
                },
            ]
        },
        {"context_tokens": 4096, "parameters": 8_200_000_000},
    ),
    "LM Studio": (
        "/api/v0/models",
        {"data": [{"id": "m", "max_context_length": 32_768, "loaded_context_length": 4096}]},
        {"context_tokens": 4096},
    ),
    "an odd one": ("/props", [{"default_generation_settings": 3}], {}),
    "none": ("/nothing", {}, {}),
}


@pytest.mark.parametrize(("page", "body", "facts"), PAGES.values(), ids=PAGES)
async def test_what_servers_say_beside_the_api_is_read(
    page: str, body: Any, facts: dict[str, int]
) -> None:
    cards = saying(json.dumps({"data": [{"id": "m"}]}).encode())

    def answer(handler: BaseHTTPRequestHandler) -> None:
        pages = {"/v1/models": cards, page: saying(json.dumps(body).encode())}
        pages.get(handler.path, saying(b"no such page", 404))(handler)

    with serving(answer) as url:
        async with OpenAIChatModel(url, "", "m", max_retries=0) as model:
            assert await facts_of(model.server, model.name) == facts


@pytest.mark.parametrize(
    ("model", "size"),
    [
        ("qwen2.5-coder:1.5b", 1_500_000_000),
        ("Qwen3-30B-A3B", 30_000_000_000),
        ("gpt-4o", None),
        ("bge-3bit", None),
    ],
)
async def test_the_size_is_what_the_name_says(model: str, size: int | None) -> None:
    with ScriptedModelServer(plain, model=model) as server:
        assert (await found(server)).parameters == size


async def test_what_was_refused_before_is_tried_again(tmp_path: Path) -> None:
    file = tmp_path / "dialects.json"
    with ScriptedModelServer(capable, refuse_tools=True) as server:
        assert not (await found(server, dialects=file)).tools
        server.refuse_tools = False
        assert (await found(server, dialects=file)).tools


FAILURES: dict[str, tuple[Any, dict[str, Any], dict[str, Any], str]] = {
    "key refused": (plain, {"require_key": "other"}, {}, "rejected the API key"),
    "no such model": (plain, {"require_model": True}, {"model": "x"}, "does not offer the model"),
    "not a model server": (lambda _: Raw("<html>hi</html>"), {}, {}, "not an OpenAI-compatible"),
    "refuses all": (lambda _: Failure(400, "no, never"), {}, {}, "refused the request"),
}


@pytest.mark.parametrize(("script", "server", "client", "said"), FAILURES.values(), ids=FAILURES)
async def test_one_that_cannot_be_asked_is_a_sentence(
    script: Any, server: dict[str, Any], client: dict[str, Any], said: str
) -> None:
    with (
        ScriptedModelServer(script, **server) as serving,
        pytest.raises(ModelError, match=said) as error,
    ):
        await found(serving, **client)

    assert KEY not in str(error.value)


async def test_nobody_there_is_a_sentence() -> None:
    async with OpenAIChatModel("http://127.0.0.1:9/v1", "", "m", max_retries=0) as model:
        with pytest.raises(ModelError, match="No model server can be reached"):
            await probe(model, tell=lambda _: None)


async def test_one_that_is_slow_is_a_sentence() -> None:
    start = time.monotonic()
    with ScriptedModelServer(lambda _: Delay(30, "tea")) as server:
        with pytest.raises(AnswerTimeoutError, match="is slow: one short question"):
            await found(server, timeout=0.3)

        assert time.monotonic() - start < 15


async def test_a_prompt_that_is_too_long_leaves_the_rest_to_be_asked() -> None:
    def short(request: RecordedRequest) -> Any:
        if request.last_user_message.startswith("Store"):
            return Failure(400, "This model's maximum context length is 512 tokens.")
        return capable(request)

    with ScriptedModelServer(short, card={"max_model_len": 512}) as server:
        capabilities = await found(server)

    assert (capabilities.streaming, capabilities.tools, capabilities.context_tokens) == (
        None,
        True,
        512,
    )


async def test_odd_probabilities_are_none() -> None:
    def odd(request: RecordedRequest) -> Any:
        outcome = capable(request)
        if not isinstance(outcome, Raw):
            return outcome
        return Raw(outcome.body.replace(json.dumps(LOGPROBS), "[3]"))

    with ScriptedModelServer(odd) as server:
        assert (await found(server)).logprobs is False


def test_what_was_found_is_kept_for_its_endpoint_alone(tmp_path: Path) -> None:
    file, capabilities = (
        tmp_path / "capabilities.json",
        Capabilities(tools=False, context_tokens=4096),
    )
    capabilities_memory(file, "http://a/v1", "m").keep(capabilities, is_measured_anew=True)

    assert capabilities_memory(file, "http://a/v1", "m").recall() == capabilities
    assert capabilities_memory(file, "http://a/v1", "n").recall() is None
    assert "http://a" not in file.read_text()
