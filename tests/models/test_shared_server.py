"""One model for several users: who is let in, who is next, who is told, what is not passed on."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import anyio
import httpx
import pytest
from exploracoder.engine.workbench import Workbench
from exploracoder.errors import AnswerTimeoutError, InputError, ModelError, SetupError
from exploracoder.models import endpoint, shared_server
from exploracoder.models.chat import Message, Sampling
from exploracoder.models.fair_queue import FairQueue
from exploracoder.models.local import EmbeddedModel
from exploracoder.models.local_server import Announcement
from exploracoder.models.openai_client import OpenAIChatModel
from exploracoder.models.shared_keys import SharedKeys
from exploracoder.models.shared_server import SharedServer, listening
from exploracoder.models.streaming import queue_comment
from exploracoder.testing import Drop, Failure, Hold, RecordedRequest, ScriptedModelServer
from exploration.raw_endpoint import RawEndpoint, Request, raw_endpoint
from exploration.samples import exploration

ASK = [Message("user", "Say hello to me.")]
CHAT = "chat/completions"
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
INNER_KEY = "the-key-of-the-server-behind"


@dataclass
class Front:
    """A shared server, what its runner is told, and the users' keys."""

    base_url: str
    queue: FairQueue
    keys: dict[str, str]
    said: list[str]
    server: ScriptedModelServer | RawEndpoint
    clients: dict[str, httpx.AsyncClient] = field(default_factory=dict)

    async def ask(self, user: str, text: str, **fields: Any) -> httpx.Response:
        """What comes back, once it is whole."""
        body = {"messages": [{"role": "user", "content": text}], **fields}
        return await self.clients[user].post(CHAT, json=body)

    @asynccontextmanager
    async def streaming(self, user: str, text: str) -> AsyncIterator[AsyncIterator[str]]:
        """The lines of a stream that has begun."""
        body = {"messages": [{"role": "user", "content": text}], "stream": True}
        async with self.clients[user].stream("POST", CHAT, json=body) as response:
            yield (line async for line in response.aiter_lines() if line)

    def model(self, user: str, **options: Any) -> OpenAIChatModel:
        """The user's own client."""
        return OpenAIChatModel(self.base_url, self.keys[user], "scripted", **options)

    async def until(self, is_so: Callable[[FairQueue], bool]) -> None:
        """Waits for the queue to be so."""
        with anyio.fail_after(20):
            while not is_so(self.queue):  # noqa: ASYNC110  # no event tells of it
                await asyncio.sleep(0.005)

    async def in_order(self, *requests: tuple[str, str]) -> list[asyncio.Task[httpx.Response]]:
        """Requests that wait, each sent when the one before is in its place."""
        tasks = []
        for user, text in requests:
            before = self.queue.status("").waiting
            tasks.append(asyncio.ensure_future(self.ask(user, text)))
            await self.until(lambda queue, more=before + 1: queue.status("").waiting == more)  # type: ignore[misc]
        return tasks

    @property
    def asked(self) -> list[str]:
        """What reached the model, in that order."""
        assert isinstance(self.server, ScriptedModelServer)
        return [one.last_user_message for one in self.server.requests if one.body]


@asynccontextmanager
async def shared(
    folder: Path, *servers: ScriptedModelServer | RawEndpoint, slots: int = 1, most_waiting: int = 4
) -> AsyncIterator[Front]:
    """A shared server of anna's and ben's; each that is lost is followed by the next."""
    keys, messages, next_servers = SharedKeys(folder / "keys.json"), list[str](), list(servers)
    queue = FairQueue(slots, most_waiting, pause_s=0.1)

    @asynccontextmanager
    async def open_model() -> AsyncIterator[Announcement]:
        if not next_servers:
            raise SetupError("There is no memory for it.")
        yield Announcement(
            pid=1, base_url=next_servers.pop(0).base_url, api_key=INNER_KEY, model="scripted"
        )

    front = SharedServer(keys, queue, open_model, messages.append)
    users = keys.admit(["anna", "ben"])
    async with front, listening(front, "127.0.0.1", 0) as base_url:
        harness = Front(base_url, queue, users, messages, servers[0])
        for user, key in {**users, "nobody": "x" * 43}.items():
            head = {"Authorization": f"Bearer {key}"}
            harness.clients[user] = httpx.AsyncClient(
                base_url=base_url, headers=head, timeout=30, trust_env=False
            )
        try:
            yield harness
        finally:
            for client in harness.clients.values():
                await client.aclose()


class Held:
    """A script that lets requests with "hold" wait, and says what it was asked to the others."""

    def __init__(self) -> None:
        self.go = threading.Event()

    def __call__(self, request: RecordedRequest) -> Hold | str:
        text = request.last_user_message
        return Hold(self.go, text) if text.startswith("hold") else text


def text_of(response: httpx.Response) -> str:
    return str(response.json()["choices"][0]["message"]["content"])


def message_of(response: httpx.Response) -> str:
    return str(response.json()["error"]["message"])


async def test_users_take_turns_and_each_ones_requests_stay_in_order(tmp_path: Path) -> None:
    hold_script = Held()
    with ScriptedModelServer(hold_script) as server:
        async with shared(tmp_path, server) as front:
            first = asyncio.ensure_future(front.ask("anna", "hold"))
            await front.until(lambda queue: queue.status("").running == 1)
            many = [("anna", "a1"), ("anna", "a2"), ("anna", "a3"), ("ben", "b1"), ("ben", "b2")]
            waiting = await front.in_order(*many)
            status = (await front.clients["ben"].get("queue")).json()
            hold_script.go.set()
            answers = await asyncio.gather(first, *waiting)

    assert front.asked == ["hold", "b1", "a1", "b2", "a2", "a3"]
    assert [text_of(one) for one in answers] == ["hold", "a1", "a2", "a3", "b1", "b2"]
    assert status == {
        "slots": 1,
        "running": 1,
        "waiting": 5,
        "users_waiting": 2,
        "before": [0, 2],
    }


async def test_as_many_run_at_a_time_as_there_are_slots(tmp_path: Path) -> None:
    hold_script = Held()
    with ScriptedModelServer(hold_script) as server:
        async with shared(tmp_path, server, slots=2) as front:
            tasks = [asyncio.ensure_future(front.ask("anna", f"hold {n}")) for n in range(3)]
            await front.until(lambda queue: queue.status("").waiting == 1)
            running = front.queue.status("anna").running
            hold_script.go.set()
            await asyncio.gather(*tasks)

    assert running == 2
    assert front.queue.status("anna").running == 0


async def test_a_user_with_too_many_waiting_is_refused_and_others_are_not(tmp_path: Path) -> None:
    hold_script = Held()
    with ScriptedModelServer(hold_script) as server:
        async with shared(tmp_path, server, most_waiting=1) as front:
            first = asyncio.ensure_future(front.ask("anna", "hold"))
            await front.until(lambda queue: queue.status("").running == 1)
            waiting = await front.in_order(("anna", "a1"))
            refusal = await front.ask("anna", "a2")
            waiting += await front.in_order(("ben", "b1"))
            hold_script.go.set()
            await asyncio.gather(first, *waiting)

    assert refusal.status_code == 429
    assert float(refusal.headers["Retry-After"]) > 0
    assert "Ask again" in message_of(refusal)
    assert front.asked == ["hold", "b1", "a1"]


async def test_who_hangs_up_gives_up_its_place_and_its_slot(tmp_path: Path) -> None:
    hold_script = Held()
    with ScriptedModelServer(hold_script) as server:
        async with shared(tmp_path, server) as front:
            running = asyncio.ensure_future(front.ask("anna", "hold"))
            await front.until(lambda queue: queue.status("").running == 1)
            gone, stays = await front.in_order(("anna", "gone"), ("ben", "stays"))
            gone.cancel()
            await front.until(lambda queue: queue.status("").waiting == 1)
            running.cancel()
            answer = await stays
            hold_script.go.set()

    assert text_of(answer) == "stays"
    assert front.asked == ["hold", "stays"]


async def test_a_server_that_only_says_that_others_are_before_is_not_waited_for_for_ever(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(endpoint, "_LONGEST_WAIT_S", 1)

    def answer(request: Request) -> Iterator[bytes]:
        yield HEAD
        for _ in range(1000):
            time.sleep(0.02)
            yield queue_comment(1).encode()

    with raw_endpoint(answer) as server:
        async with OpenAIChatModel(server.base_url, "", "m", timeout_s=1) as model:
            began = time.monotonic()
            with pytest.raises(AnswerTimeoutError):
                await model.complete(ASK, Sampling(), on_text=lambda text: None)

    assert 1.5 < time.monotonic() - began < 15


async def test_who_hangs_up_amid_a_stream_ends_it_at_the_model_too(tmp_path: Path) -> None:
    end_event = threading.Event()

    def answer(request: Request) -> Iterator[bytes]:
        try:
            yield HEAD
            for _ in range(1000):
                time.sleep(0.02)
                yield b"data: {}\n\n"
        finally:
            end_event.set()

    with raw_endpoint(answer) as server:
        async with shared(tmp_path, server) as front:
            async with front.streaming("anna", "x") as lines:
                first_line = await anext(lines)
            is_ended = await asyncio.to_thread(end_event.wait, 10)

    assert first_line == "data: {}"
    assert is_ended
    assert front.queue.status("anna").running == 0


async def test_a_waiting_stream_says_its_place_in_comments_and_is_the_same_otherwise(
    tmp_path: Path,
) -> None:
    hold_script = Held()
    with ScriptedModelServer(hold_script) as server:
        async with shared(tmp_path, server) as front:
            async with front.streaming("ben", "b1") as lines:
                at_once = [line async for line in lines]
            first = asyncio.ensure_future(front.ask("ben", "hold"))
            await front.until(lambda queue: queue.status("").running == 1)
            waiting = await front.in_order(("anna", "a1"))
            async with front.streaming("ben", "b1") as lines:
                all_lines = [await anext(lines)]
                hold_script.go.set()
                all_lines += [line async for line in lines]
            await asyncio.gather(first, *waiting)

    comments = [line for line in all_lines if line.startswith(":")]
    assert comments[0] == ': queue {"before": 1}'
    assert comments[-2:] == [': queue {"before": 0}', ': queue {"before": null}']
    assert [line for line in all_lines if not line.startswith(":")] == at_once


async def test_our_client_shows_the_place_and_has_its_whole_time_for_the_answer(
    tmp_path: Path,
) -> None:
    hold_script, messages = Held(), list[str]()
    with ScriptedModelServer(hold_script) as server:
        async with shared(tmp_path, server) as front:
            first = asyncio.ensure_future(front.ask("ben", "hold"))
            await front.until(lambda queue: queue.status("").running == 1)
            waiting = await front.in_order(("anna", "a1"))
            async with front.model("ben", timeout_s=3) as model:
                bench = workbench(model)
                bench.tell = lambda part, message: messages.append(f"{part}: {message}")
                # It is learnt from any answer that places are told; then all is streamed.
                asking = asyncio.ensure_future(bench.model.ask("plan", ASK, Sampling()))
                model.dialect.is_shared = True
                await front.until(lambda queue: queue.status("").waiting == 2)
                await asyncio.sleep(3.5)
                hold_script.go.set()
                reply = await asking
            await asyncio.gather(first, *waiting)

    assert reply.text == "Say hello to me."
    assert messages == [
        "plan: Asking the model",
        "plan: The model is busy: 1 request is before yours",
        "plan: The model is busy: your request is the next",
        "plan: Asking the model",
    ]


async def test_what_only_our_server_has_is_learnt_from_its_first_answer(tmp_path: Path) -> None:
    grammar = Sampling(grammar="root ::= [a-z]+", n=2)
    with ScriptedModelServer("tea") as server:
        async with shared(tmp_path, server) as front, front.model("anna") as model:
            await model.complete(ASK, grammar, on_wait=lambda before: None)
            reply = await model.complete(ASK, grammar, on_wait=lambda before: None)

    bodies = [one.body for one in server.requests]
    assert reply.texts == ("tea", "tea")
    assert all(body.get("n", 1) == 1 for body in bodies)
    assert bodies[-1]["grammar"] == grammar.grammar
    assert bodies[-1]["stream"] is True
    assert model.dialect.learnt.is_shared


async def test_a_refusal_in_a_stream_that_had_to_wait_is_read_as_one(tmp_path: Path) -> None:
    hold_script, places = Held(), list[int | None]()
    too_long = Failure(400, "too long", details={"code": 400, "type": "exceed_context_size_error"})

    def script(request: RecordedRequest) -> Hold | str | Failure:
        return too_long if "hello" in request.last_user_message else hold_script(request)

    with ScriptedModelServer(script) as server:
        async with shared(tmp_path, server) as front, front.model("ben") as model:
            first = asyncio.ensure_future(front.ask("anna", "hold"))
            await front.until(lambda queue: queue.status("").running == 1)
            model.dialect.is_shared = True
            asking = asyncio.ensure_future(model.complete(ASK, Sampling(), on_wait=places.append))
            await front.until(lambda queue: queue.status("").waiting == 1)
            hold_script.go.set()
            with pytest.raises(ModelError, match="too long for scripted"):
                await asking
            await first

    assert places == [0, None]


@pytest.mark.parametrize("user", ["nobody", "anna"])
async def test_only_who_has_a_key_is_answered_and_nobody_sees_that_of_the_server_behind(
    user: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with ScriptedModelServer("tea", require_key=INNER_KEY) as server:
        async with shared(tmp_path, server) as front:
            client = front.clients[user]
            answers = [
                await client.get("models"),
                await client.get("queue"),
                await front.ask(user, "my secret prompt"),
                await client.post("completions", json={"prompt": "my secret prompt"}),
            ]
            elsewhere = [await client.get("../slots"), await client.post("../slots/0?action=save")]
            no_key = await client.get("models", headers={"Authorization": ""})

    is_known = user == "anna"
    assert [one.status_code for one in answers] == [200 if is_known else 401] * 4
    assert [one.status_code for one in elsewhere] == [404 if is_known else 401] * 2
    assert no_key.status_code == 401
    assert len(server.requests) == (3 if is_known else 0)
    output = caplog.text + str(front.said) + "".join(one.text for one in answers[:2])
    assert "secret" not in output
    assert all(key not in output for key in (INNER_KEY, *front.keys.values()))


@pytest.mark.parametrize(
    ("body", "status", "words"),
    [
        (b"[1]", 400, "JSON object"),
        (b"[" * 100_000, 400, "JSON object"),
        (json.dumps({"messages": [], "n": 3}).encode(), 400, "Field 'n'"),
        (json.dumps({"prompt": ["a", "b"]}).encode(), 400, "one text"),
        (b" " * (5 << 20), 413, "4 MiB"),
    ],
)
async def test_what_would_go_past_the_queue_or_is_no_request_is_refused_with_a_sentence(
    body: bytes, status: int, words: str, tmp_path: Path
) -> None:
    with ScriptedModelServer("tea") as server:
        async with shared(tmp_path, server) as front:
            refusal = await front.clients["anna"].post("completions", content=body)

    assert refusal.status_code == status
    assert words in message_of(refusal)
    assert server.requests == []


async def test_a_user_is_let_in_and_taken_out_without_a_new_start(tmp_path: Path) -> None:
    with ScriptedModelServer("tea") as server:
        async with shared(tmp_path, server) as front:
            file = tmp_path / "keys.json"
            late = SharedKeys(file).admit(["anna", "cleo"])
            head = {"Authorization": f"Bearer {late['cleo']}"}
            admission = await front.clients["nobody"].get("queue", headers=head)
            draft = tmp_path / "draft"
            draft.touch(mode=0o600)
            draft.write_text(json.dumps({"anna": late["anna"]}))
            draft.replace(file)
            removal = await front.clients["nobody"].get("queue", headers=head)
            file.chmod(0o644)
            open_to_all = await front.clients["anna"].get("queue")

    assert late["anna"] == front.keys["anna"]
    assert (admission.status_code, removal.status_code, open_to_all.status_code) == (200, 401, 503)
    assert "chmod 600" in front.said[-1]
    assert str(tmp_path) not in open_to_all.text


def test_keys_that_others_can_read_or_that_are_none_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "keys.json"
    keys = SharedKeys(file)
    with pytest.raises(InputError, match="exploracoder model admit"):
        keys.load()
    keys.admit(["anna"])
    mode = file.stat().st_mode & 0o777
    file.chmod(0o640)
    with pytest.raises(InputError, match="chmod 600"):
        SharedKeys(file).load()
    file.chmod(0o600)
    file.write_text('{"anna": ""}')
    with pytest.raises(InputError, match="no JSON object"):
        SharedKeys(file).load()

    assert mode == 0o600


async def test_a_model_that_is_lost_is_started_again_and_the_client_sees_nothing_of_it(
    tmp_path: Path,
) -> None:
    first = ScriptedModelServer("before")
    with ScriptedModelServer("after") as second:
        with first:
            async_front = shared(tmp_path, first, second)
            front = await async_front.__aenter__()
            answer = await front.ask("anna", "x")
        failure = await front.ask("anna", "x")
        async with front.model("ben") as model:
            again = await model.complete(ASK, Sampling())
        await async_front.__aexit__(None, None, None)

    assert text_of(answer) == "before"
    assert failure.status_code == 502
    assert "ask again" in message_of(failure)
    assert again.text == "after"


async def test_a_model_that_cannot_be_started_again_is_said_to_both_sides(tmp_path: Path) -> None:
    with ScriptedModelServer("x", first=[Drop()]) as server:
        async with shared(tmp_path, server) as front:
            failure, refusal = await front.ask("anna", "x"), await front.ask("anna", "x")
            idle = front.queue.status("anna").running

    assert (failure.status_code, refusal.status_code) == (502, 503)
    assert "Ask whoever runs" in message_of(refusal)
    assert front.said[-1] == "There is no memory for it."
    assert idle == 0


async def test_a_request_that_takes_too_long_ends_and_the_next_has_its_turn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shared_server, "_LONGEST_RUN_S", 2)
    hold_script = Held()
    with ScriptedModelServer(hold_script) as server:
        async with shared(tmp_path, server) as front:
            late, next_ = await asyncio.gather(front.ask("anna", "hold"), front.ask("ben", "b1"))
            hold_script.go.set()

    assert late.status_code == 504
    assert "too long" in message_of(late)
    assert text_of(next_) == "b1"


async def test_an_address_that_is_taken_is_named(tmp_path: Path) -> None:
    with ScriptedModelServer("tea") as server:
        async with shared(tmp_path, server) as front:
            port = int(front.base_url.rpartition(":")[2].partition("/")[0])
            none: Any = None
            with pytest.raises(SetupError, match=f"port {port}: .*--port"):
                async with listening(none, "127.0.0.1", port):
                    pass


@pytest.mark.model
async def test_the_embedded_model_answers_two_users_through_it(tmp_path: Path) -> None:
    embedded = EmbeddedModel(linger_s=0.0)

    @asynccontextmanager
    async def open_model() -> AsyncIterator[Announcement]:
        async with embedded:
            assert embedded.server is not None
            yield embedded.server

    keys = SharedKeys(tmp_path / "keys.json")
    users = keys.admit(["anna", "ben"])
    front = SharedServer(keys, FairQueue(1, 4), open_model, lambda words: None)
    places = list[int | None]()
    async with (
        front as server,
        listening(front, "127.0.0.1", 0) as base_url,
        OpenAIChatModel(base_url, users["anna"], server.model) as anna,
        OpenAIChatModel(base_url, users["ben"], server.model) as ben,
    ):
        ben.dialect.is_shared = True
        draw = Sampling(max_tokens=12, grammar='root ::= "green tea"')
        replies = await asyncio.gather(
            anna.complete(ASK, draw), ben.complete(ASK, draw, on_wait=places.append)
        )
        cards = await anna.server.cards()

    assert [reply.text for reply in replies][1] == "green tea"
    assert all(reply.text for reply in replies)
    assert places in ([], [0, None])
    assert [card["id"] for card in cards] == [server.model]


def workbench(model: OpenAIChatModel) -> Workbench:
    """One whose model is asked and which does nothing else."""
    none: Any = SimpleNamespace()
    return Workbench(
        exploration(), model=model, index=none, sidecar=none, root="r", branch="r", record=none
    )
