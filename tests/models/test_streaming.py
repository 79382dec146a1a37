"""Replies are read while they come: what is told then, and that the reply is no other for it."""

from __future__ import annotations

import asyncio
import gzip
import itertools
import json
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx
import pytest
from exploracoder.engine.workbench import Workbench
from exploracoder.errors import AnswerTimeoutError, ModelError, PromptError
from exploracoder.models import answer_text, endpoint
from exploracoder.models.answer_text import answer_in, answer_so_far
from exploracoder.models.chat import Message, Reply, Sampling
from exploracoder.models.counting import CountingModel
from exploracoder.models.dialect import Dialect
from exploracoder.models.lazy_model import LazyModel
from exploracoder.models.model_cost import Usage
from exploracoder.models.model_functions import Tool, complete_with_tools
from exploracoder.models.openai_client import OpenAIChatModel
from exploracoder.models.redaction import Redactor
from exploracoder.models.reply_cache import ReplyCache
from exploracoder.models.streaming import StreamReader
from exploracoder.testing import (
    Call,
    Failure,
    Outcome,
    Raw,
    RecordedRequest,
    Rule,
    ScriptedModelServer,
)
from exploration.raw_endpoint import Answer, RawEndpoint, Request, raw_endpoint, response
from exploration.samples import exploration
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel

ASK = [Message("user", "Say hello to me.")]
KEY = "sk-Ab3dEf6hIj9kLm2nOp5q"
LONG = " ".join(f"word{number}" for number in range(60))
TOOL = {"type": "function", "function": {"name": "look_up", "parameters": {"type": "object"}}}
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"
DONE = b"data: [DONE]\n\n"
Served = ScriptedModelServer | RawEndpoint


class ReceivedTexts(list[str]):
    """All that was told of one reply."""

    def __call__(self, text: str) -> None:
        self.append(text)

    def is_growing_to(self, text: str) -> bool:
        """Whether each was a longer beginning of the text, and the last all of it."""
        sizes = [len(one) for one in self]
        grows = sizes == sorted(set(sizes))
        return grows and all(map(text.startswith, self)) and self[-1:] == [text]


@pytest.fixture
def told_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every piece that comes is told."""
    monkeypatch.setattr(answer_text, "_PAUSE_S", 0.0)
    monkeypatch.setattr(answer_text, "_PAUSE_PER_WORK", 0.0)


def model_at(server: Served, **options: Any) -> OpenAIChatModel:
    options = {"api_key": KEY, "model": "scripted", "max_retries": 2, **options}
    return OpenAIChatModel(server.base_url, **options)


async def ask(server: Served, texts: ReceivedTexts | None = None, **options: Any) -> Reply:
    async with model_at(server, **options) as model:
        return await model.complete(ASK, Sampling(), on_text=texts)


def chunk(text: object = None, finish_reason: str | None = None, **delta: object) -> dict[str, Any]:
    """One piece of a reply."""
    fields = {"content": text, **delta} if text is not None else delta
    choice = {"index": 0, "delta": fields, "finish_reason": finish_reason}
    return {"model": "scripted", "choices": [choice]}


def event(value: object) -> bytes:
    return f"data: {json.dumps(value)}\n\n".encode()


END = event(chunk(finish_reason="stop"))


def stream(*pieces: bytes, pause_s: float = 0.0) -> Answer:
    """Answers with these bytes, one after another, and hangs up."""

    def answer(request: Request) -> Iterator[bytes]:
        yield HEAD
        for piece in pieces:
            time.sleep(pause_s)
            yield piece

    return answer


def drip(text: str, size: int = 1) -> Answer:
    """Answers with a text that comes in pieces of so many characters."""
    starts = range(0, len(text), size)
    events = [event(chunk(text[start : start + size])) for start in starts]
    return stream(*events, END, DONE, pause_s=0.002)


def in_turn(*answers: Answer) -> Answer:
    """Answers the first request with the first of these, and so on; the last one is repeated."""
    return lambda request: answers[min(request.number, len(answers)) - 1](request)


# What is told while a reply comes.


async def test_a_text_is_told_while_it_comes() -> None:
    texts, times = ReceivedTexts(), list[float]()

    def on_text(text: str) -> None:
        texts(text)
        times.append(time.monotonic())

    with ScriptedModelServer(LONG, piece_pause_s=0.06) as server:
        async with model_at(server) as model:
            reply = await model.complete(ASK, Sampling(), on_text=on_text)

    assert reply.text == LONG
    assert texts.is_growing_to(LONG)
    assert len(texts) > 8
    assert times[-1] - times[0] > 0.5


async def test_a_text_is_told_at_most_twenty_times_a_second() -> None:
    texts, start = ReceivedTexts(), time.monotonic()
    with ScriptedModelServer(4 * LONG, piece_pause_s=0.02) as server:
        await ask(server, texts)
    seconds = time.monotonic() - start

    assert texts.is_growing_to(4 * LONG)
    assert 2 < len(texts) <= 20 * seconds + 2


def test_long_work_on_a_text_is_done_less_often() -> None:
    live = answer_text.LiveText(lambda text: time.sleep(0.5), lambda text: text)
    live.update(lambda: "a")
    time.sleep(0.1)
    calls = list[str]()

    live.update(lambda: calls.append("b") or "b")

    assert calls == []


@pytest.mark.usefixtures("told_at_once")
@pytest.mark.parametrize(
    ("sent", "said"),
    [
        ("<think>\nSecretly.\n</think>\n\nHello, you.", "Hello, you."),
        ("\n <Thinking>Secretly.</Thinking>Hello, you.", "Hello, you."),
        ("Hello <think>Secretly.</think>you, <b>dear</b>.", "Hello you, <b>dear</b>."),
        ("Hello.\n<think>\nSecretly", "Hello."),
        ("Hello, you.  <|im_end|>\n</s>", "Hello, you."),
        ("Say <\u200b|im_start|>, [\u200bINST] and a <\u200b b.", None),
        ("```\nx = '<think>'\n```\n", "```\nx = '<think>'\n```\n"),
        (f"The key is {KEY}, yes.", "The key is [key], yes."),
        (f"In hex {KEY.encode().hex()}.", "In hex [key]."),
        (f"Half: {KEY[3:15]}.", "Half: [key]."),
    ],
)
async def test_only_what_the_reply_begins_with_is_told(sent: str, said: str | None) -> None:
    texts, whole = ReceivedTexts(), said or sent.replace("\u200b", "", 2)
    with raw_endpoint(drip(sent)) as server:
        reply = await ask(server, texts)

    assert reply.text == whole
    assert texts.is_growing_to(whole), texts
    assert len(texts) > 2


@pytest.mark.usefixtures("told_at_once")
async def test_reasoning_beside_the_text_is_not_told_and_gets_room_the_next_time() -> None:
    texts = ReceivedTexts()
    thoughts = [event(chunk(reasoning_content="Secretly. ")), event(chunk(reasoning="So."))]
    answer = stream(*thoughts, event(chunk("Hello.")), END, DONE, pause_s=0.01)
    with raw_endpoint(answer) as server:
        async with model_at(server) as model:
            reply = await model.complete(ASK, Sampling(max_tokens=50), on_text=texts)
            reserve = vars(model)["_dialect"].reserve

    assert (reply.text, texts) == ("Hello.", ["Hello."])
    assert reserve == 4096


@pytest.mark.usefixtures("told_at_once")
async def test_a_thought_that_begins_unseen_is_told_once_and_then_never_again() -> None:
    first, second = ReceivedTexts(), ReceivedTexts()
    with raw_endpoint(drip("Secretly, I think.\n</think>\nHello, you.")) as server:
        async with model_at(server) as model:
            await model.complete(ASK, Sampling(), on_text=first)
            await model.complete(ASK, Sampling(), on_text=second)

    assert first[-1] == second[-1] == "Hello, you."
    assert second.is_growing_to("Hello, you.")
    assert len(second) > 2


@pytest.mark.usefixtures("told_at_once")
async def test_an_answer_that_was_cut_off_is_told_from_the_start() -> None:
    texts = ReceivedTexts()
    cut = [event(chunk("Hello <think>a, b")), event(chunk(finish_reason="length")), DONE]
    with raw_endpoint(in_turn(stream(*cut, pause_s=0.01), drip("Good day.", 3))) as server:
        reply = await ask(server, texts)

    assert reply.text == "Good day."
    assert reply.usage.calls == 2
    assert texts[0] == "Hello"
    assert ReceivedTexts(texts[1:]).is_growing_to("Good day.")


async def test_a_refused_answer_ends_with_nothing() -> None:
    texts = ReceivedTexts()
    pieces = [event(chunk("Hello!")), event(chunk(finish_reason="content_filter")), DONE]
    with raw_endpoint(stream(*pieces, pause_s=0.05)) as server:
        reply = await ask(server, texts)

    assert (reply.text, texts) == ("", ["Hello!", ""])


async def test_half_a_character_is_not_told(told_at_once: None) -> None:
    texts = ReceivedTexts()
    halves = [b'data: {"choices": [{"delta": {"content": "%b"}}]}\n\n' % half for half in PAIR]
    with raw_endpoint(stream(event(chunk("a")), *halves, END, DONE, pause_s=0.01)) as server:
        reply = await ask(server, texts)

    assert reply.text == "a\U0001f600"
    assert texts.is_growing_to("a\U0001f600")


PAIR = (rb"\ud83d", rb"\ude00")
PIECES = [
    *("<think>", "</think>", "<thi", "nk>", "<|im_end|>", "</s>", "<", "[", "<b>"),
    *("Hello", " ", "\n", "```", "```python\n", "~~~", "x < y", "letmein-", "letmein"),
    *("<\u200b|im_start|>", "<\u200b/s>", "[\u200bINST]", "<\u200b<SYS>>", "<\u200b\u200bthink>"),
    *(KEY, KEY[:9], KEY[:3], KEY[5:], KEY.upper(), KEY.encode().hex()),
]


@settings(max_examples=80, deadline=None)
@given(st.lists(st.sampled_from(PIECES), max_size=9).map("".join))
def test_no_text_begins_with_what_is_taken_back(text: str) -> None:
    # What begins in a thought is known only when that ends; a thought after white space strips it.
    text = f"Well, {text.replace('</think>', '<think></think>')}"
    redactor = Redactor(KEY, "letmein-letmein")
    clean = redactor.clean(text)
    answer = answer_in(clean)

    for size in range(len(text)):
        so_far = redactor.clean_so_far(text[:size])
        assert clean.startswith(so_far)
        assert answer.startswith(answer_so_far(so_far))


def test_most_of_a_text_is_not_held_back() -> None:
    redactor = Redactor(KEY)
    text = "if a < b and c > d:\n    print(x[0])  # done"

    behind = [
        size - len(answer_so_far(redactor.clean_so_far(text[:size]))) for size in range(len(text))
    ]

    assert max(behind) < 8


# The reply is the same as without.

OUTCOMES: list[Outcome] = [
    LONG,
    "",
    "<think>a\nb</think>\nHello.",
    f"The key is {KEY}.",
    "Hello.<|im_end|>",
    Call("look_up", '{"query": "how to brew tea, and with what else"}'),
]


@pytest.mark.parametrize("reports_usage", [True, False])
@pytest.mark.parametrize("outcome", OUTCOMES)
async def test_the_reply_is_the_same_as_without_a_stream(
    outcome: Outcome, reports_usage: bool
) -> None:
    texts, replies = ReceivedTexts(), list[Reply]()
    with ScriptedModelServer([Rule("", outcome)], report_usage=reports_usage) as server:
        async with model_at(server) as model:
            for on_text in (texts, None):
                reply = await model.complete(ASK, Sampling(), tools=[TOOL], on_text=on_text)
                usage = reply.usage.model_copy(update={"seconds": 0.0})
                replies.append(reply.model_copy(update={"usage": usage}))

    stream_request, whole = server.chat_requests
    assert replies[0] == replies[1]
    assert replies[0].usage.calls == 1
    assert bool(replies[0].usage.prompt_tokens) == reports_usage
    assert texts[-1] == replies[0].text
    assert stream_request.body["stream"] is True
    assert stream_request.body["stream_options"] == {"include_usage": True}
    assert "stream" not in whole.body


@pytest.mark.parametrize("reason", ["stop", "length"])
async def test_why_a_text_ends_is_read_from_the_stream(reason: str) -> None:
    with ScriptedModelServer("Hello.", finish_reason=reason) as server:
        reply = await ask(server, ReceivedTexts())

    assert reply.finish_reasons == (reason,)


async def test_usage_is_what_the_server_says_last() -> None:
    counts = [{"prompt_tokens": 3, "completion_tokens": count} for count in (1, 2)]
    counting = [event(chunk("a") | {"usage": count}) for count in counts]
    with raw_endpoint(stream(*counting, event(chunk("b") | {"usage": None}), END, DONE)) as server:
        reply = await ask(server, ReceivedTexts())

    assert (reply.text, reply.usage.prompt_tokens, reply.usage.completion_tokens) == ("aab", 3, 2)


CALLS = {
    "one after another": [
        {"index": 0, "id": "a", "function": {"name": "look_up", "arguments": ""}},
        {"index": 0, "function": {"arguments": '{"query"'}},
        {"index": 0, "id": None, "function": {"name": None, "arguments": ': "tea"}'}},
        {"index": 1, "id": "b", "function": {"name": "look_up", "arguments": '{"query": "pot"}'}},
    ],
    "mixed": [
        {"index": 0, "id": "a", "function": {"name": "look_up", "arguments": '{"query": '}},
        {"index": 1, "id": "b", "function": {"name": "look_up", "arguments": '{"query": '}},
        {"index": 0, "function": {"arguments": '"tea"}'}},
        {"index": 1, "function": {"arguments": '"pot"}'}},
    ],
    "all numbered 0": [
        {"index": 0, "id": "a", "function": {"name": "look_up", "arguments": '{"query": "tea"}'}},
        {"index": 0, "id": "b", "function": {"name": "look_up", "arguments": '{"query": "pot"}'}},
    ],
    "without numbers": [
        {"id": "a", "function": {"name": "look_up", "arguments": '{"query": "tea"}'}},
        {"id": "b", "function": {"name": "look_up", "arguments": '{"query": '}},
        {"function": {"arguments": '"pot"}'}},
    ],
    "the name each time": [
        {"index": 0, "id": "a", "function": {"name": "look_up", "arguments": '{"query": '}},
        {"index": 0, "id": "a", "function": {"name": "look_up", "arguments": '"tea"}'}},
        {"index": 1, "id": "b", "function": {"name": "look_up", "arguments": {"query": "pot"}}},
    ],
    "with what is none": [
        {"index": 0, "id": "a", "function": {"name": "look_up", "arguments": '{"query": "tea"}'}},
        "look_up",
        {"index": 0, "function": "look_up"},
        {"index": 1, "id": "b", "function": {"name": "look_up", "arguments": '{"query": "pot"}'}},
    ],
}


@pytest.mark.parametrize("deltas", CALLS.values(), ids=CALLS)
async def test_calls_are_put_together(deltas: Sequence[object]) -> None:
    pieces = [event(chunk(tool_calls=[delta])) for delta in deltas]
    with raw_endpoint(stream(*pieces, END, DONE)) as server:
        reply = await ask(server, ReceivedTexts())

    calls = [(call.id, call.name, call.arguments) for call in reply.calls]
    assert calls == [
        ("a", "look_up", '{"query": "tea"}'),
        ("b", "look_up", '{"query": "pot"}'),
    ]


class Query(BaseModel):
    query: str


async def test_each_turn_is_told_where_functions_are_called() -> None:
    async def look_up(query: Query) -> str:
        return f"found {query.query}"

    texts, several = ReceivedTexts(), ReceivedTexts()
    tool = Tool("look_up", "Looks up.", Query, look_up)
    turns = [Rule("", Call("look_up", '{"query": "tea"}'), LONG)]
    with ScriptedModelServer(turns) as server:
        async with model_at(server) as model:
            reply = await complete_with_tools(model, ASK, Sampling(), [tool], on_text=texts)
            await complete_with_tools(model, ASK, Sampling(n=2), [tool], on_text=several)

    assert reply.text == texts[-1] == LONG
    assert reply.usage.calls == 2
    assert several == []
    assert ["stream" in request.body for request in server.chat_requests[:2]] == [True, True]


# When it is not looked at.


@pytest.mark.parametrize(
    ("sampling", "schema"), [(Sampling(n=2), None), (Sampling(), {"type": "object"})]
)
async def test_several_replies_and_values_are_not_told(
    sampling: Sampling, schema: dict[str, str] | None
) -> None:
    texts = ReceivedTexts()
    with ScriptedModelServer('{"a": 1}') as server:
        async with model_at(server) as model:
            await model.complete(ASK, sampling, schema=schema, on_text=texts)

    assert texts == []
    assert "stream" not in server.requests[0].body


async def test_a_reply_from_the_cache_is_told_at_once(tmp_path: Path) -> None:
    texts, again = ReceivedTexts(), ReceivedTexts()
    with ScriptedModelServer(LONG, piece_pause_s=0.06) as server:
        async with model_at(server, cache=ReplyCache(tmp_path)) as model:
            await model.complete(ASK, Sampling(), on_text=texts)
            await model.complete(ASK, Sampling(), on_text=again)
            reply = await model.complete(ASK, Sampling())

    assert len(texts) > 2
    assert again == [LONG]
    assert reply.from_cache
    assert len(server.requests) == 1


# Servers that do not stream.


async def test_a_server_that_refuses_streams_is_asked_without_from_then_on() -> None:
    texts, again = ReceivedTexts(), ReceivedTexts()
    with ScriptedModelServer(LONG, refuse_stream=True) as server:
        async with model_at(server) as model:
            reply = await model.complete(ASK, Sampling(), on_text=texts)
            await model.complete(ASK, Sampling(), on_text=again)

    assert (reply.text, texts, again) == (LONG, [LONG], [LONG])
    assert reply.usage.completion_tokens == 60
    assert ["stream" in one.body for one in server.requests] == [True, False, False]
    assert not any("stream_options" in one.body for one in server.requests[1:])


@pytest.mark.parametrize(
    ("status", "refusal"),
    [
        (400, "Unrecognized request argument supplied: stream_options"),
        (422, "body.stream_options.include_usage: Extra inputs are not permitted"),
    ],
)
async def test_a_server_without_options_for_streams_is_asked_without_them(
    status: int, refusal: str
) -> None:
    def script(request: RecordedRequest) -> Outcome:
        return Failure(status, refusal) if "stream_options" in request.body else LONG

    texts = ReceivedTexts()
    with ScriptedModelServer(script, piece_pause_s=0.02) as server:
        async with model_at(server) as model:
            await model.complete(ASK, Sampling(), on_text=ReceivedTexts())
            reply = await model.complete(ASK, Sampling(), on_text=texts)

    assert len(texts) > 2
    assert (reply.usage.calls, reply.usage.prompt_tokens) == (1, 0)
    assert [one.body.get("stream") for one in server.requests] == [True, True, True]
    assert ["stream_options" in one.body for one in server.requests] == [True, False, False]


@pytest.mark.parametrize(
    ("refusal", "is_about_streams"),
    [
        ("Streaming is not supported.", True),
        ("[{'loc': ['body', 'stream'], 'msg': 'Extra inputs are not permitted'}]", True),
        ("Cannot use tools with stream", True),
        ("The upstream server refused tools.", False),
    ],
)
def test_a_refusal_of_streams_is_told_from_others(refusal: str, is_about_streams: bool) -> None:
    dialect = Dialect()
    body = dialect.body("m", ASK, Sampling(), None, [TOOL]) | dialect.stream_body()

    assert dialect.learn(refusal, body)
    assert dialect.supports_stream is not is_about_streams
    assert dialect.supports_tools is is_about_streams


async def test_a_server_that_answers_whole_is_taken_by_its_word_and_learnt() -> None:
    texts, again = ReceivedTexts(), ReceivedTexts()
    usage = {"prompt_tokens": 3, "completion_tokens": 1}
    message = {"choices": [{"message": {"content": LONG}, "finish_reason": "stop"}], "usage": usage}
    with ScriptedModelServer([Rule("", Raw(f"\ufeff\n {json.dumps(message)}"))]) as server:
        async with model_at(server) as model:
            reply = await model.complete(ASK, Sampling(), on_text=texts)
            await model.complete(ASK, Sampling(), on_text=again)

    assert (reply.text, texts, again) == (LONG, [LONG], [LONG])
    assert reply.usage.prompt_tokens == 3
    assert ["stream" in one.body for one in server.requests] == [True, False]


async def test_a_user_may_say_that_nothing_is_streamed() -> None:
    texts = ReceivedTexts()
    with ScriptedModelServer(LONG) as server:
        await ask(server, texts, extra_body={"stream": False})

    assert texts == [LONG]
    assert server.requests[0].body["stream"] is False


# Whatever else a server does.

HELLO = json.dumps(chunk("Hello"))
FORMS = {
    "CRLF": f"data: {HELLO}\r\n\r\n".encode(),
    "no space": f"data:{HELLO}\n\n".encode(),
    "a mark at the start": f"\ufeffdata: {HELLO}\n\n".encode(),
    "blank lines at the start": f"\n\r\n\ndata: {HELLO}\n\n".encode(),
    "comments": f": working\n\n:\ndata: {HELLO}\n: still working\n\n".encode(),
    "other fields": f"event: message\nid: 7\nretry: 10\ndata: {HELLO}\n\n".encode(),
    "several lines": f"data: {HELLO[:1]}\ndata: {HELLO[1:]}\n\n".encode(),
    "no blank lines": f"data: {HELLO}\ndata: {json.dumps(chunk())}\n".encode(),
    "no JSON": f"data: {{\n\ndata: hello\n\ndata\n\nhello\n\ndata: {HELLO}\n\n".encode(),
    "no JSON beside": f"data: hello\ndata: {HELLO}\n\n".encode(),
    "nested too deep": f"data: {'[' * 100_000}\n\ndata: {HELLO}\n\n".encode(),
    "other JSON": b"".join(map(event, [7, ["a"], "b", None, chunk("Hello")])),
    "no choices": b"".join(
        map(event, [{"choices": None}, {"choices": [7]}, {"choices": 7}, {}, chunk("Hello")])
    ),
    "no deltas": b"".join(
        event({"choices": [{"index": 0, "delta": delta}]})
        for delta in (None, 7, [], {"content": 7}, {"content": "Hello"})
    ),
    "no Unicode": b"data: \xff\xfe\n\n" + f"data: {HELLO}\n\n".encode(),
    "no error": event(chunk("Hello") | {"error": None}),
    "parts": event(chunk([{"type": "thinking", "thinking": []}, {"text": "Hel"}, "lo"])),
    "several choices": b"".join(
        event({"choices": [{"index": index, "delta": {"content": text}} for index, text in pair]})
        for pair in [[(1, "Good "), (0, "Hel")], [(0, "lo")], [(1, "day")]]
    ),
}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
@pytest.mark.parametrize("size", [7, 1 << 20])
async def test_events_are_read_in_every_form(form: bytes, size: int) -> None:
    texts, body = ReceivedTexts(), form + END + DONE
    pieces = [body[start : start + size] for start in range(0, len(body), size)]
    with raw_endpoint(stream(*pieces)) as server:
        reply = await ask(server, texts)

    assert (reply.text, texts[-1]) == ("Hello", "Hello")
    assert reply.finish_reasons == ("stop",)


async def test_a_packed_stream_is_unpacked() -> None:
    body = gzip.compress(event(chunk("Hello")) + END + DONE)
    with raw_endpoint(lambda _: [response(body, headers={"Content-Encoding": "gzip"})]) as server:
        reply = await ask(server, ReceivedTexts())

    assert reply.text == "Hello"


@pytest.mark.parametrize(
    ("ends", "reason"),
    [
        ([END], "stop"),
        ([DONE], ""),
        ([END, b": no more"], "stop"),
        ([b"data: [DONE]"], ""),
    ],
)
async def test_one_sign_of_the_end_is_enough(ends: Sequence[bytes], reason: str) -> None:
    with raw_endpoint(stream(event(chunk("Hello")), *ends)) as server:
        reply = await ask(server, ReceivedTexts())

    assert (reply.text, reply.finish_reasons) == ("Hello", (reason,))
    assert len(server.requests) == 1


def _part(data: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(data), data)


def chunked(*pieces: bytes) -> Answer:
    """Answers in parts, the last of which, that ends the body, does not come."""
    head = HEAD.replace(b"Connection: close", b"Transfer-Encoding: chunked")
    return lambda _: [head, *map(_part, pieces)]


async def test_a_connection_that_is_lost_after_the_end_is_no_loss() -> None:
    with raw_endpoint(chunked(event(chunk("Hello")), END)) as server:
        reply = await ask(server, ReceivedTexts())

    assert reply.text == "Hello"
    assert len(server.requests) == 1


async def test_nothing_is_waited_for_after_the_end() -> None:
    def answer(request: Request) -> Iterator[bytes]:
        yield HEAD + event(chunk("Hello")) + END + DONE
        for _ in range(600):
            time.sleep(0.05)
            yield b":\n"

    start = time.monotonic()
    with raw_endpoint(answer) as server:
        reply = await ask(server, ReceivedTexts())
        seconds = time.monotonic() - start

    assert reply.text == "Hello"
    assert seconds < 15


@pytest.mark.usefixtures("told_at_once")
@pytest.mark.parametrize("lost", [stream, chunked], ids=["closed", "broken off"])
async def test_a_reply_that_was_lost_is_asked_for_again_and_told_from_the_start(
    lost: Callable[..., Answer],
) -> None:
    texts = ReceivedTexts()
    with raw_endpoint(in_turn(lost(event(chunk("Hello!"))), drip("Good day.", 3))) as server:
        reply = await ask(server, texts)

    assert reply.text == "Good day."
    assert reply.usage.calls == 1
    assert len(server.requests) == 2
    assert texts[0] == "Hello!"
    assert ReceivedTexts(texts[1:]).is_growing_to("Good day.")


@pytest.mark.usefixtures("told_at_once")
async def test_a_reply_that_was_lost_and_comes_again_is_not_seen_to_shrink() -> None:
    texts, half = ReceivedTexts(), [event(chunk("Good")), event(chunk(" day!"))]
    with raw_endpoint(in_turn(stream(*half, pause_s=0.01), drip("Good day! Yes.", 3))) as server:
        await ask(server, texts)

    assert "Good day!" in texts
    assert texts.is_growing_to("Good day! Yes.")


async def test_a_reply_that_is_always_lost_is_given_up() -> None:
    texts = ReceivedTexts()
    with (
        raw_endpoint(stream(event(chunk("Hello!")))) as server,
        pytest.raises(ModelError, match="was lost before its reply was whole"),
    ):
        await ask(server, texts, max_retries=2)

    assert len(server.requests) == 3
    assert texts == ["Hello!"]


async def test_a_busy_server_is_asked_again() -> None:
    texts = ReceivedTexts()
    with ScriptedModelServer(LONG, first=[Failure(503), Failure(429, retry_after_s=0)]) as server:
        reply = await ask(server, texts)

    assert reply.text == texts[-1] == LONG
    assert len(server.requests) == 3


def failing(**error: object) -> Answer:
    return stream(event(chunk("Hello")), event({"error": error}))


async def test_an_error_in_a_stream_is_told_in_the_servers_words_without_the_key() -> None:
    with (
        raw_endpoint(failing(message=f"out of memory for {KEY}")) as server,
        pytest.raises(ModelError, match=r"did not answer\. It says: out of") as excinfo,
    ):
        await ask(server, ReceivedTexts())

    assert KEY not in str(excinfo.value)
    assert len(server.requests) == 1


async def test_an_error_in_a_stream_is_the_one_that_its_code_says() -> None:
    too_long = {"message": "too long", "type": "exceed_context_size_error"}
    with (
        raw_endpoint(failing(code=400, **too_long)) as server,
        pytest.raises(PromptError),
    ):
        await ask(server, ReceivedTexts())
    with (
        raw_endpoint(failing(code=401, message="who?")) as strict,
        pytest.raises(ModelError, match="rejected the API key"),
    ):
        await ask(strict, ReceivedTexts())

    assert (len(server.requests), len(strict.requests)) == (1, 1)


async def test_an_error_in_a_stream_that_may_pass_is_asked_again() -> None:
    texts = ReceivedTexts()
    with raw_endpoint(in_turn(failing(code=503, message="busy"), drip("Good day.", 3))) as server:
        reply = await ask(server, texts)

    assert reply.text == texts[-1] == "Good day."
    assert len(server.requests) == 2


@pytest.mark.parametrize(
    "sent",
    [b"", DONE, b": nothing\n\n", b"<html></html>", event({}), event({"choices": []}) + DONE],
)
async def test_a_stream_without_a_reply_is_said_to_be_none(sent: bytes) -> None:
    texts = ReceivedTexts()
    with (
        raw_endpoint(stream(sent)) as server,
        pytest.raises(ModelError, match="is not an OpenAI-compatible API"),
    ):
        await ask(server, texts)

    assert texts == []
    assert len(server.requests) == 1


# Bounds.


@pytest.mark.parametrize(
    "piece",
    [
        event(chunk("x" * 1000)),
        event(chunk(tool_calls=[{"index": 0, "id": "x" * 1000}])),
        b"x" * 1000,
    ],
    ids=["text", "calls", "one line"],
)
async def test_no_more_is_held_than_of_a_whole_reply(
    piece: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(endpoint, "MOST_BYTES", 100_000)
    numbers = list[int]()

    def answer(request: Request) -> Iterator[bytes]:
        yield HEAD
        for count in range(20_000):
            numbers.append(count)
            yield piece

    with (
        raw_endpoint(answer) as server,
        pytest.raises(ModelError, match="is not an OpenAI-compatible API"),
    ):
        await ask(server, ReceivedTexts())

    assert len(server.requests) == 1
    assert len(numbers) < 20_000


def test_a_reply_that_is_too_long_is_over_wherever_its_events_end() -> None:
    for length in range(80, 120):
        reader = StreamReader(10_000)
        for _ in range(200):
            reader.take(event(chunk("x" * length)))

        assert reader.is_over
        assert reader.reply() == (200, "")


async def test_envelopes_do_not_count_as_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(endpoint, "MOST_BYTES", 10_000)
    piece = event(chunk("a") | {"id": "x" * 100})
    with raw_endpoint(stream(*[piece] * 300, END, DONE)) as server:
        reply = await ask(server, ReceivedTexts())

    assert reply.text == "a" * 300


async def test_a_stream_of_nothing_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(endpoint, "_MOST_STREAMED_BYTES", 100_000)
    with (
        raw_endpoint(lambda _: itertools.chain([HEAD], itertools.repeat(b":\n" * 500))) as server,
        pytest.raises(ModelError, match="is not an OpenAI-compatible API"),
    ):
        await ask(server, ReceivedTexts(), timeout_s=20)


async def test_a_stream_that_takes_too_long_is_ended() -> None:
    texts, start = ReceivedTexts(), time.monotonic()
    with (
        raw_endpoint(stream(*[event(chunk("a"))] * 1000, pause_s=0.05)) as server,
        pytest.raises(AnswerTimeoutError),
    ):
        await ask(server, texts, timeout_s=3)

    assert texts
    assert time.monotonic() - start < 20


async def test_a_text_is_told_no_further_than_it_is_answered() -> None:
    texts, endless = ReceivedTexts(), "x" * (1 << 17)
    with raw_endpoint(stream(event(chunk(endless)), END, DONE, pause_s=0.05)) as server:
        async with model_at(server) as model:
            reply = await model.complete(ASK, Sampling(max_tokens=9), on_text=texts)

    assert reply.finish_reasons == ("length",)
    assert texts == [reply.text]
    assert len(reply.text) < len(endless)


async def test_whoever_reads_along_may_give_up() -> None:
    with ScriptedModelServer(LONG, piece_pause_s=0.05) as server:
        async with model_at(server) as model:
            task = asyncio.create_task(model.complete(ASK, Sampling(), on_text=ReceivedTexts()))
            await asyncio.sleep(0.2)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            reply = await model.complete(ASK, Sampling())

    assert reply.text == LONG


# Models that pass on what they are asked.


async def test_models_around_a_model_pass_on_what_is_told() -> None:
    texts, counted_texts = ReceivedTexts(), ReceivedTexts()
    with ScriptedModelServer(LONG, piece_pause_s=0.03) as server:
        lazy = LazyModel("scripted", lambda: model_at(server))
        counting = CountingModel(lazy)
        await lazy.complete(ASK, Sampling(), on_text=texts)
        await counting.complete(ASK, Sampling(), on_text=counted_texts)
        await lazy.aclose()

    assert texts.is_growing_to(LONG)
    assert counted_texts.is_growing_to(LONG)
    assert min(len(texts), len(counted_texts)) > 2
    assert counting.usage.calls == 1


async def test_a_workbench_passes_on_what_is_told_and_counts_it_once() -> None:
    texts = ReceivedTexts()
    before = exploration()
    with ScriptedModelServer(LONG, piece_pause_s=0.03) as server:
        async with model_at(server) as model:
            none: Any = SimpleNamespace()
            bench = Workbench(
                before,
                model=model,
                index=none,
                sidecar=none,
                root="root",
                branch="root",
                record=none,
            )
            reply = await bench.model.ask("solution", ASK, Sampling(), on_text=texts)

    usage = bench.exploration.usage.minus(before.usage)
    assert texts.is_growing_to(LONG)
    assert len(texts) > 2
    assert usage == Usage(**reply.usage.model_dump() | {"seconds": usage.seconds})
    assert usage.calls == 1


# The scripted server itself.


@pytest.mark.parametrize("options", [{}, {"stream_options": {"include_usage": True}}])
def test_the_scripted_server_streams_as_servers_do(options: dict[str, Any]) -> None:
    body = {"messages": [{"role": "user", "content": "Hi."}], "stream": True, **options}
    with ScriptedModelServer(LONG) as server:
        url = f"{server.base_url}/chat/completions"
        whole = httpx.post(url, json={**body, "stream": False}).json()
        answer = httpx.post(url, json=body)

    *events, done, rest = answer.text.split("\n\n")
    chunks = [json.loads(one.removeprefix("data: ")) for one in events]
    choices = [one["choices"][0] for one in chunks if one["choices"]]
    pieces = [choice["delta"].get("content", "") for choice in choices]
    assert answer.headers["Content-Type"] == "text/event-stream"
    assert (done, rest) == ("data: [DONE]", "")
    assert "".join(pieces) == LONG
    assert max(map(len, pieces)) == 20
    assert [one["finish_reason"] for one in choices if one["finish_reason"]] == ["stop"]
    assert [one["usage"] for one in chunks if "usage" in one] == (
        [whole["usage"]] if options else []
    )
