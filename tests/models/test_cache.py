from __future__ import annotations

import asyncio
import multiprocessing
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from exploracoder.effort import ReasoningEffort
from exploracoder.errors import SetupError
from exploracoder.models.chat import Message, Reply, Sampling
from exploracoder.models.model_cost import Usage
from exploracoder.models.openai_client import OpenAIChatModel
from exploracoder.models.reply_cache import ReplyCache
from exploracoder.testing import ScriptedModelServer

ASK = [Message("user", "hello")]
REPLY = Reply(texts=("hi",), usage=Usage(calls=1, prompt_tokens=1), model="m")


def _rows(folder: Path) -> int:
    with closing(sqlite3.connect(folder / "replies.sqlite")) as connection:
        count: int = connection.execute("SELECT count(*) FROM replies").fetchone()[0]
    return count


async def test_a_repeated_question_is_answered_without_the_server(tmp_path: Path) -> None:
    with ScriptedModelServer("hi there") as server:
        cache = ReplyCache(tmp_path)
        async with OpenAIChatModel(server.base_url, "", "scripted", cache=cache) as model:
            first = await model.complete(ASK, Sampling(seed=1))
            again = await model.complete(ASK, Sampling(seed=1))

    assert len(server.requests) == 1
    assert again == first.model_copy(update={"from_cache": True})
    assert first.asked == first.usage
    assert again.asked == Usage()


async def test_any_difference_in_the_question_asks_the_server(tmp_path: Path) -> None:
    with ScriptedModelServer("hi") as server:
        cache = ReplyCache(tmp_path)
        async with OpenAIChatModel(server.base_url, "", "scripted", cache=cache) as model:
            await model.complete(ASK, Sampling())
            await model.complete(ASK, Sampling(seed=2))
            await model.complete(ASK, Sampling(), schema={"type": "object"})
            await model.complete([*ASK, Message("assistant", "hi")], Sampling())
        async with OpenAIChatModel(server.base_url, "", "other", cache=cache) as model:
            await model.complete(ASK, Sampling())

    assert len(server.requests) == 5
    assert _rows(tmp_path) == 5


async def test_an_effort_is_part_of_the_question_only_if_it_is_set(tmp_path: Path) -> None:
    questions: list[dict[str, Any]] = []

    class Noting(ReplyCache):
        def next_key(self, question: Mapping[str, Any]) -> str:
            questions.append(dict(question))
            return super().next_key(question)

    efforts: list[ReasoningEffort | None] = [None, "low", "high", "low"]
    cache = Noting(tmp_path)
    with ScriptedModelServer("hi") as server:
        for effort in efforts:
            async with OpenAIChatModel(
                server.base_url, "", "scripted", cache=cache, reasoning_effort=effort
            ) as model:
                await model.complete(ASK, Sampling())

    assert len(server.requests) == _rows(tmp_path) == 3
    assert [one.get("reasoning_effort", "unset") for one in questions] == [
        "unset",
        "low",
        "high",
        "low",
    ]


async def test_what_is_asked_twice_in_a_measurement_is_asked_twice_and_replayed_twice(
    tmp_path: Path,
) -> None:
    request_counts, hits = [], []
    with ScriptedModelServer("hi") as server:
        for _ in range(2):
            cache = ReplyCache(tmp_path, is_free=False)
            async with OpenAIChatModel(server.base_url, "", "scripted", cache=cache) as model:
                await model.complete(ASK, Sampling(seed=1))
                await model.complete(ASK, Sampling(seed=1))
            request_counts.append(len(server.requests))
            hits.append(cache.hits)

    # Without any cache it would have cost two requests; a run that was ended goes on from there.
    assert request_counts == [2, 2]
    assert hits == [0, 2]


async def test_two_that_ask_the_same_of_one_folder_at_the_same_time_ask_it_once(
    tmp_path: Path,
) -> None:
    async def ask_with_own_cache(server: ScriptedModelServer, seed: int) -> int:
        cache = ReplyCache(tmp_path, is_free=False)
        async with OpenAIChatModel(server.base_url, "", "scripted", cache=cache) as model:
            await model.complete(ASK, Sampling(seed=seed))
        return cache.hits

    with ScriptedModelServer("hi") as server:
        hits = await asyncio.gather(*(ask_with_own_cache(server, seed) for seed in (1, 1, 1, 2)))

    assert sorted(hits[:3]) == [0, 1, 1]
    assert hits[3] == 0
    assert len(server.requests) == 2


def test_the_order_of_fields_does_not_change_the_key() -> None:
    assert ReplyCache.key({"a": 1, "b": "é"}) == ReplyCache.key({"b": "é", "a": 1})


def _fill(folder: Path, start: int) -> None:
    cache = ReplyCache(folder)
    for number in range(start, start + 50):
        cache.put(f"key-{number}", REPLY)


def test_two_processes_write_into_one_cache(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    writers = [context.Process(target=_fill, args=(tmp_path, start)) for start in (0, 25)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join(30)

    cache = ReplyCache(tmp_path)
    assert [writer.exitcode for writer in writers] == [0, 0]
    assert _rows(tmp_path) == 75
    assert cache.get("key-74") == REPLY.model_copy(update={"from_cache": True})


def test_a_file_that_is_no_cache_is_named(tmp_path: Path) -> None:
    (tmp_path / "replies.sqlite").write_text("this is not a database, whatever its name says")

    with pytest.raises(SetupError, match=r"replies\.sqlite cannot be used"):
        ReplyCache(tmp_path)


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    with pytest.raises(SetupError, match="Cannot create the reply cache"):
        ReplyCache(tmp_path / "file" / "cache")
