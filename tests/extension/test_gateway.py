"""Kernels behind a gateway: another Jupyter server starts them."""

from __future__ import annotations

import pytest

from .conftest import House, Model, request
from .server import TOKEN, Client

pytestmark = pytest.mark.thorough


async def test_an_exploration_works_with_kernels_of_a_gateway(house: House, model: Model) -> None:
    gateway = house.server("gateway")
    options = (f"--GatewayClient.url={gateway.url}", f"--GatewayClient.auth_token={TOKEN}")
    behind = house.server("behind", options=options)
    client = Client(behind)

    start = await client.start(**request(mode="auto", libraries=["json"], settings={}))
    id_ = start["exploration"]["id"]
    state = await client.rested(id_)
    remote = await Client(gateway).jupyter("GET", "kernels")
    await client.ask("DELETE", f"explorations/{id_}")
    await client.aclose()

    assert [kernel["id"] for kernel in remote] == [start["kernel_id"]]
    assert state["exploration"]["is_planned"], state["progress"]
    assert state["exploration"]["python"] == ""
    assert "OPENAI_API_KEY" not in behind.log
