"""Comms between a front end and objects in a branch, which widgets are made of."""

from __future__ import annotations

from typing import Any

import pytest

Console = Any

pytest.importorskip("comm", reason="the package comes with ipykernel")

OPEN = """
import comm
said = []
mine = comm.create_comm(target_name="echo", data={"n": 1}, buffers=[b"raw"])
def answer(message):
    said.append(message["content"]["data"]["n"])
    print("heard", said[-1])
    mine.send({"twice": 2 * said[-1]})
mine.on_msg(answer)
mine.comm_id
"""


async def opened(console: Console) -> tuple[str, Any]:
    """The id of a comm that answers, and what came while its cell ran."""
    response = await console.run(OPEN)
    return str(response.outputs[-1]["data"]["text/plain"].strip("'")), response


async def test_a_comm_is_opened_and_known(console: Console) -> None:
    comm_id, response = await opened(console)

    comms = (await console.ask("comm_info_request"))["comms"]
    others = (await console.ask("comm_info_request", {"target_name": "other"}))["comms"]
    (opening,) = [one for one in response.published if one["msg_type"] == "comm_open"]

    assert opening["content"]["data"] == {"n": 1}
    assert [bytes(buffer) for buffer in opening["buffers"]] == [b"raw"]
    assert comms == {comm_id: {"target_name": "echo"}}
    assert others == {}


async def test_what_a_front_end_says_reaches_its_object_and_the_answer_comes_back(
    console: Console,
) -> None:
    comm_id, _response = await opened(console)

    message_id = console.send("comm_msg", {"comm_id": comm_id, "data": {"n": 21}})
    await console.run("1")
    response = await console.run("said")

    messages = console.published[message_id]
    kinds = [message["msg_type"] for message in messages]
    assert kinds == ["status", "stream", "comm_msg", "status"]
    assert messages[1]["content"]["text"] == "heard 21\n"
    assert messages[2]["content"]["data"] == {"twice": 42}
    assert response.outputs[0]["data"]["text/plain"] == "[21]"


async def test_a_fork_has_the_comms_of_its_parent_for_itself(console: Console) -> None:
    comm_id, _response = await opened(console)
    child = (await console.branch("fork"))["branch"]

    console.send("comm_msg", {"comm_id": comm_id, "data": {"n": 3}}, branch=child)
    there = await console.run("said", branch=child)
    here = await console.run("said")

    assert there.outputs[0]["data"]["text/plain"] == "[3]"
    assert here.outputs[0]["data"]["text/plain"] == "[]"


async def test_a_closed_comm_is_not_known_any_more(console: Console) -> None:
    await opened(console)

    await console.run("mine.close()")

    assert (await console.ask("comm_info_request"))["comms"] == {}


async def test_a_message_to_a_comm_that_is_not_there_stops_nobody(console: Console) -> None:
    console.send("comm_msg", {"comm_id": "nothing", "data": {}})
    console.send("comm_msg", {"data": {}})

    assert (await console.run("1")).content["status"] == "ok"
