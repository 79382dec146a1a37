"""What a server refuses or needs is remembered, and never more than that."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import pytest
from exploracoder import __version__, prepare
from exploracoder.effort import ReasoningEffort
from exploracoder.errors import ModelError
from exploracoder.models.chat import ChatModel, Message, Sampling
from exploracoder.models.dialect import Dialect, Learnt
from exploracoder.models.dialect_memory import DialectMemory
from exploracoder.models.openai_client import EMBEDDED, OpenAIChatModel
from exploracoder.models.reply_cache import ReplyCache
from exploracoder.testing import Failure, Outcome, Raw, RecordedRequest, ScriptedModelServer

ASK = [Message("user", "Say hello to me.")]
SCHEMA = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}
TOOLS = [{"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}}]
DAY_S = 24 * 3600.0
Ask = Callable[[ChatModel], Any]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "cache" / "dialects.json"


def client(server: ScriptedModelServer, file: Path, **options: Any) -> OpenAIChatModel:
    options = {"model": server.model, "max_retries": 0} | options
    return OpenAIChatModel(server.base_url, "sk-secret-key", dialects=file, **options)


def is_there(file: Path) -> bool:
    return file.exists()


def kept(file: Path) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(file.read_text())
    return content


def put(file: Path, content: object) -> None:
    file.write_text(json.dumps(content))


async def asked_by_a_new_client(
    server: ScriptedModelServer, file: Path, ask: Ask, **options: Any
) -> list[RecordedRequest]:
    """The requests that one question takes."""
    before = len(server.requests)
    async with client(server, file, **options) as model:
        await ask(model)
    return server.requests[before:]


def several(model: ChatModel) -> Any:
    return model.complete(ASK, Sampling(n=2))


def in_a_form(model: ChatModel) -> Any:
    return model.complete(ASK, Sampling(), schema=SCHEMA)


def with_tools(model: ChatModel) -> Any:
    return model.complete(ASK, Sampling(), tools=TOOLS)


def read_along(model: ChatModel) -> Any:
    return model.complete(ASK, Sampling(), on_text=lambda _: None)


def plainly(model: ChatModel) -> Any:
    return model.complete(ASK, Sampling(max_tokens=50))


def as_text(model: ChatModel) -> Any:
    return model.continue_text("Hello", Sampling(stop=("END",)))


def picky(request: RecordedRequest) -> Outcome:
    """A server of models that reason: another limit, one temperature."""
    if "max_tokens" in request.body:
        return Failure(400, "Unsupported 'max_tokens'. Use 'max_completion_tokens' instead.")
    if "temperature" in request.body:
        return Failure(400, "Unsupported value: 'temperature' does not support 0.0.")
    usage = {"prompt_tokens": 9, "completion_tokens": 30}
    usage |= {"completion_tokens_details": {"reasoning_tokens": 20}}  # type: ignore[dict-item]
    choice = {"message": {"role": "assistant", "content": "hello"}, "finish_reason": "stop"}
    return Raw(json.dumps({"choices": [choice], "usage": usage}))


def without_stream_options(request: RecordedRequest) -> Outcome:
    return Failure(400, "Unknown: stream_options") if "stream_options" in request.body else "hi"


FORMS = ["json_schema", "json_object"]
LIMITED = {"max_tokens": None, "max_completion_tokens": 50 + 4096, "temperature": None}
UNCOUNTED = {"stream": True, "stream_options": None}
# What the server says, what it refuses, the question, how many requests that takes the first client
# and the second, and fields of the second's first.
REFUSALS: dict[str, tuple[Any, dict[str, Any], Ask, tuple[int, int], dict[str, Any]]] = {
    "n": ("hi", {"refuse_n": True}, several, (3, 2), {"n": None}),
    "n ignored": ("hi", {"ignore_n": True}, several, (2, 2), {"n": None}),
    "schema": ('{"a": 1}', {"refuse_formats": FORMS[:1]}, in_a_form, (2, 1), {}),
    "any form": ('{"a": 1}', {"refuse_formats": FORMS}, in_a_form, (3, 1), {}),
    "tools": ("hi", {"refuse_tools": True}, with_tools, (2, 1), {"tools": None}),
    "stream": ("hi", {"refuse_stream": True}, read_along, (2, 1), {"stream": None}),
    "stream options": (without_stream_options, {}, read_along, (2, 1), UNCOUNTED),
    "stop": ("hi", {"most_stops": 0}, as_text, (2, 1), {"stop": None}),
    "limit, temperature, reserve": (picky, {}, plainly, (3, 1), LIMITED),
}


@pytest.mark.parametrize(
    ("script", "refused", "ask", "requests", "fields"), REFUSALS.values(), ids=REFUSALS
)
async def test_the_next_client_does_not_ask_in_vain(
    script: Any,
    refused: dict[str, Any],
    ask: Ask,
    requests: tuple[int, int],
    fields: dict[str, Any],
    file: Path,
) -> None:
    with ScriptedModelServer(script, **refused) as server:
        learning = await asked_by_a_new_client(server, file, ask)
        knowing = await asked_by_a_new_client(server, file, ask)

    assert (len(learning), len(knowing)) == requests
    assert {name: knowing[0].body.get(name) for name in fields} == fields


async def test_that_replies_begin_in_a_thought_is_remembered(file: Path) -> None:
    pieces: list[str] = []
    with ScriptedModelServer("I wonder.</think>hello", piece_pause_s=0.02) as server:
        await asked_by_a_new_client(server, file, plainly)
        async with client(server, file) as model:
            await model.complete(ASK, Sampling(), on_text=pieces.append)

    assert pieces
    assert not [text for text in pieces if "wonder" in text]


async def test_nothing_is_written_where_nothing_was_learnt(file: Path) -> None:
    with ScriptedModelServer("hi") as server:
        await asked_by_a_new_client(server, file, several)

    assert not is_there(file.parent)


def state(file: Path) -> tuple[int, int]:
    status = file.stat()
    return status.st_ino, status.st_mtime_ns


async def test_it_is_written_once_and_while_the_client_is_open(file: Path) -> None:
    with ScriptedModelServer("hi", refuse_n=True) as server:
        async with client(server, file) as model:
            await several(model)
            before = state(file)
            await several(model)

            assert state(file) == before


async def test_what_did_not_help_is_not_kept(file: Path) -> None:
    refusing = ScriptedModelServer(lambda _: Failure(400, "Whatever n is, no."))
    with refusing as server, pytest.raises(ModelError):
        await asked_by_a_new_client(server, file, several)

    assert not is_there(file)


async def test_other_servers_and_models_are_asked_for_everything(file: Path) -> None:
    with ScriptedModelServer("hi", refuse_n=True) as one, ScriptedModelServer("hi") as another:
        await asked_by_a_new_client(one, file, several)
        of_another_server = await asked_by_a_new_client(another, file, several)
        of_another_model = await asked_by_a_new_client(one, file, several, model="larger")
        again = await asked_by_a_new_client(one, file, several)

    assert of_another_server[0].body["n"] == 2
    assert of_another_model[0].body["n"] == 2
    assert "n" not in again[0].body


def aged(file: Path, seconds: float) -> None:
    """Makes everything in the file so much older."""
    entries = kept(file)
    for one in entries.values():
        one["since"] -= seconds
    put(file, entries)


@pytest.mark.parametrize(("days", "is_known"), [(6.9, True), (7.1, False), (-1.0, False)])
async def test_after_a_week_the_server_is_asked_for_everything_again(
    days: float, is_known: bool, file: Path
) -> None:
    with ScriptedModelServer("hi", refuse_n=True) as server:
        await asked_by_a_new_client(server, file, several)
        aged(file, days * DAY_S)
        requests = await asked_by_a_new_client(server, file, several)

    assert len(requests) == (2 if is_known else 3)


async def test_what_is_learnt_later_does_not_prolong_the_week(file: Path) -> None:
    with ScriptedModelServer("hi", refuse_n=True, refuse_tools=True) as server:
        await asked_by_a_new_client(server, file, several)
        aged(file, 5 * DAY_S)
        await asked_by_a_new_client(server, file, with_tools)

    (one,) = kept(file).values()
    assert one["learnt"] == {"supports_n": False, "supports_tools": False}
    assert 5 * DAY_S <= time.time() - one["since"] < 6 * DAY_S


async def test_what_another_version_wrote_is_ignored_and_what_is_old_goes(file: Path) -> None:
    with ScriptedModelServer("hi", refuse_n=True) as server:
        await asked_by_a_new_client(server, file, several)
        entries = kept(file)
        for one in entries.values():
            one["version"] = "0.0.1"
        old = {"version": __version__, "since": 1.0, "learnt": {}}
        put(file, entries | {"old": old})
        requests = await asked_by_a_new_client(server, file, several)

    assert len(requests) == 3
    assert list(kept(file)) == list(entries)


DAMAGE: dict[str, Callable[[str], bytes]] = {
    "empty": lambda _: b"",
    "half": lambda text: text[: len(text) // 2].encode(),
    "no UTF-8": lambda _: b"\xff\xfe\x00",
    "a list": lambda _: b"[1, 2]",
    "nothing": lambda _: b"null",
    "too deep": lambda _: b"[" * 100_000,
    "an entry that is none": lambda text: json.dumps(dict.fromkeys(json.loads(text), 3)).encode(),
    "a field too many": lambda text: text.replace('"learnt": {', '"learnt": {"a": 1, ').encode(),
    "a field that is needed": lambda text: text.replace(
        '"learnt": {', '"learnt": {"refused": ["messages"], '
    ).encode(),
    "no time": lambda text: text.replace('"since": ', '"since": NaN, "was": ').encode(),
}


def spoil(file: Path, damage: Callable[[str], bytes]) -> None:
    file.write_bytes(damage(file.read_text()))


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
async def test_a_damaged_file_is_as_good_as_none(
    damage: Callable[[str], bytes], file: Path
) -> None:
    with ScriptedModelServer("hi", refuse_n=True) as server:
        await asked_by_a_new_client(server, file, several)
        spoil(file, damage)
        relearning = await asked_by_a_new_client(server, file, several)
        knowing = await asked_by_a_new_client(server, file, several)

    assert (len(relearning), len(knowing)) == (3, 2)


def names_in(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()} if folder.is_dir() else set()


def a_folder(file: Path) -> None:
    (file / "in it").mkdir(parents=True)


def a_pipe(file: Path) -> None:
    file.parent.mkdir()
    os.mkfifo(file)


def below_a_file(file: Path) -> None:
    file.parent.write_text("no folder")


def a_loop(file: Path) -> None:
    file.parent.symlink_to(file.parent)


@pytest.mark.parametrize("block", [a_folder, a_pipe, below_a_file, a_loop])
async def test_what_cannot_be_read_or_written_is_done_without(
    block: Callable[[Path], None], file: Path
) -> None:
    block(file)
    with ScriptedModelServer("hi", refuse_n=True) as server:
        requests = await asyncio.wait_for(asked_by_a_new_client(server, file, several), 10)

    assert len(requests) == 3
    assert names_in(file.parent) <= {file.name}


async def test_the_embedded_model_is_not_remembered(file: Path) -> None:
    with ScriptedModelServer("hi", refuse_n=True) as server:
        await asked_by_a_new_client(server, file, several, server_identity=f"{EMBEDDED}1f")

    assert not is_there(file)


async def test_neither_key_nor_address_nor_model_stands_in_the_file(file: Path) -> None:
    with ScriptedModelServer("hi", refuse_n=True, model="of-my-firm") as server:
        url = server.base_url.replace("://", "://me:hidden@") + "?token=hidden"
        model = OpenAIChatModel(url, "sk-secret-key", server.model, dialects=file)
        async with model:
            await several(model)
        content = json.dumps(kept(file))
        # Who has other credentials asks the same server.
        requests = await asked_by_a_new_client(server, file, several)

    assert not [word for word in ("hidden", "secret", "127.0", "of-my") if word in content]
    assert len(requests) == 2


async def test_what_is_remembered_makes_no_other_question(file: Path, tmp_path: Path) -> None:
    replies = ReplyCache(tmp_path / "replies")
    with ScriptedModelServer("hi", refuse_n=True) as server:
        await asked_by_a_new_client(server, file, several, cache=replies)
        knowing = await asked_by_a_new_client(server, file, several, cache=replies)

    assert knowing == []
    assert replies.hits == 1


@pytest.mark.parametrize(("effort", "asked"), [("low", ["low"]), ("minimal", [None])])
async def test_an_effort_that_is_refused_says_nothing_of_others(
    effort: ReasoningEffort, asked: list[str | None], file: Path
) -> None:
    def choosy(request: RecordedRequest) -> Outcome:
        is_refused = request.body.get("reasoning_effort") == "minimal"
        return Failure(400, "Unsupported 'reasoning_effort': minimal") if is_refused else "hi"

    with ScriptedModelServer(choosy) as server:
        await asked_by_a_new_client(server, file, plainly, reasoning_effort="minimal")
        requests = await asked_by_a_new_client(server, file, plainly, reasoning_effort=effort)

    assert [request.body.get("reasoning_effort") for request in requests] == asked


def opened(server: ScriptedModelServer) -> AbstractAsyncContextManager[ChatModel]:
    return prepare.open_model(server.model, server.base_url)


_OTHER_PROCESS = """
import asyncio, sys
from exploracoder import prepare
from exploracoder.models.chat import Message, Sampling

async def ask():
    async with prepare.open_model(*sys.argv[1:]) as model:
        await model.complete([Message("user", "hello")], Sampling(n=2))

asyncio.run(ask())
"""


async def test_another_process_knows_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EXPLORACODER_CACHE", str(tmp_path))
    with ScriptedModelServer("hi", refuse_n=True) as server:
        command = [sys.executable, "-c", _OTHER_PROCESS, server.model, server.base_url]
        await asyncio.to_thread(subprocess.run, command, check=True)
        learnt = len(server.requests)
        async with opened(server) as model:
            await several(model)

    assert (learnt, len(server.requests)) == (3, 5)
    assert names_in(tmp_path) == {"dialects.json"}


_WRITER = """
import sys
from pathlib import Path
from exploracoder.models.dialect import Dialect
from exploracoder.models.dialect_memory import DialectMemory

for number in range(100):
    memory = DialectMemory(Path(sys.argv[1]), sys.argv[2], str(number))
    memory.keep(Dialect(supports_n=False))
"""


def test_processes_that_write_at_the_same_time_leave_a_whole_file(file: Path) -> None:
    command = [sys.executable, "-c", _WRITER, str(file)]
    writers = [subprocess.Popen([*command, name]) for name in ("one", "another")]
    reads = 0
    while any(writer.poll() is None for writer in writers):
        reads += bool(file.exists() and json.loads(file.read_text()))

    assert [writer.returncode for writer in writers] == [0, 0]
    assert reads
    dialect = Dialect()
    memories = [DialectMemory(file, name, "99") for name in ("one", "another")]
    for memory in memories:
        memory.recall(dialect)
    # Of two that write at once one may be lost, never both.
    assert not dialect.supports_n
    assert names_in(file.parent) == {file.name}


def test_what_was_given_is_not_taken_back_by_what_was_learnt() -> None:
    dialect = Dialect(supports_n=False, most_reserve=0)

    dialect.resume(Learnt(supports_tools=False))

    assert (dialect.supports_n, dialect.supports_tools) == (False, False)
