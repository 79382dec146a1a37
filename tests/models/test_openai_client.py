from __future__ import annotations

import asyncio
import json
import logging
import socket
import ssl
import subprocess
import traceback
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import datetime, timedelta, timezone
from email.utils import format_datetime
from pathlib import Path
from typing import Any

import httpx
import httpx2
import pytest
from exploracoder.errors import InputError, ModelError, PromptError, RefusedError, SetupError
from exploracoder.models import endpoint
from exploracoder.models.chat import Message, Sampling
from exploracoder.models.openai_client import EMBEDDED, OpenAIChatModel
from exploracoder.models.server_answer import read_whole
from exploracoder.models.server_failures import HttpReply
from exploracoder.testing import Delay, Drop, Failure, Raw, RecordedRequest, ScriptedModelServer

ASK = [Message("system", "You are brief."), Message("user", "Say hello to me.")]
SCHEMA = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}
KEY = "sk-very-secret-key"


@asynccontextmanager
async def model_at(server: ScriptedModelServer, **options: Any) -> AsyncIterator[OpenAIChatModel]:
    options = {"api_key": KEY, "model": server.model, "max_retries": 2, **options}
    async with OpenAIChatModel(server.base_url, **options) as model:
        yield model


def echo_seed(request: RecordedRequest) -> str:
    return f"seed {request.body.get('seed')}"


async def failure_of(server: ScriptedModelServer, **options: Any) -> ModelError:
    async with model_at(server, **options) as model:
        with pytest.raises(ModelError) as error:
            await model.complete(ASK, Sampling())
    return error.value


def test_a_scripted_server_takes_one_stop_as_a_text() -> None:
    with ScriptedModelServer("hello END there") as server:
        body = {"model": server.model, "prompt": "", "stop": "END"}
        answer = httpx2.post(f"{server.base_url}/completions", json=body).json()

    assert answer["choices"][0]["text"] == "hello "


async def test_a_reply_carries_its_text_and_what_it_cost() -> None:
    with ScriptedModelServer("hello there") as server:
        async with model_at(server) as model:
            reply = await model.complete(ASK, Sampling(seed=7, stop=("END",)))

    assert reply.texts == ("hello there",)
    assert reply.finish_reasons == ("stop",)
    assert (reply.usage.calls, reply.usage.prompt_tokens, reply.usage.completion_tokens) == (
        1,
        7,
        2,
    )
    assert reply.usage.seconds > 0
    assert server.requests[0].body["seed"] == 7
    assert server.requests[0].body["stop"] == ["END"]


async def test_several_replies_come_from_one_request_where_the_server_can() -> None:
    with ScriptedModelServer(lambda _: ["one", "two", "three"]) as server:
        async with model_at(server) as model:
            reply = await model.complete(ASK, Sampling(n=3))

    assert reply.texts == ("one", "two", "three")
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("fault", "first_call", "second_call"), [("ignore_n", 3, 3), ("refuse_n", 4, 3)]
)
async def test_a_server_that_gives_one_reply_is_asked_again_with_the_next_seeds(
    fault: str, first_call: int, second_call: int
) -> None:
    with ScriptedModelServer(echo_seed, **{fault: True}) as server:  # type: ignore[arg-type]
        async with model_at(server) as model:
            first = await model.complete(ASK, Sampling(n=3, seed=10))
            asked_first = len(server.requests)
            second = await model.complete(ASK, Sampling(n=3, seed=20))

    assert first.texts == ("seed 10", "seed 11", "seed 12")
    assert second.texts == ("seed 20", "seed 21", "seed 22")
    assert first.usage.calls == 3
    assert asked_first == first_call
    assert len(server.requests) - asked_first == second_call
    assert "n" not in server.requests[-1].body


@pytest.mark.parametrize(
    ("refused", "modes"),
    [
        ((), ["json_schema", "json_schema"]),
        (("json_schema",), ["json_schema", "json_object", "json_object"]),
        (("json_schema", "json_object"), ["json_schema", "json_object", None, None]),
    ],
)
async def test_a_schema_is_conveyed_in_the_strongest_way_the_server_takes(
    refused: Sequence[str], modes: list[str | None]
) -> None:
    with ScriptedModelServer('{"a": 1}', refuse_formats=refused) as server:
        async with model_at(server) as model:
            await model.complete(ASK, Sampling(), schema=SCHEMA)
            await model.complete(ASK, Sampling(), schema=SCHEMA)

    formats = [request.body.get("response_format", {}).get("type") for request in server.requests]
    assert formats == modes
    assert ("JSON schema" in server.requests[-1].last_user_message) == bool(refused)


async def test_what_was_refused_is_tried_again_once_it_is_forgotten() -> None:
    with ScriptedModelServer('{"a": 1}', refuse_formats=["json_schema"]) as server:
        async with model_at(server) as model:
            await model.complete(ASK, Sampling(), schema=SCHEMA)
            model.forget()
            await model.complete(ASK, Sampling(), schema=SCHEMA)

    formats = [request.body["response_format"]["type"] for request in server.requests]
    assert formats == ["json_schema", "json_object"] * 2


@pytest.mark.parametrize(
    "passing", [Failure(429, retry_after_s=0.01), Failure(500), Failure(503), Drop()]
)
async def test_failures_that_may_pass_are_tried_again(passing: Failure | Drop) -> None:
    with ScriptedModelServer("ok", first=[passing]) as server:
        async with model_at(server) as model:
            reply = await model.complete(ASK, Sampling())

    assert reply.text == "ok"
    assert len(server.requests) == 2


async def test_the_pause_that_the_server_asks_for_is_kept() -> None:
    loop = asyncio.get_running_loop()
    with ScriptedModelServer("ok", first=[Failure(429, retry_after_s=1.5)]) as server:
        async with model_at(server) as model:
            start = loop.time()
            await model.complete(ASK, Sampling())
            paused_s = loop.time() - start

    assert paused_s >= 1.5


@pytest.mark.parametrize("status", [400, 401, 403, 404])
async def test_failures_that_will_not_pass_are_not_tried_again(status: int) -> None:
    with ScriptedModelServer(lambda _: Failure(status)) as server:
        await failure_of(server)

    assert len(server.chat_requests) == 1


async def test_a_server_that_keeps_failing_is_given_up_with_its_own_words() -> None:
    with ScriptedModelServer(lambda _: Failure(503, "out of memory")) as server:
        error = await failure_of(server, max_retries=1)

    assert "HTTP 503" in str(error)
    assert "out of memory." in str(error)
    assert len(server.requests) == 2


async def test_an_unreachable_server_is_named_with_what_to_do() -> None:
    with socket.socket() as free_socket:
        free_socket.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free_socket.getsockname()[1]}/v1"
    async with OpenAIChatModel(url, KEY, "m", max_retries=0) as model:
        with pytest.raises(ModelError) as error:
            await model.complete(ASK, Sampling())

    assert url in str(error.value)
    assert "--base-url" in str(error.value)
    assert "exploracoder model status" in str(error.value)


async def test_a_rejected_key_is_never_shown(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    with ScriptedModelServer("ok", require_key="another") as server:
        async with model_at(server) as model:
            representation = repr(model) + repr(vars(model)["_server"])
            with pytest.raises(ModelError, match="rejected the API key") as error:
                await model.complete(ASK, Sampling())

    trace = "".join(traceback.format_exception(error.value))
    assert KEY not in representation + trace + caplog.text
    assert KEY not in repr(error.value.__cause__)


async def test_a_key_that_the_server_quotes_is_blotted_out() -> None:
    with ScriptedModelServer(lambda _: Failure(400, f"bad request by {KEY}")) as server:
        error = await failure_of(server)

    assert KEY not in str(error)
    assert "[key]" in str(error)


def test_a_key_that_cannot_be_sent_is_refused_without_showing_it() -> None:
    with pytest.raises(InputError) as error:
        OpenAIChatModel("http://127.0.0.1:1/v1", "sk-sécret\n\x00key", "m")

    assert "sécret" not in str(error.value)


async def test_an_unknown_model_is_answered_with_those_on_offer() -> None:
    with ScriptedModelServer("ok", model="real-one", require_model=True) as server:
        error = await failure_of(server, model="made-up")

    assert "'made-up'" in str(error)
    assert "real-one" in str(error)


@pytest.mark.parametrize(
    ("failure", "said"),
    [
        (
            Failure(
                400,
                "the request exceeds the available context size",
                details={
                    "type": "exceed_context_size_error",
                    "n_prompt_tokens": 9000,
                    "n_ctx": 4096,
                },
            ),
            "9000 tokens, the model takes 4096",
        ),
        (
            Failure(
                400,
                "This model's maximum context length is 8192 tokens; you asked for 9000 tokens",
                details={"code": "context_length_exceeded"},
            ),
            "8192 tokens; you asked for 9000",
        ),
    ],
)
async def test_a_prompt_that_is_too_long_says_the_figures(failure: Failure, said: str) -> None:
    with ScriptedModelServer(lambda _: failure) as server:
        error = await failure_of(server)

    assert isinstance(error, PromptError)
    assert "too long" in str(error)
    assert said in str(error)


@pytest.mark.parametrize(
    ("status", "kind"),
    [(400, RefusedError), (422, RefusedError), (401, ModelError), (503, ModelError)],
)
async def test_what_one_request_is_refused_for_says_nothing_of_the_next(
    status: int, kind: type[ModelError]
) -> None:
    with ScriptedModelServer(lambda _: Failure(status, "no such words here")) as server:
        error = await failure_of(server, max_retries=0)

    assert type(error) is kind


async def identity_of(server: ScriptedModelServer) -> str:
    async with model_at(server, max_retries=0) as model:
        return await model.identity()


async def test_a_model_is_known_by_its_server_and_what_that_says_of_it() -> None:
    with ScriptedModelServer("hi", card={"meta": {"size": 4}}) as server:
        first = await identity_of(server)
        server.card = {"meta": {"size": 4}, "created": 17, "permission": [{"id": "x"}]}
        again = await identity_of(server)
        server.card = {"meta": {"size": 5}}
        replacement = await identity_of(server)
    with ScriptedModelServer("hi", card={"meta": {"size": 4}}) as another:
        elsewhere = await identity_of(another)

    assert again == first
    assert len({first, replacement, elsewhere}) == 3


async def test_a_server_that_lists_no_models_has_one_all_the_same() -> None:
    with ScriptedModelServer("hi", card=Failure(404)) as server:
        first, again = await identity_of(server), await identity_of(server)
    afterwards = await identity_of(server)

    # One that is gone may still be answered for by the reply cache.
    assert first == again == afterwards

    with (
        ScriptedModelServer("hi", card=Failure(503)) as server,
        pytest.raises(ModelError, match="HTTP 503"),
    ):
        await identity_of(server)


async def test_the_deadline_holds_for_the_whole_request() -> None:
    with ScriptedModelServer(lambda _: Delay(1.0, "late")) as server:
        error = await failure_of(server, timeout_s=0.2)

    assert "did not answer within 0.2 s" in str(error)


async def test_a_server_that_takes_no_connection_is_not_called_slow() -> None:
    nowhere = endpoint.Endpoint("http://127.0.0.1:1/v1", "", "strong", timeout_s=1.0, max_retries=0)

    with pytest.raises(ModelError, match="No model server can be reached"):
        async with nowhere.within_deadline():
            raise httpx.ConnectTimeout("")


async def test_cancelling_closes_the_request_and_passes_through() -> None:
    with ScriptedModelServer(lambda _: Delay(0.5, "late")) as server:
        async with model_at(server) as model:
            task = asyncio.create_task(model.complete(ASK, Sampling()))
            await asyncio.to_thread(server.wait_for_requests, 1)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

    assert len(server.requests) == 1


@pytest.mark.parametrize(
    "page", [Raw("<html>hello</html>", "text/html"), Raw("{}"), Raw("{not json")]
)
async def test_something_else_at_the_url_is_recognised(page: Raw) -> None:
    with ScriptedModelServer(lambda _: page) as server:
        async with model_at(server, max_retries=0) as model:
            with pytest.raises(ModelError, match="is not an OpenAI-compatible API"):
                await model.complete(ASK, Sampling())


@pytest.mark.parametrize("url", ["", "localhost:8000", "ftp://host/v1", "http://", "http://h:x/v1"])
def test_a_base_url_that_is_none_is_refused_at_once(url: str) -> None:
    with pytest.raises(InputError, match="must look like"):
        OpenAIChatModel(url, KEY, "m")


def test_credentials_in_a_base_url_are_not_shown() -> None:
    model = OpenAIChatModel("http://me:hidden@127.0.0.1:1/v1?token=hidden", "", "m")

    assert "hidden" not in repr(model) + model.base_url


async def test_a_loopback_server_is_reached_without_the_proxy(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)
    with ScriptedModelServer("ok") as server:
        async with model_at(server, max_retries=0) as model:
            reply = await model.complete(ASK, Sampling())

    assert reply.text == "ok"


async def test_a_server_that_reports_no_usage_costs_nothing_we_know_of() -> None:
    with ScriptedModelServer("ok", report_usage=False) as server:
        async with model_at(server) as model:
            reply = await model.complete(ASK, Sampling())

    assert reply.usage.total_tokens == 0
    assert reply.usage.calls == 1


async def test_a_grammar_is_sent_only_to_servers_known_to_take_it() -> None:
    sampling = Sampling(grammar='root ::= "yes"')
    with ScriptedModelServer("yes") as server:
        async with model_at(server) as plain, model_at(server, supports_grammar=True) as capable:
            await plain.complete(ASK, sampling)
            await capable.complete(ASK, sampling)
            await capable.complete(ASK, sampling, schema=SCHEMA)

    assert [request.body.get("grammar") for request in server.requests] == [
        None,
        'root ::= "yes"',
        None,
    ]


async def test_fields_for_one_server_reach_it() -> None:
    with ScriptedModelServer("ok") as server:
        async with model_at(server, extra_body={"cache_prompt": True}) as model:
            await model.complete(ASK, Sampling())

    assert server.requests[0].body["cache_prompt"] is True


def reasoned(text: str, thoughts: int, reason: str = "stop") -> Raw:
    """A reply of a model that thought so many tokens before it answered."""
    usage = {"prompt_tokens": 9, "completion_tokens": thoughts + 2}
    usage |= {"completion_tokens_details": {"reasoning_tokens": thoughts}}  # type: ignore[dict-item]
    choice = {"message": {"role": "assistant", "content": text}, "finish_reason": reason}
    return Raw(json.dumps({"choices": [choice], "usage": usage}))


async def limits_asked(
    answers: Sequence[Any], question_count: int
) -> tuple[list[int], list[str], int]:
    """The limits of the requests that so many questions took, the texts, and the calls counted."""
    replies = iter(answers)
    with ScriptedModelServer(lambda _: next(replies)) as server:
        async with model_at(server) as model:
            texts, calls = [], 0
            for _ in range(question_count):
                reply = await model.complete(ASK, Sampling(max_tokens=50))
                texts.append(reply.text)
                calls += reply.usage.calls
        return [request.body["max_tokens"] for request in server.requests], texts, calls


async def test_what_a_model_thinks_is_not_taken_from_its_answer() -> None:
    answers = [reasoned("", 50, "length"), reasoned("hello", 900), reasoned("again", 200)]

    limits, texts, calls = await limits_asked(answers, 2)

    assert limits == [50, 4146, 4146]
    assert texts == ["hello", "again"]
    assert calls == 3


@pytest.mark.parametrize(
    "first",
    [
        reasoned("", 50, "length"),
        reasoned("<think>\nHm, a long", 0, "length"),
        reasoned("hello th", 44, "length"),
        Raw(json.dumps({"choices": [{"message": {"content": ""}, "finish_reason": "length"}]})),
    ],
    ids=["counted", "tagged", "cut off", "empty"],
)
async def test_an_answer_that_thoughts_cut_off_is_asked_for_again_with_more(first: Raw) -> None:
    limits, texts, _ = await limits_asked([first, reasoned("hello there", 5000)], 1)

    assert (limits, texts) == ([50, 4146], ["hello there"])


async def test_a_model_that_thinks_without_an_end_is_asked_three_times() -> None:
    limits, texts, _ = await limits_asked([reasoned("", 9999, "length")] * 3, 1)

    assert (limits, texts) == ([50, 4146, 16434], [""])


async def test_an_answer_that_is_cut_off_without_thoughts_is_taken_as_it_is() -> None:
    limits, texts, _ = await limits_asked([reasoned("hello th", 0, "length")], 1)

    assert (limits, texts) == ([50], ["hello th"])


@pytest.mark.parametrize(
    "refusal",
    [
        Failure(400, "max_tokens is too large: 4146. This model supports at most 4096."),
        Failure(400, "The maximum context length is 4096 tokens", details={"code": "x"}),
    ],
    ids=["limit", "context"],
)
async def test_room_for_thoughts_that_a_server_does_not_grant_is_done_without(
    refusal: Failure,
) -> None:
    answers = [reasoned("one", 30), refusal, reasoned("two", 0), reasoned("three", 30)]

    limits, texts, _ = await limits_asked(answers, 3)

    assert limits == [50, 4146, 50, 50]
    assert texts == ["one", "two", "three"]


async def test_the_embedded_model_gets_no_room_for_thoughts() -> None:
    with ScriptedModelServer(lambda _: reasoned("", 50, "length")) as server:
        async with model_at(server, server_identity=f"{EMBEDDED}1f") as model:
            await model.complete(ASK, Sampling(max_tokens=50))

    assert [request.body["max_tokens"] for request in server.requests] == [50]


async def efforts_asked(server: ScriptedModelServer, **options: Any) -> list[str | None]:
    """The effort that each request of a question, and then of a text to go on with, names."""
    async with model_at(server, **options) as model:
        await model.complete(ASK, Sampling())
        await model.continue_text("Hello", Sampling())
    return [request.body.get("reasoning_effort") for request in server.requests]


async def test_an_effort_goes_along_with_conversations_only_if_it_is_set() -> None:
    with ScriptedModelServer("ok") as server:
        unset = await efforts_asked(server)
    with ScriptedModelServer("ok") as server:
        low = await efforts_asked(server, reasoning_effort="low")

    assert unset == [None, None]
    assert low == ["low", None]


@pytest.mark.parametrize(
    "refusal",
    [
        Failure(400, "Unrecognized request argument supplied: reasoning_effort"),
        Failure(400, "invalid reasoning value: 'low'"),
        Failure(400, '"scripted" does not support thinking'),
        Failure(400, "Function tools with reasoning_effort are not supported."),
        Failure(
            422,
            details={
                "message": {
                    "detail": [
                        {"loc": ["body", "reasoning_effort"], "msg": "Extra inputs are not allowed"}
                    ]
                }
            },
        ),
    ],
    ids=["unknown", "value", "no thinking", "with tools", "a list of faults"],
)
async def test_an_effort_that_the_server_refuses_is_left_out_from_then_on(refusal: Failure) -> None:
    def script(request: RecordedRequest) -> str | Failure:
        return refusal if "reasoning_effort" in request.body else "ok"

    tools = [{"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}}]
    with ScriptedModelServer(script) as server:
        async with model_at(server, reasoning_effort="low") as model:
            await model.complete(ASK, Sampling(), tools=tools)
            await model.complete(ASK, Sampling(), tools=tools)

    flags = [("reasoning_effort" in one.body, "tools" in one.body) for one in server.requests]
    assert flags == [(True, True), (False, True), (False, True)]


async def test_a_list_of_faults_is_shown() -> None:
    faults = [{"loc": ["body", "messages", 0], "msg": "Field required", "input": {}}]
    refusal = Failure(422, details={"message": "", "detail": faults})
    with ScriptedModelServer(lambda _: refusal) as server:
        error = await failure_of(server)

    assert "It says: body.messages.0: Field required." in str(error)


async def test_a_long_pause_is_left_to_the_user() -> None:
    with ScriptedModelServer(lambda _: Failure(429, retry_after_s=120)) as server:
        error = await failure_of(server)

    assert len(server.chat_requests) == 1
    assert "Wait 120 s" in str(error)


@pytest.mark.parametrize(
    ("retry_after", "words", "seconds"),
    [
        ("1.5", "", 1.5),
        ("Thu, 01 Jan 1970 00:00:00 +0000", "", None),
        ("Mon, 01 Jan 99999999999 00:00:00 GMT", "", None),
        ("-5", "", None),
        ("soon", "", None),
        ("nan", "", None),
        ("", "Rate limit reached. Please try again in 20.5s.", 20.5),
        ("", "Rate limit reached.", None),
    ],
)
def test_a_pause_is_a_number_or_said(retry_after: str, words: str, seconds: float | None) -> None:
    reply = HttpReply(429, json.dumps({"error": {"message": words}}), retry_after)

    assert reply.asked_pause_s == seconds


def test_a_pause_may_be_a_date() -> None:
    then = datetime.now(timezone.utc) + timedelta(hours=1)

    pause_s = HttpReply(503, "", format_datetime(then)).asked_pause_s

    assert pause_s == pytest.approx(3600, abs=600)


async def test_a_refusal_of_a_model_on_offer_is_quoted() -> None:
    with ScriptedModelServer(lambda _: Failure(404, "No provider takes this.")) as server:
        error = await failure_of(server)

    assert "does not offer" not in str(error)
    assert "No provider takes this." in str(error)


async def test_what_a_model_thinks_is_counted_if_only_the_total_has_it() -> None:
    body = {
        "choices": [{"message": {"content": "Tea."}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 60, "completion_tokens": 1, "total_tokens": 81},
    }
    answer = read_whole(body)

    assert (answer.usage.prompt_tokens, answer.usage.completion_tokens) == (60, 21)


async def test_a_proxy_that_cannot_be_used_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALL_PROXY", "socks://127.0.0.1:1")
    with pytest.raises(SetupError, match="ALL_PROXY"):
        async with OpenAIChatModel("https://tea.example/v1", "", "m"):
            pass


def test_white_space_around_an_address_is_ignored_and_within_it_refused() -> None:
    assert OpenAIChatModel(" http://127.0.0.1:1/v1\n", "", "m").base_url == "http://127.0.0.1:1/v1"
    with pytest.raises(InputError, match="must look like"):
        OpenAIChatModel("http://127.0.0.1:1/v1\n/x", "", "m")


async def test_a_certificate_that_cannot_be_trusted_is_said_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # With a retry it would be the deadline that is reported.
    monkeypatch.setattr(endpoint, "_FIRST_PAUSE_S", 60.0)
    certificate, key = tmp_path / "certificate.pem", tmp_path / "key.pem"
    command = "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost -addext"
    words = [*command.split(), "subjectAltName=DNS:localhost", "-keyout", key, "-out", certificate]
    await asyncio.to_thread(subprocess.run, words, check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)

    async def accept(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.close()

    server = await asyncio.start_server(accept, "127.0.0.1", 0, ssl=context)
    url = f"https://localhost:{server.sockets[0].getsockname()[1]}/v1"
    async with server, OpenAIChatModel(url, "", "m", timeout_s=5.0) as model:
        with pytest.raises(ModelError, match=r"cannot be trusted: self.signed") as failure:
            await model.complete(ASK, Sampling())
        # Trusted, it is a connection that is closed without a reply.
        monkeypatch.setattr(endpoint, "_FIRST_PAUSE_S", 0.01)
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
        async with OpenAIChatModel(url, "", "m", max_retries=0) as trusting:
            with pytest.raises(ModelError, match="was lost"):
                await trusting.complete(ASK, Sampling())

    assert "SSL_CERT_FILE" in str(failure.value)
