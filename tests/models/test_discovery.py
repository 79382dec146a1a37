"""Model servers of this machine: asked at once, within bounds, and never followed elsewhere."""

from __future__ import annotations

import json
import time
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest
from exploracoder import prepare
from exploracoder.cli.doctor import doctor
from exploracoder.errors import InputError, NoWeightsError
from exploracoder.models import discovery, suggested_models
from exploracoder.models.discovery import USUAL, LocalServer, find_servers, is_plain_loopback
from exploracoder.models.keys import key_in_environment
from exploracoder.testing import ScriptedModelServer
from http_answers import Answer, saying, serving

KEY = "sk-nobody-may-see-this"


def listing(*names: str) -> bytes:
    return json.dumps({"object": "list", "data": [{"id": name} for name in names]}).encode()


def slow(handler: BaseHTTPRequestHandler) -> None:
    time.sleep(6)
    saying(listing("late"))(handler)


def test_the_usual_addresses_are_those_of_this_machine() -> None:
    assert set(USUAL) == {"Ollama", "LM Studio", "llama.cpp", "vLLM"}
    assert all(is_plain_loopback(url) for url in USUAL.values())


async def test_servers_that_list_models_are_found_in_their_order() -> None:
    names = ("qwen3:8b", "nomic-embed-text", "qwen3:8b", "llama3")
    with (
        serving(saying(listing(*names))) as first,
        ScriptedModelServer("x") as second,
    ):
        places = {"A": first, "Nobody": "http://127.0.0.1:9/v1", "B": second.base_url}
        servers = await find_servers(places)

    assert [(one.title, one.models) for one in servers] == [
        ("A", ("qwen3:8b", "llama3")),
        ("B", ("scripted",)),
    ]
    assert servers[1].base_url == second.base_url
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


# What each of the four answered at /v1/models, shortened.
RECORDED: dict[str, tuple[dict[str, Any], tuple[str, ...]]] = {
    "Ollama": (
        {
            "object": "list",
            "data": [
                {"id": "qwen3:8b", "object": "model", "created": 1758012345, "owned_by": "library"},
                {
                    "id": "nomic-embed-text:latest",
                    "object": "model",
                    "created": 1757912345,
                    "owned_by": "library",
                },
            ],
        },
        ("qwen3:8b",),
    ),
    "LM Studio": (
        {
            "data": [
                {"id": "qwen2.5-coder-7b-instruct", "object": "model", "owned_by": "organization"},
                {
                    "id": "text-embedding-nomic-embed-text-v1.5",
                    "object": "model",
                    "owned_by": "organization_owner",
                },
            ],
            "object": "list",
        },
        ("qwen2.5-coder-7b-instruct",),
    ),
    "llama.cpp": (
        {
            "models": [
                {
                    "name": "qwen2.5-coder-7b-q4_k_m.gguf",
                    "model": "qwen2.5-coder-7b-q4_k_m.gguf",
                    "modified_at": "",
                    "capabilities": ["completion"],
                    "details": {"format": "gguf", "families": [""]},
                }
            ],
            "object": "list",
            "data": [
                {
                    "id": "qwen2.5-coder-7b-q4_k_m.gguf",
                    "object": "model",
                    "created": 1758012345,
                    "owned_by": "llamacpp",
                    "meta": {"n_vocab": 152064, "n_ctx_train": 32768, "n_params": 7615616512},
                }
            ],
        },
        ("qwen2.5-coder-7b-q4_k_m.gguf",),
    ),
    "vLLM": (
        {
            "object": "list",
            "data": [
                {
                    "id": "Qwen/Qwen2.5-Coder-7B-Instruct",
                    "object": "model",
                    "created": 1758012345,
                    "owned_by": "vllm",
                    "root": "Qwen/Qwen2.5-Coder-7B-Instruct",
                    "parent": None,
                    "max_model_len": 32768,
                    "permission": [{"id": "modelperm-1", "object": "model_permission"}],
                }
            ],
        },
        ("Qwen/Qwen2.5-Coder-7B-Instruct",),
    ),
}


@pytest.mark.parametrize("title", USUAL)
async def test_each_of_the_four_is_found_and_offered(title: str) -> None:
    body, names = RECORDED[title]
    with serving(saying(json.dumps(body).encode())) as url:
        (server,) = await find_servers({title: url})

        assert server.models == names
        (offer,) = suggested_models.of_servers((server,))
        assert (offer.title, offer.description) == (title, f"{names[0]} at {url}")
        assert offer.command == f"exploracoder explore … --base-url {url} --model {names[0]}"


def test_of_many_models_a_few_are_named() -> None:
    many = LocalServer(title="A", base_url="http://a", models=tuple("abcdefg"))

    (offer,) = suggested_models.of_servers((many,))

    assert offer.description == "a, b, c, d, e and 2 more at http://a"


def test_a_name_that_a_shell_would_read_otherwise_is_quoted() -> None:
    odd = LocalServer(title="A", base_url="http://a", models=("m; rm -rf x",))

    (offer,) = suggested_models.of_servers((odd,))

    assert offer.command.endswith("--model 'm; rm -rf x'")


def test_keys_are_named_by_their_variables_and_never_shown() -> None:
    environment = {"GROQ_API_KEY": KEY, "GOOGLE_API_KEY": KEY, "MISTRAL_API_KEY": " ", "X": KEY}

    offers = suggested_models.of_keys(environment)

    assert [one.title for one in offers] == ["Gemini", "Groq"]
    assert offers[0].description.startswith("GOOGLE_API_KEY is set")
    assert offers[1].command.endswith("--base-url https://api.groq.com/openai/v1 --model NAME")
    assert KEY not in str(offers)


def test_a_key_goes_to_its_own_provider() -> None:
    environment = {"GROQ_API_KEY": KEY, "OPENAI_API_KEY": "other"}

    def key(url: str) -> str:
        return key_in_environment(url, environment)

    assert key("https://api.groq.com/openai/v1") == KEY
    assert key("https://api.mistral.ai/v1") == "other"
    assert key_in_environment("https://api.mistral.ai/v1", {"GROQ_API_KEY": KEY}) == ""


async def test_where_there_is_no_model_those_that_are_found_are_offered_and_not_asked(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("EXPLORACODER_CACHE", str(tmp_path))
    monkeypatch.setenv("GROQ_API_KEY", KEY)
    with ScriptedModelServer("x") as server:
        monkeypatch.setattr(discovery, "USUAL", {"Ollama": server.base_url})
        with pytest.raises(NoWeightsError) as error:
            async with prepare.open_model("embedded", None):
                pass

        assert [one.path for one in server.requests] == ["/v1/models"]
    assert f"--base-url {server.base_url} --model scripted" in str(error.value)
    assert "GROQ_API_KEY" in str(error.value)
    assert KEY not in str(error.value)


async def test_an_endpoint_without_a_model_says_which_it_has() -> None:
    with ScriptedModelServer("x") as server, pytest.raises(InputError) as error:
        async with prepare.open_model(None, server.base_url):
            pass

    assert f"--base-url {server.base_url} --model scripted" in str(error.value)


def test_doctor_offers_what_was_found(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("GROQ_API_KEY", KEY)
    with ScriptedModelServer("x") as server:
        monkeypatch.setattr(discovery, "USUAL", {"Ollama": server.base_url})
        doctor.main(["--json"], standalone_mode=False)

    output = capsys.readouterr().out
    findings = {one["topic"]: one for one in json.loads(output)}
    assert findings["found: Ollama"]["advice"].endswith(f"{server.base_url} --model scripted")
    assert findings["found: Groq"]["level"] == "ok"
    assert KEY not in output


async def test_a_redirect_is_not_followed() -> None:
    with ScriptedModelServer("x") as other:
        elsewhere = saying(b"", status=302, Location=f"{other.base_url}/models")
        with serving(elsewhere) as url:
            servers = await find_servers({"X": url})

        assert servers == ()
        assert other.requests == []


async def test_all_are_asked_at_once_and_none_for_long() -> None:
    with serving(slow) as url:
        start = time.monotonic()
        servers = await find_servers({str(number): url for number in range(8)}, timeout_s=0.5)
        seconds = time.monotonic() - start

    assert servers == ()
    assert seconds < 4


async def test_no_proxy_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    with ScriptedModelServer("x") as proxy, ScriptedModelServer("x") as server:
        monkeypatch.setenv("HTTP_PROXY", proxy.base_url.removesuffix("/v1"))
        monkeypatch.setenv("ALL_PROXY", proxy.base_url.removesuffix("/v1"))
        servers = await find_servers({"X": server.base_url})

        assert len(servers) == 1
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
    assert not is_plain_loopback(url)
    assert await find_servers({"X": url}) == ()
