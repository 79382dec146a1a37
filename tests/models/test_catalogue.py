from __future__ import annotations

import hashlib
import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from exploracoder.cli import cli
from exploracoder.errors import InputError, SetupError
from exploracoder.models import catalogue, hardware
from exploracoder.models.catalogue import CATALOGUE, DEFAULT, ModelFile, model_named
from exploracoder.models.downloads import Hub
from exploracoder.models.gguf_header import read_header
from exploracoder.models.local import EmbeddedModel, ServerPlace
from exploracoder.models.local_server import Announcement, LeaseBoard
from exploracoder.models.weights import WeightsStore
from filelock import FileLock
from gguf_files import write_gguf
from model_hubs import hub_with

CONTENT = bytes(range(256)) * 600
TOY = ModelFile(
    name="toy-instruct-q4_k_m",
    file_name="toy.gguf",
    size_bytes=len(CONTENT),
    sha256=hashlib.sha256(CONTENT).hexdigest(),
    sources=(Hub(repository="maker/toy", file_name="toy.gguf"),),
    license="Toy License",
    short_name="toy",
    terms="not for grown-ups",
)


@pytest.fixture(autouse=True)
def cache_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache, and a catalogue with a small model."""
    monkeypatch.setenv("EXPLORACODER_CACHE", str(tmp_path))
    monkeypatch.setenv("COLUMNS", "160")
    monkeypatch.setattr(catalogue, "CATALOGUE", (*CATALOGUE, TOY))
    return tmp_path


def run(*words: str) -> Result:
    return CliRunner().invoke(cli, ["model", *words])


def listed(name: str) -> dict[str, Any]:
    models: list[dict[str, Any]] = json.loads(run("list", "--json").output)
    return next(one for one in models if one["short_name"] == name)


def pulled(monkeypatch: pytest.MonkeyPatch) -> WeightsStore:
    store = WeightsStore(TOY)
    with hub_with(monkeypatch, CONTENT):
        store.pull()
    return store


@contextmanager
def server_of(model: str) -> Iterator[Path]:
    """A server that says it serves a model, in the folder where the user's servers listen."""
    path = ServerPlace.for_model(WeightsStore(), 1024).socket_path.with_name("other.sock")
    announcement = Announcement(
        pid=4711, base_url="http://127.0.0.1:1/v1", api_key="k", model=model
    )
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        listener.listen()
        board = threading.Thread(target=LeaseBoard(listener, announcement, 1.0).run)
        board.start()
        yield path
        board.join(10)


def test_every_entry_says_what_a_user_has_to_know() -> None:
    for model in CATALOGUE:
        assert len(model.sha256) == 64 and int(model.sha256, 16)
        assert model.title and model.publisher and model.license and model.sources
        assert model.memory_bytes > model.size_bytes > 1e9
        assert bool(model.terms) == (model.license != "Apache-2.0")
        assert bool(model.quality) == bool(model.quality_source)
    for attribute in ("name", "short_name", "file_name", "sha256"):
        assert len({getattr(model, attribute) for model in CATALOGUE}) == len(CATALOGUE)


def test_only_what_was_measured_here_is_said_to_be() -> None:
    assert [one.label for one in CATALOGUE if "here" in one.quality] == [DEFAULT.label]


@pytest.mark.parametrize("name", ["toy", "TOY", "toy-instruct-q4_k_m"])
def test_a_model_goes_by_its_short_and_its_long_name(name: str) -> None:
    assert model_named(name) == TOY


@pytest.mark.parametrize("command", ["pull", "use", "remove"])
def test_a_name_that_no_model_has_is_answered_with_those_that_there_are(command: str) -> None:
    error = run(command, "gpt-99").exception

    assert isinstance(error, InputError)
    assert "'gpt-99'" in str(error)
    assert "qwen2.5-coder-7b, qwen2.5-coder-14b" in str(error)


def test_the_list_says_what_is_here_and_how_much_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    before = listed("toy")
    store = WeightsStore(TOY)
    store.folder.mkdir()
    store.partial_path.write_bytes(CONTENT[: len(CONTENT) // 2])
    half, table = listed("toy"), run("list").output
    pulled(monkeypatch)
    whole = listed("toy")

    assert (before["state"], before["done_bytes"]) == ("not there", 0)
    assert (half["state"], half["done_bytes"]) == ("partial", len(CONTENT) // 2)
    assert "partial, 50 %" in table
    assert (whole["state"], whole["is_in_use"]) == ("pulled", False)
    assert listed(DEFAULT.label)["is_in_use"]
    assert "toy: Toy License, not for grown-ups." in table
    assert TOY.sha256 == whole["sha256"]


def test_the_list_says_which_models_the_machine_has_the_memory_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(hardware, "total_memory_bytes", lambda: 4_000_000_000)
    monkeypatch.setattr(hardware, "available_memory_bytes", lambda: 3_000_000_000)

    large, small = listed("qwen2.5-coder-14b"), listed(DEFAULT.label)

    assert small["fits"] and small["occupied_bytes"] == 0
    assert not large["fits"]
    assert large["missing_bytes"] == large["memory_bytes"] - 4_000_000_000
    assert "lacks 6.7 GB" in run("list").output


def test_a_pull_that_was_interrupted_is_gone_on_with_by_the_command(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    store = WeightsStore(TOY)

    def interrupt(byte_count: int, total: int) -> None:
        raise KeyboardInterrupt

    with hub_with(monkeypatch, CONTENT, stop_after=70_000):
        with pytest.raises(KeyboardInterrupt):
            store.pull(interrupt)
        there = store.status().size_bytes
    with hub_with(monkeypatch, CONTENT) as hub:
        result = run("pull", "toy", "--json")

    assert 0 < there < len(CONTENT)
    assert hub.asked == [("/maker/toy/resolve/main/toy.gguf", f"bytes={there}-")]
    assert json.loads(result.stdout)["is_verified"]
    assert "License of toy: Toy License, not for grown-ups." in result.stderr


def test_a_file_that_has_another_size_by_now_is_refused_before_it_is_fetched(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    store = WeightsStore(TOY)
    with hub_with(monkeypatch, CONTENT + b"more"):
        error = run("pull", "toy").exception

    assert isinstance(error, SetupError)
    assert f"{len(CONTENT) + 4} bytes, not {len(CONTENT)}" in str(error)
    assert "exploracoder model pull toy" in str(error)
    assert not store.is_verified and store.status().size_bytes == 0
    assert listed("toy")["state"] == "not there"


def test_a_shorter_file_is_refused_also_when_more_of_it_was_fetched_before(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    store = WeightsStore(TOY)
    store.folder.mkdir()
    store.partial_path.write_bytes(CONTENT[:1000])
    with hub_with(monkeypatch, CONTENT[:500]):
        error = run("pull", "toy").exception

    assert isinstance(error, SetupError)
    assert f"500 bytes, not {len(CONTENT)}" in str(error)


def test_what_lies_there_instead_of_the_model_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    store = WeightsStore(TOY)
    other = write_gguf(
        tmp_path / "other.gguf",
        {"general.architecture": "llama", "general.name": "Another"},
        {"output.weight": (len(CONTENT) // 4, 1)},
        has_data=True,
    ).read_bytes()
    notes = list[str]()
    store.folder.mkdir()
    for content in (CONTENT[:1000], bytes(len(CONTENT)), other):
        store.path.write_bytes(content)
        with hub_with(monkeypatch, CONTENT):
            store.pull(on_note=notes.append)

    warnings = [note for note in notes if "Fetching it again." in note]
    assert f"cut short: 1000 of {len(CONTENT)} bytes" in warnings[0]
    assert "holds something else than a model" in warnings[1]
    assert "says it is Another (llama)" in warnings[2]
    assert store.path.read_bytes() == CONTENT


def test_a_model_that_is_not_there_is_not_used() -> None:
    error = run("use", "toy").exception

    assert isinstance(error, InputError)
    assert "exploracoder model pull toy" in str(error)
    assert WeightsStore().model == DEFAULT


def test_a_file_that_was_cut_short_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    pulled(monkeypatch).path.write_bytes(CONTENT[:100])

    assert "toy is cut short" in str(run("use", "toy").exception)
    assert listed("toy")["state"] == "unchecked"


def test_the_model_in_use_is_that_of_every_store(monkeypatch: pytest.MonkeyPatch) -> None:
    pulled(monkeypatch)

    result = run("use", "toy")

    assert "The embedded model is toy now." in result.output
    assert WeightsStore().model == EmbeddedModel().store.model == TOY
    assert listed("toy")["is_in_use"] and not listed(DEFAULT.label)["is_in_use"]
    assert run("status").output.startswith("toy-instruct-q4_k_m: verified")
    assert run("pull").exit_code == 0


@pytest.mark.parametrize("content", ["", "{", "[]", '{"model": "gpt-99"}', '{"model": 1}', "\0"])
def test_a_choice_that_means_nothing_is_as_good_as_none(content: str, cache_folder: Path) -> None:
    (cache_folder / "models").mkdir()
    (cache_folder / "models" / "chosen.json").write_text(content)

    assert WeightsStore().model == DEFAULT


def test_what_is_removed_leaves_nothing_and_the_default_one_is_in_use(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    store = pulled(monkeypatch)
    store.use()
    store.partial_path.write_bytes(b"half")

    result = run("remove", "toy")

    assert "0.0 GB freed" in result.output
    assert f"The embedded model is {DEFAULT.label} now." in result.output
    assert "exploracoder model pull" in result.output
    assert not [path for path in store.folder.glob("toy*") if path.suffix != ".lock"]
    assert WeightsStore().model == DEFAULT
    assert "Nothing was there." in run("remove", "toy").output


@pytest.mark.parametrize("served", [TOY.name, f"{TOY.name}+adapter"])
def test_a_model_that_a_server_uses_is_not_removed(
    monkeypatch: pytest.MonkeyPatch, served: str
) -> None:
    store = pulled(monkeypatch)
    with server_of(served):
        error = run("remove", "toy").exception

    assert isinstance(error, SetupError)
    assert "process 4711" in str(error)
    assert store.is_verified


def test_another_models_server_keeps_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    store = pulled(monkeypatch)
    with server_of(DEFAULT.name):
        result = run("remove", "toy")

    assert result.exit_code == 0
    assert not store.path.exists()


def test_while_a_server_loads_nothing_is_removed(monkeypatch: pytest.MonkeyPatch) -> None:
    store = pulled(monkeypatch)
    path = ServerPlace.for_model(store, 1024).socket_path
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        listener.listen()
        error = run("remove", "toy").exception

    assert "a server that is starting" in str(error)
    assert store.is_verified


def test_a_model_is_not_removed_while_it_is_fetched(monkeypatch: pytest.MonkeyPatch) -> None:
    store = pulled(monkeypatch)
    with FileLock(store.folder / "toy.gguf.lock"):
        error = run("remove", "toy").exception

    assert "Another process is fetching toy" in str(error)
    assert store.is_verified


def test_doctor_says_which_models_fit_and_how_to_get_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hardware, "total_memory_bytes", lambda: 4_000_000_000)

    findings = json.loads(CliRunner().invoke(cli, ["doctor", "--json"]).output)

    fit = next(one for one in findings if one["topic"] == "models that fit")
    embedded = next(one for one in findings if one["topic"] == "embedded model")
    assert "qwen2.5-coder-3b (3.2 GB)" in fit["found"]
    assert "7b" not in fit["found"] and "4.0 GB of memory" in fit["found"]
    assert "exploracoder model pull NAME" in fit["advice"]
    assert embedded["advice"] == "exploracoder model pull (1.1 GB, once)"


def test_a_larger_model_needs_more_memory_for_the_same_context() -> None:
    large, gib = model_named("qwen2.5-coder-14b"), 1 << 30
    needs = {"weights_bytes": large.size_bytes, "token_bytes": large.context_token_bytes}

    assert hardware.context_for_memory(8 * gib, 16_384, **needs) == 0
    assert hardware.context_for_memory(large.memory_bytes, 16_384, **needs) == 4_096
    assert hardware.context_for_memory(16 * gib, 16_384, **needs) == 16_384


def test_the_file_says_what_a_token_of_context_needs(tmp_path: Path) -> None:
    metadata = {
        "general.architecture": "qwen3moe",
        "qwen3moe.block_count": 48.0,
        "qwen3moe.embedding_length": 2048.0,
        "qwen3moe.attention.head_count": 32.0,
        "qwen3moe.attention.head_count_kv": 4.0,
        "qwen3moe.attention.key_length": 128.0,
        "qwen3moe.attention.value_length": 128.0,
    }
    whole = read_header(write_gguf(tmp_path / "a.gguf", metadata, {}))
    silent = read_header(write_gguf(tmp_path / "b.gguf", {"general.architecture": "x"}, {}))

    assert whole.context_token_bytes == model_named("qwen3-coder-30b-a3b").context_token_bytes
    assert silent.context_token_bytes == 0


@pytest.mark.model
def test_the_published_file_says_what_the_catalogue_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("EXPLORACODER_CACHE")
    path = WeightsStore(DEFAULT).pull()

    assert read_header(path).context_token_bytes == DEFAULT.context_token_bytes
