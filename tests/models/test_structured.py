from __future__ import annotations

from pathlib import Path

import pytest
from exploracoder.errors import ReplyError
from exploracoder.models.chat import Message, Sampling
from exploracoder.models.counting import CountingModel
from exploracoder.models.model_cost import Usage
from exploracoder.models.openai_client import OpenAIChatModel
from exploracoder.models.reply_cache import ReplyCache
from exploracoder.models.structured import complete_json
from exploracoder.testing import RecordedRequest, Rule, ScriptedModelServer
from pydantic import BaseModel


class Plan(BaseModel):
    steps: list[str]


ASK = [Message("user", "plan the work")]


async def plan_from(
    server: ScriptedModelServer, cache: ReplyCache | None = None
) -> tuple[Plan, Usage]:
    async with OpenAIChatModel(server.base_url, "", "scripted", cache=cache) as model:
        counting = CountingModel(model)
        return await complete_json(counting, ASK, Sampling(), Plan), counting.usage


@pytest.mark.parametrize(
    "text",
    [
        '{"steps": ["read"]}',
        '```json\n{"steps": ["read"]}\n```',
        '```\n{"steps": ["read"]}\n``` \n',
    ],
)
async def test_a_reply_becomes_a_value_also_out_of_a_fence(text: str) -> None:
    with ScriptedModelServer(text) as server:
        plan, usage = await plan_from(server)

    assert plan == Plan(steps=["read"])
    assert usage.calls == 1
    assert server.requests[0].body["response_format"]["json_schema"]["schema"]["required"] == [
        "steps"
    ]


async def test_a_malformed_reply_goes_back_with_what_is_wrong() -> None:
    rules = [
        Rule("plan the work", '{"steps": "read"}'),
        Rule("steps: Input should be a valid array", '{"steps": ["read"]}'),
    ]
    with ScriptedModelServer(rules) as server:
        plan, usage = await plan_from(server)

    assert plan == Plan(steps=["read"])
    assert usage.calls == 2
    turns = server.requests[1].body["messages"]
    assert [turn["role"] for turn in turns] == ["user", "assistant", "user"]
    assert turns[1]["content"] == '{"steps": "read"}'


async def test_after_two_corrections_it_gives_up_and_shows_the_reply() -> None:
    with (
        ScriptedModelServer("I would rather not") as server,
        pytest.raises(ReplyError, match=r"after 3 tries.*'I would rather not'"),
    ):
        await plan_from(server)

    assert len(server.requests) == 3


async def test_json_inside_prose_is_not_dug_out() -> None:
    with ScriptedModelServer('Sure! {"steps": ["read"]}') as server, pytest.raises(ReplyError):
        await plan_from(server)


async def test_a_reply_that_was_cut_off_is_asked_to_be_shorter() -> None:
    def script(request: RecordedRequest) -> str:
        return '{"steps": ["read"]}' if "shorter" in request.last_user_message else '{"steps": ["r'

    with ScriptedModelServer(script, finish_reason="length") as server:
        plan, _ = await plan_from(server)

    assert plan == Plan(steps=["read"])


async def test_a_value_from_the_cache_costs_nothing(tmp_path: Path) -> None:
    cache = ReplyCache(tmp_path)
    with ScriptedModelServer('{"steps": []}') as server:
        await plan_from(server, cache)
        _, usage = await plan_from(server, cache)

    assert usage.calls == 0
    assert len(server.requests) == 1
