"""The life of an exploration in a server."""

from __future__ import annotations

from .conftest import request
from .server import Client


async def test_an_exploration_works_until_it_has_to_ask(client: Client) -> None:
    opened = await client.start(**request())

    state = await client.rested(opened["exploration"]["id"])

    assert state["progress"]["error"] == ""
    assert [step["status"] for step in state["exploration"]["steps"]] == ["pending"] * 3
    assert state["exploration"]["status"] == "waiting"
