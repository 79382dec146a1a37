from __future__ import annotations

import asyncio
import hashlib
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
from exploracoder.errors import SetupError
from exploracoder.models import hardware
from exploracoder.models.adapter import BASE_KEY
from exploracoder.models.catalogue import DEFAULT, ModelFile
from exploracoder.models.chat import Message, Sampling
from exploracoder.models.counting import CountingModel
from exploracoder.models.gguf_header import read_header
from exploracoder.models.local import (
    DEFAULT_LINGER_S,
    EmbeddedModel,
    ServerPlace,
    model_status,
    server_environment,
)
from exploracoder.models.local_server import Announcement, Hello, LeaseBoard
from exploracoder.models.structured import complete_json
from exploracoder.models.weights import WeightsStore
from exploracoder_kernel.branch.linux import read_process
from gguf_files import Value, write_gguf
from pydantic import BaseModel
from waiting import until

ANNOUNCEMENT = Announcement(pid=1, base_url="http://127.0.0.1:1/v1", api_key="k", model="m")

NEEDS = {"weights_bytes": DEFAULT.size_bytes, "token_bytes": DEFAULT.context_token_bytes}

HOLDER = """
import asyncio
from exploracoder.models.local import EmbeddedModel

async def main():
    embedded = EmbeddedModel(linger_s=1.0)
    async with embedded:
        print(embedded.server.pid, flush=True)
        await asyncio.sleep(600)

asyncio.run(main())
"""


@pytest.fixture
def cache_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("EXPLORACODER_CACHE", str(tmp_path))
    return tmp_path


@contextmanager
def board_at(
    path: Path, linger_s: float, announcement: Announcement = ANNOUNCEMENT
) -> Iterator[threading.Thread]:
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        listener.listen()
        board = threading.Thread(target=LeaseBoard(listener, announcement, linger_s).run)
        board.start()
        yield board
        board.join(10)


def connect(path: Path, hello: Hello) -> tuple[socket.socket, Announcement]:
    connection = socket.socket(socket.AF_UNIX)
    connection.settimeout(5)
    connection.connect(str(path))
    connection.sendall(hello.model_dump_json().encode() + b"\n")
    with connection.makefile("rb") as lines:
        return connection, Announcement.model_validate_json(lines.readline())


@pytest.mark.parametrize(
    ("text", "linger_s"),
    [("7", 7), ("-1", 0), ("nan", 0), ("inf", 1e6), ("1e300", 1e6), ("tea", DEFAULT_LINGER_S)],
)
def test_a_linger_that_no_clock_takes_is_shortened(
    text: str, linger_s: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EXPLORACODER_MODEL_LINGER_S", text)

    assert EmbeddedModel().linger_s == linger_s


def test_a_server_that_nobody_asks_ends_after_its_linger(tmp_path: Path) -> None:
    start = time.monotonic()
    with board_at(tmp_path / "s", linger_s=0.2) as board:
        pass

    assert not board.is_alive()
    assert 0.2 <= time.monotonic() - start < 5


def test_a_lease_keeps_the_server_and_the_last_one_to_go_says_for_how_long(tmp_path: Path) -> None:
    with board_at(tmp_path / "s", linger_s=5) as board:
        first, answer = connect(tmp_path / "s", Hello(linger_s=60))
        second, _ = connect(tmp_path / "s", Hello(linger_s=0))
        first.close()
        board.join(0.3)
        was_kept = board.is_alive()
        second.close()
        board.join(5)
        has_ended = not board.is_alive()

    assert answer == ANNOUNCEMENT
    assert was_kept
    assert has_ended


def test_a_visitor_who_came_while_it_loaded_is_answered_even_without_linger(
    tmp_path: Path,
) -> None:
    with socket.socket(socket.AF_UNIX) as listener, socket.socket(socket.AF_UNIX) as early:
        listener.bind(str(tmp_path / "s"))
        listener.listen()
        early.connect(str(tmp_path / "s"))
        early.sendall(Hello(linger_s=0).model_dump_json().encode() + b"\n")
        early.shutdown(socket.SHUT_WR)
        LeaseBoard(listener, ANNOUNCEMENT, 0.0).run()
        answer = early.recv(1000)

    assert Announcement.model_validate_json(answer) == ANNOUNCEMENT


def test_asking_for_the_status_is_no_lease(tmp_path: Path) -> None:
    with board_at(tmp_path / "s", linger_s=1.5) as board:
        connection, answer = connect(tmp_path / "s", Hello(lease=False))
        board.join(10)
        has_ended = not board.is_alive()
        connection.close()

    assert answer == ANNOUNCEMENT
    assert has_ended


def test_a_visitor_who_talks_nonsense_is_shown_the_door(tmp_path: Path) -> None:
    with board_at(tmp_path / "s", linger_s=1.5), socket.socket(socket.AF_UNIX) as connection:
        connection.connect(str(tmp_path / "s"))
        connection.sendall(b"GET / HTTP/1.1\n")
        answer = connection.recv(100)

    assert answer == b""


def test_a_server_that_could_not_load_says_so_and_keeps_no_lease(tmp_path: Path) -> None:
    failure = Announcement(pid=1, problem="no memory")
    with board_at(tmp_path / "s", linger_s=1.5, announcement=failure) as board:
        connection, answer = connect(tmp_path / "s", Hello(linger_s=60))
        board.join(10)
        has_ended = not board.is_alive()
        connection.close()

    assert answer.problem == "no memory"
    assert has_ended


async def test_without_weights_the_error_says_how_to_get_them(cache_folder: Path) -> None:
    with pytest.raises(SetupError, match="exploracoder model pull"):
        async with EmbeddedModel():
            pass

    assert model_status().is_present is False


async def test_a_file_that_is_no_model_ends_with_the_servers_reason(cache_folder: Path) -> None:
    content = b"this is not a model"
    file = ModelFile("toy", "toy.gguf", len(content), hashlib.sha256(content).hexdigest(), ())
    store = WeightsStore(file)
    store.folder.mkdir(parents=True)
    store.path.write_bytes(content)
    store.pull()

    with pytest.raises(SetupError, match=r"could not be loaded|ended while it was starting"):
        async with EmbeddedModel(store=store):
            pass


def test_the_servers_environment_holds_no_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    monkeypatch.setenv("DATABASE_PASSWORD", "secret")
    monkeypatch.setenv("LC_ALL", "C.UTF-8")

    environment = server_environment()

    assert environment["LC_ALL"] == "C.UTF-8"
    assert not any("secret" in value for value in environment.values())


def test_only_the_user_can_enter_the_servers_folder(cache_folder: Path) -> None:
    place = ServerPlace.for_model(WeightsStore(), 1024)

    assert place.socket_path.parent.stat().st_mode & 0o777 == 0o700


def test_a_long_cache_path_still_gets_a_socket(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EXPLORACODER_CACHE", str(tmp_path / ("long" * 30)))

    place = ServerPlace.for_model(WeightsStore(), 1024)

    assert len(os.fsencode(place.socket_path)) <= 100


@pytest.mark.parametrize(("gib", "tokens"), [(8, 16_384), (2.7, 8_192), (2.1, 4_096), (1, 0)])
def test_the_context_shrinks_with_the_memory_that_is_free(gib: float, tokens: int) -> None:
    assert hardware.context_for_memory(int(gib * (1 << 30)), 16_384, **NEEDS) == tokens


def test_each_slot_has_a_context_of_its_own_in_memory() -> None:
    gib = 1 << 30
    assert hardware.context_for_memory(4 * gib, 16_384, slots=3, **NEEDS) == 16_384
    assert hardware.context_for_memory(int(3.5 * gib), 16_384, slots=4, **NEEDS) == 8_192
    assert hardware.context_for_memory(3 * gib, 16_384, slots=64, **NEEDS) == 0


@pytest.mark.parametrize("given", ["0", "-1", "65", "two", "1.5"])
def test_a_number_of_slots_that_is_none_is_refused(
    given: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EXPLORACODER_MODEL_SLOTS", given)
    with pytest.raises(SetupError, match=r"EXPLORACODER_MODEL_SLOTS is .*1 to 64"):
        EmbeddedModel()


def test_servers_with_other_slots_are_not_shared(cache_folder: Path) -> None:
    one, four = (ServerPlace.for_model(WeightsStore(), 1024, slots=slots) for slots in (1, 4))
    assert one.socket_path != four.socket_path


def test_this_machine_has_cores_and_memory() -> None:
    assert 1 <= hardware.physical_cores() <= (os.cpu_count() or 1)
    assert 0 < hardware.available_memory_bytes() <= hardware.total_memory_bytes()


@pytest.mark.parametrize(
    "files",
    [
        {"memory.max": "300000", "memory.stat": "anon 100000\nfile 9"},
        {"memory/memory.limit_in_bytes": "300000", "memory/memory.stat": "total_rss 100000"},
    ],
    ids=["version 2", "version 1"],
)
def test_a_container_has_the_memory_that_it_may_use(
    files: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    monkeypatch.setattr(hardware, "_CONTROL_GROUP", tmp_path)

    memory_bytes = hardware.total_memory_bytes(), hardware.available_memory_bytes()

    assert memory_bytes == (300_000, 200_000)


@pytest.mark.parametrize(
    ("files", "cores"),
    [
        ({"cpu.max": "300000 100000"}, 3),
        ({"cpu.max": "max 100000"}, 64),
        ({"cpu/cpu.cfs_quota_us": "150000\n", "cpu/cpu.cfs_period_us": "100000\n"}, 1),
        ({"cpu/cpu.cfs_quota_us": "-1\n", "cpu/cpu.cfs_period_us": "100000\n"}, 64),
        ({}, 64),
    ],
)
def test_a_container_has_the_cores_that_its_quota_is_for(
    files: dict[str, str], cores: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    monkeypatch.setattr(hardware, "_CONTROL_GROUP", tmp_path)
    monkeypatch.setattr(hardware, "_siblings", str)
    monkeypatch.setattr(os, "cpu_count", lambda: 64)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: range(64), raising=False)

    assert hardware.physical_cores() == cores


class Verdict(BaseModel):
    is_even: bool


@pytest.mark.model
async def test_the_embedded_model_is_shared_and_dies_with_its_last_owner() -> None:
    await asyncio.to_thread(WeightsStore().pull)
    holder = await asyncio.create_subprocess_exec(
        sys.executable, "-c", HOLDER, stdout=subprocess.PIPE
    )
    assert holder.stdout is not None
    server_pid = int(await asyncio.wait_for(holder.stdout.readline(), 90))

    embedded = EmbeddedModel(linger_s=1.0)
    async with embedded as model:
        assert embedded.server is not None
        shared_pid = embedded.server.pid
        question = [Message("user", "Is 4 an even number? Answer as JSON.")]
        counting = CountingModel(model)
        verdict = await complete_json(counting, question, Sampling(max_tokens=50), Verdict)
        bound = await model.complete(question, Sampling(grammar='root ::= "maybe"'))
        status = model_status()
    await asyncio.sleep(2)
    is_kept_by_holder = read_process(server_pid) is not None
    os.kill(holder.pid, signal.SIGKILL)
    await holder.wait()

    assert shared_pid == server_pid
    assert verdict.is_even
    assert counting.usage.prompt_tokens > 0
    assert bound.text == "maybe"
    assert status.server is not None and status.server.pid == server_pid
    assert is_kept_by_holder
    await until(lambda: not read_process(server_pid))
    assert model_status().server is None


@pytest.mark.model
async def test_two_runs_that_start_together_share_one_server() -> None:
    await asyncio.to_thread(WeightsStore().pull)

    async def run() -> int:
        embedded = EmbeddedModel(linger_s=0.0)
        async with embedded:
            await asyncio.sleep(1)
            assert embedded.server is not None
            return embedded.server.pid

    pids = set(await asyncio.gather(run(), run()))

    (pid,) = pids
    await until(lambda: not read_process(pid))


def write_zero_adapter(path: Path, store: WeightsStore) -> Path:
    """An adapter for the projections of queries and values that changes nothing."""
    header = read_header(store.path)
    shapes: dict[str, tuple[int, ...]] = {}
    for name, shape in header.shapes.items():
        if re.fullmatch(r"blk\.\d+\.attn_[qv]\.weight", name):
            shapes |= {f"{name}.lora_a": (shape[0], 2), f"{name}.lora_b": (2, shape[1])}
    metadata: dict[str, Value] = {"general.architecture": header.architecture}
    metadata |= {"general.type": "adapter", "adapter.type": "lora", "adapter.lora.alpha": 4.0}
    return write_gguf(path, metadata | {BASE_KEY: store.model.sha256}, shapes, has_data=True)


def loaded_adapters(server: Announcement | None) -> list[tuple[str, float]]:
    """The names and scales of the adapters that a server says it has loaded."""
    assert server is not None
    url = f"{server.base_url.removesuffix('/v1')}/lora-adapters"
    reply = httpx.get(url, headers={"Authorization": f"Bearer {server.api_key}"}, timeout=60)
    return [(Path(one["path"]).name, one["scale"]) for one in reply.raise_for_status().json()]


@pytest.mark.model
async def test_an_adapter_has_a_server_of_its_own_that_loaded_it(tmp_path: Path) -> None:
    await asyncio.to_thread(WeightsStore().pull)
    adapter = write_zero_adapter(tmp_path / "zero.gguf", WeightsStore())
    question = [Message("user", "What is the capital of France? Answer with its name alone.")]
    greedy = Sampling(temperature=0.0, max_tokens=4)

    plain, adapter_model = EmbeddedModel(linger_s=0.0), EmbeddedModel(linger_s=0.0, lora=adapter)
    async with plain as model, adapter_model as other:
        servers = [plain.server, adapter_model.server]
        adapters = [await asyncio.to_thread(loaded_adapters, one) for one in servers]
        texts = [(await one.complete(question, greedy)).text for one in (model, other)]
        bound = await other.complete(question, Sampling(grammar='root ::= "maybe"'))
        names = (model.name, other.name)

    plain_pid, adapter_pid = (one.pid if one is not None else 0 for one in servers)
    assert adapters == [[], [("zero.gguf", 1.0)]]
    assert names[1] == f"{names[0]}+zero"
    assert texts[0] == texts[1] != ""
    assert bound.text == "maybe"
    # Other tests may use the plain one.
    assert adapter_pid != plain_pid
    await until(lambda: not read_process(adapter_pid))
