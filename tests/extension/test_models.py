"""Which model an exploration asks, whose key goes where, and fetching the embedded one."""

from __future__ import annotations

import asyncio
import hashlib
import json
import logging
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from exploracoder.models.catalogue import DEFAULT, ModelFile, model_named
from exploracoder.models.downloads import Hub
from exploracoder.models.embedded_choice import choose_model
from exploracoder.models.weights import WeightsStore
from exploracoder.testing import ScriptedModelServer
from exploracoder_jupyter.weights_download import WeightsDownload
from exploracoder_jupyter.workshop import Choices
from model_hubs import hub_with
from waiting import until

from .conftest import House, Model, TeaModel, request
from .server import Client

# Longer than what counts as a placeholder.
KEY, OTHER_KEY = "a-key-of-the-configured-endpoint", "a-key-of-another-endpoint"


@asynccontextmanager
async def client_of(house: House, name: str, **options: Any) -> AsyncIterator[Client]:
    client = Client(house.server(name, **options))
    yield client
    await client.aclose()
    client.server.stop()


@pytest.fixture
def other() -> Iterator[ScriptedModelServer]:
    """A model server that somebody runs beside Jupyter."""
    with ScriptedModelServer(TeaModel(), model="qwen3:8b") as server:
        yield server


def keys_of(server: ScriptedModelServer) -> set[str | None]:
    return {one.headers.get("authorization") for one in server.chat_requests}


async def test_what_runs_on_this_machine_is_found_and_not_used_unasked(
    house: House, model: Model, other: ScriptedModelServer
) -> None:
    places = f"--ExploraCoder.local_servers={{'Ollama': '{other.base_url}'}}"
    async with client_of(house, "finds", options=(places,)) as client:
        models = (await client.get("models")).json
        start = await client.start(**request())
        await client.rested(start["exploration"]["id"])

    server = {"title": "Ollama", "base_url": other.base_url, "models": ["qwen3:8b"]}
    assert models["servers"] == [server]
    assert models["embedded"]["size_bytes"] == 1_117_320_768
    assert other.chat_requests == []


async def test_the_model_that_was_chosen_is_asked_without_a_key_and_asked_again_later(
    house: House, model: Model, other: ScriptedModelServer
) -> None:
    other.script = TeaModel(is_lost=True)
    choice = {"name": "qwen3:8b", "base_url": other.base_url}
    async with client_of(house, "chooses", variables={"OPENAI_API_KEY": KEY}) as client:
        start = await client.start(**request(model=choice))
        id_, path = start["exploration"]["id"], start["path"]
        await client.rested(id_)
        asked_before = len(other.chat_requests)
        await client.ask("DELETE", f"explorations/{id_}")
        content = (client.server.root / path).read_text(encoding="utf-8")
        answer = await client.post("explorations/open", {"path": path})
        await client.rested(id_)
        await client.do(id_, "go_on")
        await client.rested(id_)
        log = client.server.log

    assert asked_before
    assert len(other.chat_requests) > asked_before
    assert keys_of(other) == {None}
    assert answer.json["exploration"]["choice"] == choice
    assert json.loads(content)["metadata"]["exploracoder"]["choice"] == choice
    assert answer.json["exploration"]["model"] == "qwen3:8b"
    assert KEY not in content + log


async def test_a_key_goes_where_it_was_configured_for(
    house: House, model: Model, other: ScriptedModelServer
) -> None:
    options = (f"--ExploraCoder.key_variables={{'{other.base_url}': 'TEA_KEY'}}",)
    variables = {"TEA_KEY": OTHER_KEY, "OPENAI_API_KEY": KEY}
    async with client_of(house, "keys", options=options, variables=variables) as client:
        for base_url in (other.base_url, house.endpoint.base_url):
            choice = {"name": "scripted", "base_url": base_url}
            start = await client.start(**request(model=choice))
            await client.rested(start["exploration"]["id"])

    assert keys_of(other) == {f"Bearer {OTHER_KEY}"}
    assert house.endpoint.chat_requests[-1].headers["authorization"] == f"Bearer {KEY}"


def test_a_providers_own_key_goes_to_the_provider_and_openais_to_the_server_configured(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("MISTRAL_API_KEY", OTHER_KEY)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-proj-of-openai")
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    choices = Choices(base_url="https://gateway.internal/v1")

    keys = [
        choices.key_for_server(url)
        for url in ("https://api.mistral.ai/v1", choices.base_url, "https://elsewhere.example/v1")
    ]

    assert keys == [OTHER_KEY, "sk-proj-of-openai", ""]


async def test_a_model_that_is_gone_is_named_and_another_can_take_its_place(
    client: Client, house: House
) -> None:
    with ScriptedModelServer(TeaModel(), model="qwen3:8b") as other:
        choice = {"name": "qwen3:8b", "base_url": other.base_url}
        start = await client.start(**request(model=choice))
        id_, path = start["exploration"]["id"], start["path"]
        await client.rested(id_)
        await client.ask("DELETE", f"explorations/{id_}")
        other.model = "llama3"
        no_model = await client.post("explorations/open", {"path": path})

    no_server = await client.post("explorations/open", {"path": path})
    here = {"name": "scripted", "base_url": house.endpoint.base_url}
    answer = await client.post("explorations/open", {"path": path, "model": here})
    await client.rested(id_)

    assert (no_model.status, no_server.status) == (409, 409)
    assert "It has: llama3" in no_model.message
    assert other.base_url in no_server.message
    assert no_server.json["gone"] == choice
    assert answer.status == 200, answer.text
    assert answer.json["exploration"]["choice"] == here


async def test_a_server_that_wants_a_key_and_gets_none_says_what_to_do(client: Client) -> None:
    with ScriptedModelServer(TeaModel(), require_key="a-secret-of-its-own") as other:
        choice = {"name": "scripted", "base_url": other.base_url}
        start = await client.start(**request(model=choice))
        state = await client.rested(start["exploration"]["id"])

    assert "none is configured for it" in state["progress"]["error"]


async def test_the_embedded_model_is_refused_until_it_is_there(client: Client) -> None:
    answer = await client.post("explorations", request(model={"name": "embedded"}))

    assert answer.status == 503
    assert "Fetch it once" in answer.message


async def test_a_download_that_finds_no_source_says_why(client: Client) -> None:
    answer = await client.post("models/pull", {})
    state = answer.json
    while state["is_pulling"]:
        await asyncio.sleep(0.05)
        state = (await client.get("models/pull")).json

    assert answer.status == 202
    assert "HF_HUB_OFFLINE" in state["error"]


def test_the_download_is_that_of_the_model_in_use(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EXPLORACODER_CACHE", str(tmp_path))
    (tmp_path / "models").mkdir()
    pulling = WeightsDownload(logging.getLogger("test"))
    before = pulling.state().name
    choose_model(tmp_path / "models", model_named("qwen2.5-coder-7b"))

    assert before == DEFAULT.name
    assert pulling.state().name == "qwen2.5-coder-7b-instruct-q4_k_m"


async def test_a_download_is_told_ended_and_gone_on_with(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    content, block = bytes(range(256)) * 4_096, 1 << 18
    model_file = ModelFile(
        name="toy",
        file_name="toy.gguf",
        size_bytes=len(content),
        sha256=hashlib.sha256(content).hexdigest(),
        sources=(Hub(repository="maker/toy", file_name="toy.gguf"),),
        license="MIT",
    )
    pulling = WeightsDownload(logging.getLogger("test"), WeightsStore(model_file, tmp_path))
    with hub_with(monkeypatch, content, block=block) as hub:
        before = pulling.state()
        pulling.start()
        pulling.start()
        hub.goes_on.release()
        await until(lambda: pulling.state().done_bytes == block)
        half = pulling.state()
        pulling.cancel()
        after_cancel = pulling.state()
        hub.goes_on.release()
        pulling.start()
        await until(lambda: len(hub.asked) == 2)
        hub.goes_on.release(8)
        await until(lambda: pulling.state().is_there)
        await until(lambda: not pulling.state().is_pulling)

    assert (before.is_there, before.is_pulling, before.done_bytes) == (False, False, 0)
    assert (half.is_pulling, half.size_bytes, half.license) == (True, 4 * block, "MIT")
    assert (after_cancel.is_pulling, after_cancel.error) == (False, "")
    first, second = (byte_range for _, byte_range in hub.asked)
    assert first == "bytes=0-"
    assert int(second.removeprefix("bytes=").rstrip("-")) >= block
    assert (tmp_path / "toy.gguf").read_bytes() == content
    assert pulling.state().error == ""
