"""Functions that a model may have called: bounded, checked, and done without where unknown."""

from __future__ import annotations

import json

import pytest
from exploracoder.models.chat import Message, Sampling
from exploracoder.models.model_functions import Tool, complete_with_tools
from exploracoder.models.openai_client import OpenAIChatModel
from exploracoder.models.reply_cache import ReplyCache
from exploracoder.testing import Call, Failure, Outcome, RecordedRequest, Rule, ScriptedModelServer
from pydantic import BaseModel

ASK = [Message("user", "How do I brew?")]
BREW = Call("look_up", '{"query": "brew"}')


class Query(BaseModel):
    query: str


class Lookups:
    """A function that remembers what it was asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    async def act(self, query: Query) -> str:
        self.asked.append(query.query)
        return f"found {query.query}"

    @property
    def tool(self) -> Tool:
        return Tool("look_up", "Looks something up.", Query, self.act)


def then(*outcomes: Outcome) -> list[Rule]:
    return [Rule("", *outcomes)]


async def ask(server: ScriptedModelServer, lookups: Lookups, n: int = 1, **options: object):  # type: ignore[no-untyped-def]
    async with OpenAIChatModel(server.base_url, "", server.model, max_retries=0) as model:
        return await complete_with_tools(model, ASK, Sampling(n=n, seed=1), [lookups.tool])


async def test_the_model_sees_what_the_function_answered() -> None:
    lookups = Lookups()
    with ScriptedModelServer(then(BREW, "Use brew().")) as server:
        reply = await ask(server, lookups)

    first, second = server.chat_requests
    assert reply.text == "Use brew()."
    assert reply.usage.calls == 2
    assert lookups.asked == ["brew"]
    function = first.body["tools"][0]["function"]
    assert (function["name"], function["parameters"]["required"]) == ("look_up", ["query"])
    call, answer = second.body["messages"][1:]
    assert call["tool_calls"][0]["id"] == answer["tool_call_id"]
    assert (answer["role"], answer["content"]) == ("tool", "found brew")


async def test_a_model_that_never_stops_calling_has_five_calls() -> None:
    lookups = Lookups()
    with ScriptedModelServer(lambda asked: BREW if "tools" in asked.body else "Enough.") as server:
        reply = await ask(server, lookups)

    assert len(lookups.asked) == 5
    assert reply.text == "Enough."
    assert [("tools" in request.body) for request in server.chat_requests] == [True] * 5 + [False]


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (Call("delete_all", "{}"), "There is no function 'delete_all'; there is look_up."),
        (Call("look_up", "{query"), "The arguments cannot be used: Invalid JSON"),
        (Call("look_up", '{"question": 1}'), "The arguments cannot be used: Field required"),
    ],
)
async def test_a_wrong_call_is_answered_with_what_is_wrong(call: Call, said: str) -> None:
    lookups = Lookups()
    with ScriptedModelServer(then(call, "Well.")) as server:
        reply = await ask(server, lookups)

    answer = server.chat_requests[1].body["messages"][-1]["content"]
    assert answer.startswith(said)
    assert (reply.text, lookups.asked) == ("Well.", [])


async def test_all_texts_answer_the_same_lookups() -> None:
    lookups = Lookups()
    with ScriptedModelServer(then(BREW, "one", ["two", "three"])) as server:
        reply = await ask(server, lookups, n=3)

    assert reply.texts == ("one", "two", "three")
    assert lookups.asked == ["brew"]
    last = server.chat_requests[-1].body
    assert (last["n"], last["seed"], "tools" in last) == (2, 2, False)
    assert last["messages"][-1]["content"] == "found brew"


async def test_a_server_without_tools_is_asked_without() -> None:
    lookups = Lookups()
    with ScriptedModelServer("Plain.", refuse_tools=True) as server:
        reply = await ask(server, lookups)

    assert reply.text == "Plain."
    assert [("tools" in request.body) for request in server.chat_requests] == [True, False]


async def test_calls_are_kept_in_the_reply_cache(tmp_path) -> None:  # type: ignore[no-untyped-def]
    cache = ReplyCache(tmp_path)
    lookups = Lookups()
    with ScriptedModelServer(then(BREW, "Use brew().")) as server:
        for _ in range(2):
            async with OpenAIChatModel(server.base_url, "", server.model, cache=cache) as model:
                reply = await complete_with_tools(model, ASK, Sampling(), [lookups.tool])

    assert len(server.chat_requests) == 2
    assert reply.text == "Use brew()."
    assert reply.usage.calls == 0
    assert json.dumps(lookups.asked) == '["brew", "brew"]'


async def test_a_hosted_model_without_tools_is_asked_without() -> None:
    def script(request: RecordedRequest) -> str | Failure:
        if "tools" in request.body:
            return Failure(404, "No endpoints found that support tool use.")
        return "Plain."

    with ScriptedModelServer(script) as server:
        reply = await ask(server, Lookups())

    assert reply.text == "Plain."
    assert [("tools" in request.body) for request in server.chat_requests] == [True, False]


async def test_a_gateway_that_takes_no_calls_without_tools_is_told_of_them_in_words() -> None:
    def script(request: RecordedRequest) -> str | Call | Failure | list[str]:
        if "tools" in request.body:
            return BREW if len(request.body["messages"]) == 1 else "one"
        if any("tool_calls" in turn for turn in request.body["messages"]):
            return Failure(400, "Anthropic doesn't support tool calling without `tools=` param.")
        return ["two", "three"]

    with ScriptedModelServer(script) as server:
        reply = await ask(server, Lookups(), n=3)

    assert reply.texts == ("one", "two", "three")
    question, call, result = server.chat_requests[-1].body["messages"]
    assert (question["role"], call["role"], result["role"]) == ("user", "assistant", "user")
    assert "look_up" in call["content"]
    assert result["content"] == "The result:\nfound brew"


async def test_arguments_that_were_cut_off_are_not_sent_back() -> None:
    with ScriptedModelServer(then(Call("look_up", '{"query": "a'), "Well.")) as server:
        await ask(server, Lookups())

    call = server.chat_requests[1].body["messages"][1]["tool_calls"][0]
    assert call["function"]["arguments"] == "{}"
