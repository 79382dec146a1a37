"""Branches from any client: made, chosen, dropped and told of by messages."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

Console = Any


def value(response: Any) -> str:
    """The plain text of a cell's result."""
    (result,) = [one for one in response.outputs if one["output_type"] == "execute_result"]
    return str(result["data"]["text/plain"])


async def test_a_fork_has_the_state_and_does_not_become_current(console: Console) -> None:
    await console.run("x = 1")

    child = (await console.branch("fork", goal="try two"))["branch"]
    await console.run("x = 2", branch=child)

    assert value(await console.run("x")) == "1"
    assert value(await console.run("x", branch=child)) == "2"


async def test_a_promoted_branch_is_current_and_its_siblings_are_gone(console: Console) -> None:
    await console.run("x = 1")
    loser, winner = [(await console.branch("fork"))["branch"] for _ in range(2)]
    grandchild = (await console.branch("fork", branch=loser))["branch"]
    await console.run("x = 5", branch=winner)

    reply = await console.branch("promote", branch=winner)

    assert reply == {"status": "ok", "branch": winner}
    assert value(await console.run("x")) == "5"
    for branch in (loser, grandchild):
        assert (await console.run("x", branch=branch)).content["ename"] == "BranchNotFound"


async def test_going_to_a_step_leaves_the_step_as_it_is(console: Console) -> None:
    await console.run("x = 1")
    await console.branch("go_to", branch="b0")
    await console.run("x = 2")

    gone_to = await console.branch("go_to", branch="b0")

    assert gone_to["branch"] not in ("b0", "b1")
    assert value(await console.run("x")) == "1"
    assert value(await console.run("x", branch="b1")) == "2"


async def test_going_back_brings_the_history_and_the_count_of_that_step(console: Console) -> None:
    await console.run("first = 1")
    step = (await console.branch("fork"))["branch"]
    await console.run("second = 2")

    await console.branch("go_to", branch=step)
    response = await console.run("third = 3")
    request = {"hist_access_type": "tail", "n": 10}
    history = (await console.ask("history_request", request))["history"]

    assert response.content["execution_count"] == 2
    assert [entry[2] for entry in history] == ["first = 1", "third = 3"]


async def test_a_dropped_branch_is_gone_also_while_it_runs(console: Console) -> None:
    child = (await console.branch("fork"))["branch"]
    running = console.send_cell("print('on', flush=True)\nwhile True: pass", branch=child)
    await console.until_printed(running, "on")

    reply = await console.branch("drop", branch=child)

    assert reply["status"] == "ok"
    assert (await console.outcome_of(running)).content["status"] == "error"
    listing = await console.branch("list")
    assert [branch["id"] for branch in listing["branches"]] == ["b0"]


async def test_the_current_branch_can_not_be_dropped(console: Console) -> None:
    reply = await console.branch("drop", branch="b0")

    assert reply["status"] == "error"
    assert "Go to another first" in reply["evalue"]
    assert value(await console.run("1")) == "1"


async def test_the_list_tells_of_all_branches_and_how_they_are_made(console: Console) -> None:
    await console.run("x = 1")
    child = (await console.branch("fork", goal="faster"))["branch"]
    busy = console.send_cell("print('on', flush=True)\nwhile True: pass", branch=child)
    await console.until_printed(busy, "on")

    listing = await console.branch("list")
    await console.ask("interrupt_request", channel="control", branch=child)
    await console.outcome_of(busy)

    assert listing["current"] == listing["root"] == "b0"
    root, fork = listing["branches"]
    assert (root["id"], root["state"], root["cells"]) == ("b0", "idle", 1)
    assert (fork["parent"], fork["goal"], fork["state"]) == ("b0", "faster", "busy")
    assert fork["created"] == listing["strategy"] == "fork"
    assert root["own_bytes"] > 0
    assert listing["strategy_reason"].startswith("Linux forks")
    assert {"level", "mechanism", "reason"} <= set(listing["sandbox"])


async def test_requests_of_one_branch_keep_their_order(console: Console) -> None:
    first = console.send_cell("import time; time.sleep(0.2); x = 1")
    fork_request = console.send("exploracoder_fork_request", {})
    console.send_cell("x = 2")

    await console.outcome_of(first)
    child = (await console.outcome_of(fork_request)).content["branch"]

    assert value(await console.run("x", branch=child)) == "1"
    assert value(await console.run("x")) == "2"


async def test_on_the_control_channel_nothing_waits_behind_queued_cells(console: Console) -> None:
    running = console.send_cell("print('on', flush=True)\nimport time; time.sleep(60)")
    console.send_cell("1")
    await console.until_printed(running, "on")

    listing = await asyncio.wait_for(console.branch("list", measure=False), 20)
    await console.ask("interrupt_request", channel="control")

    assert listing["branches"][0]["state"] == "busy"
    assert (await console.outcome_of(running)).content["status"] == "error"


async def test_questions_go_to_the_branch_that_is_named(console: Console) -> None:
    child = (await console.branch("fork"))["branch"]
    await console.run("import math\nwatermelon = [1]", branch=child)

    variables = await console.branch("variables", branch=child)
    resolve_reply = await console.branch("resolve", branch=child, names=["math.sqrt", "math.sqqrt"])
    inspect_reply = await console.branch("inspect", branch=child, name="math.sqrt")
    request = {"code": "waterm", "cursor_pos": 6}
    here = await console.ask("complete_request", request)
    there = await console.ask("complete_request", request, branch=child)

    assert [variable["name"] for variable in variables["variables"]] == ["watermelon"]
    assert [name["exists"] for name in resolve_reply["resolved"]] == [True, False]
    assert inspect_reply["inspection"]["found"]
    assert here["matches"] == []
    assert there["matches"] == ["watermelon"]


# A branch request, what it says, and what the answer has to name.
WRONG: tuple[tuple[str, dict[str, Any], str], ...] = (
    ("fork", {"branch": "b99"}, "b99"),
    ("promote", {}, "branch"),
    ("go_to", {"branch": 7}, "branch"),
    ("drop", {"branch": "b0", "force": True}, "force"),
    ("resolve", {"names": "math"}, "names"),
    ("list", {"colour": "red"}, "colour"),
    ("fly", {}, "exploracoder_fly_request"),
)


@pytest.mark.parametrize("channel", ["shell", "control"])
async def test_a_request_in_the_wrong_form_is_answered_and_nothing_is_lost(
    console: Console, channel: str
) -> None:
    await console.run("x = 1")

    answers = [
        await console.branch(verb, channel=channel, **content) for verb, content, _name in WRONG
    ]

    for (_verb, _content, name), answer in zip(WRONG, answers, strict=True):
        assert answer["status"] == "error"
        assert answer["ename"] in ("BadRequest", "BranchNotFound")
        assert name in answer["evalue"]
    assert value(await console.run("x")) == "1"


async def test_a_notebooks_own_metadata_does_no_harm(console: Console) -> None:
    response = await console.run("1", role="candidate", subtask="s1")

    assert response.content["status"] == "ok"


async def test_metadata_in_the_wrong_form_is_answered_with_an_error(console: Console) -> None:
    bad_branch = await console.run("1", branch=3)
    bad_limits = await console.run("1", limits={"wall_seconds": -1})

    assert bad_branch.content["ename"] == bad_limits.content["ename"] == "BadRequest"
    assert "wall_seconds" in bad_limits.content["evalue"]


async def test_completions_tell_their_types(console: Console) -> None:
    await console.run("class Watermelon: pass")

    reply = await console.ask("complete_request", {"code": "Waterm", "cursor_pos": 6})

    (completion,) = reply["metadata"]["_jupyter_types_experimental"]
    assert reply["matches"] == ["Watermelon"]
    assert (completion["text"], completion["start"], completion["end"]) == ("Watermelon", 0, 6)
    assert completion["type"]
