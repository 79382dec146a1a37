"""The life of an exploration in a server."""

from __future__ import annotations

import asyncio
from typing import Any

import nbformat
from exploracoder.testing import Delay, Failure

from .conftest import GOALS, House, Model, TeaModel, fenced, request
from .server import Client


async def planned(client: Client, **changes: Any) -> Any:
    """An exploration that waits for the review of its plan."""
    start = await client.start(**request(**changes))
    state = await client.rested(start["exploration"]["id"])
    assert state["exploration"]["is_planned"], state["progress"]
    return state


async def in_review(client: Client, **changes: Any) -> tuple[str, Any]:
    """An exploration that proposes a candidate of its first subtask."""
    state = await planned(client, **changes)
    id_ = state["exploration"]["id"]
    assert (await client.do(id_, "go_on")).status == 202
    return id_, await client.rested(id_)


def statuses(state: Any) -> list[str]:
    """The steps' states."""
    return [step["status"] for step in state["exploration"]["steps"]]


async def test_a_new_exploration_plans_and_waits_for_its_user(client: Client) -> None:
    state = await planned(client)

    assert state["progress"]["error"] == ""
    assert [step["subtask"]["goal"] for step in state["exploration"]["steps"]] == list(GOALS)
    assert state["exploration"]["status"] == "waiting"


async def test_its_notebook_lies_beside_the_users_and_has_its_kernel(client: Client) -> None:
    root = client.server.root
    (root / "work").mkdir(exist_ok=True)

    first = await client.start(**request(path="work/tea.ipynb"))
    second = await client.start(**request(path="work/tea.ipynb"))

    assert first["path"] == "work/tea-exploration.ipynb"
    assert second["path"] == "work/tea-exploration-2.ipynb"
    assert first["source_path"] == second["source_path"] == "work/tea.ipynb"
    sessions = {one["path"]: one["kernel"]["id"] for one in await client.jupyter("GET", "sessions")}
    assert sessions[first["path"]] == first["kernel_id"]
    assert sessions[second["path"]] == second["kernel_id"]
    assert nbformat.read(root / first["path"], as_version=4).metadata["exploracoder"]["id"]


async def test_without_a_notebook_it_lies_at_the_root(client: Client) -> None:
    start = await client.start(**request())

    assert start["path"].startswith("exploration")
    assert "/" not in start["path"]


async def test_from_plan_to_verified_solution_by_accepting_each_step(client: Client) -> None:
    id_, state = await in_review(client)

    while "review" in statuses(state):
        step = next(one for one in state["exploration"]["steps"] if one["status"] == "review")
        answer = await client.do(id_, "accept", subtask=step["subtask"]["id"])
        assert answer.status == 202, answer.text
        state = await client.rested(id_)
    await client.do(id_, "synthesize")
    state = await client.rested(id_)

    assert set(statuses(state)) == {"done"}
    assert state["exploration"]["status"] == "solved", state["progress"]["error"]
    script = await client.get(f"explorations/{id_}/export?format=py")
    assert script.status == 200
    assert script.headers["content-type"] == "text/x-python; charset=utf-8"
    assert "names = [leaf.name for leaf in kept]" in script.text


async def test_what_can_be_done_is_told_and_nothing_else_is_taken(client: Client) -> None:
    start = await client.start(**request())
    id_ = start["exploration"]["id"]
    at_plan = await client.rested(id_)
    refusal = await client.do(id_, "accept", subtask="step-1")
    async with client.tab() as tab:
        await client.do(id_, "go_on")
        events = await tab.until(lambda event: "accept" in abilities(event).get("step-1/1", []))
    state = await client.rested(id_)

    assert start["abilities"] == {"": ["cancel"]}
    assert "go_on" in at_plan["abilities"][""]
    assert "accept" not in at_plan["abilities"].get("step-1/1", [])
    assert refusal.status == 409
    assert [one[""] for one in map(abilities, events) if "cancel" in one.get("", [])]
    assert "accept" in state["abilities"]["step-1/1"]
    assert "go_on" not in state["abilities"][""]
    assert (await client.do(id_, "go_on")).status == 409


def abilities(event: Any) -> Any:
    """What an event says can be done now, and could not before, or the other way round."""
    return event.get("change", {}).get("abilities", {})


async def test_in_auto_mode_it_works_to_the_end(client: Client) -> None:
    start = await client.start(**request(mode="auto"))
    id_ = start["exploration"]["id"]

    state = await client.rested(id_)

    assert state["exploration"]["status"] == "solved", state["progress"]["error"]
    notebook = nbformat.read(client.server.root / state["path"], as_version=4)
    assert notebook.metadata["exploracoder"]["status"] == "solved"
    assert notebook.metadata["exploracoder"]["revision"] == (await client.state(id_))["revision"]
    assert [cell.id for cell in notebook.cells][-1] == "branches"


async def test_events_bring_the_cells_that_changed(client: Client) -> None:
    id_, state = await in_review(client)
    position = {"epoch": state["epoch"], "after": state["number"]}
    await client.do(id_, "add_subtask", goal="Count <script>alert(1)</script> them")

    after = await client.state(id_)
    async with client.tab(position) as tab:
        events = await tab.until(lambda said: said["number"] >= after["number"])

    cells = {cell["id"]: cell for cell in state["cells"]}
    changes = [one["cells"] for one in events if one.get("id") == id_]
    changed_cells = {cell["id"]: cell for one in changes for cell in one["cells"]}
    order = [one["order"] for one in changes if one["order"]][-1]
    subtask = after["exploration"]["steps"][-1]["subtask"]["id"]
    assert {f"{subtask}-goal", subtask} <= set(changed_cells)
    assert "task" not in changed_cells
    assert "<script>" not in changed_cells[f"{subtask}-goal"]["source"]
    assert [(cells | changed_cells)[name] for name in order] == after["cells"]


async def test_who_has_not_seen_the_last_decision_decides_nothing(client: Client) -> None:
    id_, state = await in_review(client)
    first = state["exploration"]["steps"][0]["subtask"]["id"]
    command = {"kind": "rename_subtask", "subtask": first, "goal": "What the one wants"}
    path = f"explorations/{id_}/command?revision={state['revision']}"

    one = await client.post(path, command)
    other = await client.post(path, {**command, "goal": "What the other wants"})
    after = await client.state(id_)

    assert (one.status, other.status) == (202, 409)
    assert "changed meanwhile" in other.message
    assert after["exploration"]["steps"][0]["subtask"]["goal"] == "What the one wants"


async def test_code_of_the_users_own_is_tried_and_accepted(client: Client) -> None:
    id_, state = await in_review(client)
    first = state["exploration"]["steps"][0]["subtask"]["id"]

    answer = await client.do(
        id_, "try_code", subtask=first, code="import tealeaf\nleaves = tealeaf.read_leaves(text)"
    )
    state = await client.rested(id_)

    assert answer.status == 202
    assert statuses(state)[:2] == ["done", "review"]
    step = state["exploration"]["steps"][0]
    origins = {one["id"]: one["origin"] for one in step["candidates"]}
    assert origins[step["chosen"]] == "user"


async def test_going_back_opens_a_step_and_the_later_ones(client: Client) -> None:
    id_, state = await in_review(client)
    first = state["exploration"]["steps"][0]["subtask"]["id"]
    await client.do(id_, "accept", subtask=first)
    assert statuses(await client.rested(id_))[0] == "done"

    await client.do(id_, "go_back", subtask=first)
    state = await client.rested(id_)

    assert statuses(state)[0] == "review"
    assert "done" not in statuses(state)


async def test_what_runs_can_be_cancelled_and_gone_on_with(client: Client, model: Model) -> None:
    state = await planned(client)
    id_ = state["exploration"]["id"]
    slow = TeaModel()
    model.script = lambda asked: Delay(30, slow(asked))
    await client.do(id_, "go_on")
    busy = await client.do(id_, "go_on")

    assert (await client.do(id_, "cancel")).status == 202
    state = await client.until(id_, lambda state: state["progress"]["activity"] != "working")
    model.script = TeaModel()
    await client.do(id_, "go_on")
    state = await client.rested(id_)

    assert busy.status == 409
    assert "review" in statuses(state), state["progress"]


async def test_a_model_that_is_down_is_said_and_asked_again(client: Client, model: Model) -> None:
    model.script = TeaModel(is_lost=True)
    state = await planned(client)
    id_ = state["exploration"]["id"]
    model.script = lambda asked: Failure(401, "no such key")
    await client.do(id_, "go_on")
    state = await client.rested(id_)
    model.script = TeaModel()
    error = state["progress"]["error"]
    await client.do(id_, "go_on")
    state = await client.rested(id_)

    assert "key" in error
    assert state["progress"]["error"] == ""
    assert "review" in statuses(state)


async def test_two_explorations_work_at_the_same_time(client: Client) -> None:
    first, second = await asyncio.gather(
        client.start(**request(mode="auto")), client.start(**request(mode="auto"))
    )

    ends = await asyncio.gather(
        *(client.rested(one["exploration"]["id"]) for one in (first, second))
    )

    assert [end["exploration"]["status"] for end in ends] == ["solved", "solved"]
    assert first["kernel_id"] != second["kernel_id"]


async def test_a_closed_exploration_is_a_past_one_and_its_notebook_stays(client: Client) -> None:
    state = await planned(client)
    id_ = state["exploration"]["id"]

    answer = await client.ask("DELETE", f"explorations/{id_}")

    assert answer.status == 204
    explorations = {
        one["id"]: one for one in (await client.get("explorations")).json["explorations"]
    }
    assert not explorations[id_]["is_open"]
    assert (client.server.root / state["path"]).exists()
    running = [one["id"] for one in await client.jupyter("GET", "kernels")]
    assert state["kernel_id"] not in running
    assert (await client.get(f"explorations/{id_}")).status == 404
    assert (await client.do(id_, "go_on")).status == 404


async def test_variables_come_along_from_a_kernel_of_the_server(client: Client) -> None:
    kernel = await client.jupyter("POST", "kernels", {"name": "python3"})
    await client.run_in_kernel(kernel["id"], "text = 'assam 5; sencha 2; oolong 4'")

    start = await client.start(
        **request(context="", bring=["text"], kernel_id=kernel["id"], kernel_name="python3")
    )
    state = await client.rested(start["exploration"]["id"])
    await client.jupyter("DELETE", f"kernels/{kernel['id']}")

    assert state["progress"]["error"] == ""
    assert [one["name"] for one in state["exploration"]["brought"]["variables"]] == ["text"]


async def test_a_repair_is_asked_for_with_a_hint(client: Client, model: Model) -> None:
    script = TeaModel(drafts={1: [fenced("1 / 0")]}, debugs={1: [fenced("leaves = []")]})
    model.script = script
    id_, state = await in_review(client, settings={"candidates": 1, "self_debug": False})
    step = state["exploration"]["steps"][0]

    await client.do(
        id_,
        "debug",
        subtask=step["subtask"]["id"],
        candidate=step["candidates"][0]["id"],
        hint="do not divide",
    )
    state = await client.rested(id_)

    assert "debug" in [one["origin"] for one in state["exploration"]["steps"][0]["candidates"]]


async def test_the_one_used_longest_ago_makes_room_and_can_be_resumed(
    house: House, model: Model
) -> None:
    server = house.server("parking", options=("--ExploraCoder.max_open=2",))
    client = Client(server)
    first, second = [(await planned(client))["exploration"]["id"] for _ in range(2)]
    # To look at one is not to use it, and who is refused takes nobody's place.
    assert (await client.get(f"explorations/{first}")).status == 200
    refusal = await client.post("explorations", request(libraries=["./nowhere"]))
    assert (await client.do(first, "set_mode", mode="review")).status == 202

    third = await planned(client)

    async def open_ones() -> set[str]:
        explorations = (await client.get("explorations")).json["explorations"]
        return {one["id"] for one in explorations if one["is_open"]}

    assert refusal.status == 400
    assert await open_ones() == {first, third["exploration"]["id"]}
    explorations = (await client.get("explorations")).json["explorations"]
    path = next(one["path"] for one in explorations if one["id"] == second)
    again = await client.post("explorations/open", {"path": path})
    assert again.status == 200 and again.json["exploration"]["id"] == second
    assert len(await open_ones()) == 2
    await client.aclose()


async def test_those_at_work_are_never_closed_for_another(house: House, model: Model) -> None:
    server = house.server("all-at-work", options=("--ExploraCoder.max_open=1",))
    client = Client(server)
    model.script = lambda asked: Delay(5, TeaModel()(asked))
    working = await client.start(**request())

    refusal = await client.post("explorations", request())

    assert refusal.status == 409
    assert "all are working" in refusal.message
    assert (await client.get(f"explorations/{working['exploration']['id']}")).status == 200
    await client.aclose()
