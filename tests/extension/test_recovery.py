"""Servers and kernels that end, notebooks that were edited: nothing accepted is lost."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from waiting import until

from .conftest import House, Model, request
from .server import Client, Server


@pytest.fixture(scope="module")
def own_server(house: House) -> Server:
    """A server that may be killed; its base URL is one that a hub gives."""
    return house.server("own", base_url="/user/jo/")


@pytest.fixture
async def own(own_server: Server, model: Model) -> AsyncIterator[Client]:
    client = Client(own_server)
    yield client
    if own_server.process is None:
        own_server.start()
    for one in (await client.get("explorations")).json["explorations"]:
        if one["is_open"]:
            await client.ask("DELETE", f"explorations/{one['id']}")
    await client.aclose()


async def with_one_accepted(client: Client, **changes: Any) -> Any:
    """An exploration whose first subtask is done and whose second waits for review."""
    start = await client.start(**request(**changes))
    id_ = start["exploration"]["id"]
    await client.rested(id_)
    await client.do(id_, "go_on")
    state = await client.rested(id_)
    first = state["exploration"]["steps"][0]["subtask"]["id"]
    assert (await client.do(id_, "accept", subtask=first)).status == 202, state["progress"]
    state = await client.rested(id_)
    assert state["exploration"]["steps"][0]["status"] == "done"
    return state


def done(state: Any) -> list[str]:
    """The code that was accepted."""
    return [
        candidate["code"]
        for step in state["exploration"]["steps"]
        if step["status"] == "done"
        for candidate in step["candidates"]
        if candidate["id"] == step["chosen"]
    ]


async def test_what_was_accepted_outlives_a_server_that_is_killed(
    own: Client, own_server: Server
) -> None:
    before = await with_one_accepted(own)
    own_server.kill()
    own_server.start()

    explorations = (await own.get("explorations")).json["explorations"]
    answer = await own.post("explorations/open", {"path": before["path"]})
    again = await own.post("explorations/open", {"path": before["path"]})
    id_ = answer.json["exploration"]["id"]
    after = await own.rested(id_)
    await own.do(id_, "accept", subtask=after["exploration"]["steps"][1]["subtask"]["id"])
    later = await own.rested(id_)

    assert [one["is_open"] for one in explorations if one["id"] == id_] == [False]
    assert answer.status == 200, answer.text
    assert (answer.json["resumed"], again.json["resumed"]) == (True, False)
    assert answer.json["epoch"] != before["epoch"]
    assert done(after) == done(before)
    assert after["progress"]["error"] == ""
    assert later["exploration"]["steps"][1]["status"] == "done", later["progress"]


async def test_the_journal_has_what_the_notebook_could_not_take(
    own: Client, own_server: Server
) -> None:
    start = await own.start(**request())
    id_, file = start["exploration"]["id"], own_server.root / start["path"]
    await own.rested(id_)
    file.unlink()
    file.mkdir()
    await own.do(id_, "add_subtask", goal="Only the journal knows this")
    state = await own.until(id_, lambda state: state["progress"]["error"] != "", "The trouble")
    own_server.kill()
    file.rmdir()
    own_server.start()

    after = (await own.post("explorations/open", {"path": start["path"]})).json

    goals = [step["subtask"]["goal"] for step in after["exploration"]["steps"]]
    assert "cannot be written" in state["progress"]["error"]
    assert "Only the journal knows this" in goals


@pytest.mark.parametrize("is_there", [False, True], ids=["gone", "half-written"])
async def test_a_notebook_that_was_lost_comes_back_from_the_journal(
    own: Client, is_there: bool
) -> None:
    state = await with_one_accepted(own)
    await own.ask("DELETE", f"explorations/{state['exploration']['id']}")
    file = own.server.root / state["path"]
    if is_there:
        file.write_text(file.read_text(encoding="utf-8")[:3000], encoding="utf-8")
    else:
        file.unlink()

    answer = await own.post("explorations/open", {"path": state["path"]})

    assert answer.status == 200, answer.text
    assert done(answer.json) == done(state)
    assert done({"exploration": json.loads(file.read_text("utf-8"))["metadata"]["exploracoder"]})


def pids_of(text: str) -> list[int]:
    """The processes whose command line has a text."""
    pids = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                words = (folder / "cmdline").read_bytes()
            except OSError:
                continue
            if text.encode() in words:
                pids.append(int(folder.name))
    return pids


async def test_a_kernel_that_is_killed_is_started_again_with_what_was_accepted(
    own: Client,
) -> None:
    before = await with_one_accepted(own)
    id_ = before["exploration"]["id"]
    for pid in pids_of(f"kernel-{before['kernel_id']}.json"):
        os.kill(pid, signal.SIGKILL)

    news = await own.until(id_, lambda state: "again" in state["progress"]["error"], "The news")
    restart = await own.until(id_, lambda state: "was started again" in state["progress"]["error"])
    restart = await own.rested(id_)
    second = restart["exploration"]["steps"][1]["subtask"]["id"]
    answer = await own.do(id_, "try_code", subtask=second, code="kept = list(leaves)")
    after = await own.rested(id_)

    assert news["exploration"]["status"] != "running"
    assert done(restart) == done(before)
    assert answer.status == 202, answer.text
    assert after["exploration"]["steps"][1]["status"] == "done", after["progress"]
    assert "was started again" not in after["progress"]["error"]


async def test_a_kernel_that_is_shut_down_stays_so_until_it_is_needed(own: Client) -> None:
    before = await with_one_accepted(own)
    id_ = before["exploration"]["id"]

    await own.jupyter("DELETE", f"kernels/{before['kernel_id']}")
    news = await own.until(id_, lambda state: state["progress"]["error"] != "", "The news")
    await asyncio.sleep(2)
    running = await own.jupyter("GET", "kernels")
    async with own.tab() as tab:
        await own.do(id_, "go_on")
        after = await own.rested(id_)
        events = await tab.until(lambda said: said.get("kernel_id") == after["kernel_id"])

    assert events[-1]["id"] == id_
    assert "Go on" in news["progress"]["error"]
    assert running == []
    assert after["kernel_id"] != before["kernel_id"]
    assert done(after) == done(before)
    assert after["progress"]["error"] == ""


async def test_a_users_own_cells_stay_in_the_notebook(own: Client) -> None:
    start = await own.start(**request())
    id_, file = start["exploration"]["id"], own.server.root / start["path"]
    await own.rested(id_)
    content = json.loads(file.read_text(encoding="utf-8"))
    note = {"cell_type": "markdown", "id": "mine", "metadata": {}, "source": "My own note"}
    content["cells"].insert(2, note)
    await asyncio.sleep(0.01)
    file.write_text(json.dumps(content), encoding="utf-8")

    await own.do(id_, "add_subtask", goal="Do something more")
    await until(lambda: "Do something more" in file.read_text(encoding="utf-8"))

    cells = json.loads(file.read_text(encoding="utf-8"))["cells"]
    assert "mine" in [cell["id"] for cell in cells]
    assert [cell["id"] for cell in cells].index("mine") == 2
    assert "Do something more" in json.dumps(cells)


def typed_there(file: Path) -> list[dict[str, Any]]:
    """The cells with what is typed into one that is then removed."""
    cells = json.loads(file.read_text(encoding="utf-8"))["cells"]
    return [one for one in cells if "".join(one["source"]) == "typed_there = 2"]


async def test_what_is_typed_into_cells_without_being_run_is_never_lost(own: Client) -> None:
    """A pasted copy, an edit of a cell that stays as it is, one of a cell that is then removed."""
    start = await own.start(**request())
    id_, file = start["exploration"]["id"], own.server.root / start["path"]
    await own.rested(id_)
    content = json.loads(file.read_text(encoding="utf-8"))
    ours = [
        one for one in content["cells"] if one["metadata"]["exploracoder"]["role"] == "candidate"
    ]
    first, second = ours[0], ours[1]
    copy = {**first, "id": "pasted-copy", "source": "copied = 1"}
    content["cells"].insert(content["cells"].index(first) + 1, copy)
    first["source"] = "typed_here = 1"
    second["source"] = "typed_there = 2"
    await asyncio.sleep(0.01)
    file.write_text(json.dumps(content), encoding="utf-8")

    await own.do(id_, "delete_subtask", subtask=second["id"])
    await until(lambda: [one["metadata"] for one in typed_there(file)] == [{}])
    await own.do(id_, "add_subtask", goal="Do something more")
    await until(lambda: "Do something more" in file.read_text(encoding="utf-8"))

    cells = json.loads(file.read_text(encoding="utf-8"))["cells"]
    sources = {one["id"]: "".join(one["source"]) for one in cells}
    assert sources[first["id"]] == "typed_here = 1"
    assert sources["pasted-copy"] == "copied = 1"
    ids = list(sources)
    assert ids.index("pasted-copy") == ids.index(first["id"]) + 1
    assert [one["metadata"] for one in typed_there(file)] == [{}]
    assert "Do something more" in json.dumps(cells)


EDITS: list[tuple[str, Any, str]] = [
    ("schema_version", 99, "version 99"),
    ("schema_version", "3", "version"),
    ("steps", "none", "steps"),
    ("settings", {"candidates": -5}, "settings"),
    ("task", None, "task"),
    ("no_such_field", 1, "no_such_field"),
]


@pytest.mark.parametrize(("field", "value", "said"), EDITS)
async def test_a_notebook_with_damaged_metadata_is_refused_with_the_place(
    own: Client, damaged: dict[str, Any], field: str, value: Any, said: str
) -> None:
    damaged["metadata"]["exploracoder"][field] = value
    (own.server.root / "edited.ipynb").write_text(json.dumps(damaged), encoding="utf-8")

    for verb in ("open", "replay"):
        answer = await own.post(f"explorations/{verb}", {"path": "edited.ipynb"})

        assert answer.status == 400, answer.text
        assert said in answer.message


@pytest.fixture
def damaged() -> dict[str, Any]:
    """A notebook of somebody else's, to be edited."""
    from exploracoder import document
    from exploration.samples import exploration

    content = document.to_notebook(exploration(id="a" * 32), 7)
    return dict(json.loads(json.dumps(content)))


@pytest.mark.parametrize("revision", [-1, True, "9", 10**40, None])
async def test_a_notebook_of_somebody_elses_starts_no_program_that_it_names(
    own: Client, damaged: dict[str, Any], tmp_path: Path, revision: Any
) -> None:
    trap, sprung = tmp_path / "python", tmp_path / "sprung"
    trap.write_text(f"#!/bin/sh\ntouch {sprung}\n", encoding="utf-8")
    trap.chmod(0o755)
    ours = damaged["metadata"]["exploracoder"]
    ours |= {"python": str(trap), "revision": revision, "id": "../../outside"}
    ours["task"] |= {"libraries": ["./project/tealeaf"]}
    ours["libraries"] = []
    (own.server.root / "trap.ipynb").write_text(json.dumps(damaged), encoding="utf-8")

    refusal = await own.post("explorations/open", {"path": "trap.ipynb"})
    digest = refusal.json["preview"]["digest"]
    answer = await own.post("explorations/open", {"path": "trap.ipynb", "agreed": digest})

    assert answer.status in (200, 400), answer.text
    assert refusal.json["preview"]["python"] != str(trap)
    assert not sprung.exists()
    assert not (own.server.journal.parent.parent / "outside.json").exists()


async def test_a_copy_of_a_notebook_is_another_exploration(own: Client) -> None:
    state = await with_one_accepted(own)
    shutil.copy(own.server.root / state["path"], own.server.root / "copy.ipynb")

    copy = (await own.post("explorations/open", {"path": "copy.ipynb"})).json

    assert copy["exploration"]["id"] != state["exploration"]["id"]
    assert copy["path"] == "copy.ipynb"
    assert done(copy) == done(state)


async def test_a_notebook_that_was_renamed_is_followed(own: Client) -> None:
    start = await own.start(**request())
    id_ = start["exploration"]["id"]
    await own.rested(id_)
    sessions = await own.jupyter("GET", "sessions")
    session = next(one for one in sessions if one["path"] == start["path"])
    await own.jupyter("PATCH", f"contents/{start['path']}", {"path": "renamed.ipynb"})
    await own.jupyter("PATCH", f"sessions/{session['id']}", {"path": "renamed.ipynb"})

    moved = own.server.root / "renamed.ipynb"
    await own.do(id_, "add_subtask", goal="After the move")
    await own.until(id_, lambda _: "After the move" in moved.read_text(encoding="utf-8"))
    state = await own.state(id_)

    assert state["path"] == "renamed.ipynb"
    assert not (own.server.root / start["path"]).exists()


async def test_a_rename_is_told_before_the_next_step(own: Client) -> None:
    start = await own.start(**request())
    id_ = start["exploration"]["id"]
    await own.rested(id_)
    sessions = await own.jupyter("GET", "sessions")
    session = next(one for one in sessions if one["path"] == start["path"])
    await own.jupyter("PATCH", f"contents/{start['path']}", {"path": "told.ipynb"})
    await own.jupyter("PATCH", f"sessions/{session['id']}", {"path": "told.ipynb"})

    async with own.tab({"epoch": start["epoch"], "after": start["number"]}) as tab:
        await own.state(id_)
        events = await tab.until(lambda event: event.get("path") == "told.ipynb")

    assert events[-1]["state"] == "changed"
    assert (await own.state(id_))["path"] == "told.ipynb"
    # A server that ends now finds it there.
    journal = own.server.journal / f"{id_}.json"
    for _ in range(100):
        if "told.ipynb" in (heading := journal.read_text(encoding="utf-8").split("\n")[0]):
            break
        await asyncio.sleep(0.05)
    assert json.loads(heading)["path"] == "told.ipynb"


async def test_a_deleted_notebook_keeps_nobody_waiting(own: Client) -> None:
    start = await own.start(**request())
    id_ = start["exploration"]["id"]
    await own.rested(id_)
    (own.server.root / start["path"]).unlink()

    began = time.monotonic()
    states = [await own.state(id_) for _ in range(5)]

    assert time.monotonic() - began < 4
    assert {state["path"] for state in states} == {start["path"]}


async def test_an_open_exploration_is_resumed_where_its_notebook_is_now(own: Client) -> None:
    start = await own.start(**request())
    await own.rested(start["exploration"]["id"])
    # Its session still names the old path.
    (own.server.root / start["path"]).rename(own.server.root / "moved.ipynb")

    state = (await own.post("explorations/open", {"path": "moved.ipynb"})).json

    assert state["exploration"]["id"] == start["exploration"]["id"]
    assert state["path"] == "moved.ipynb"
    assert not state["resumed"]


async def test_replaying_needs_no_model_and_says_what_changed(own: Client, house: House) -> None:
    state = await with_one_accepted(own)
    await own.ask("DELETE", f"explorations/{state['exploration']['id']}")
    request_count = len(house.endpoint.requests)

    answer = await own.post("explorations/replay", {"path": state["path"]})

    assert answer.status == 200, answer.text
    assert len(house.endpoint.requests) == request_count
    assert [cell["result"] for cell in answer.json["cells"]] == ["same"] * 2
    assert answer.json["versions"] == []

    _upgrade(own.server.root / "project" / "tealeaf")
    replay = (await own.post("explorations/replay", {"path": state["path"]})).json
    context, first = replay["cells"]

    assert replay["versions"] == [{"library": "tealeaf", "before": "2.1", "now": "2.2"}]
    assert (context["result"], context["versions"]) == ("same", [])
    assert (first["result"], first["versions"]) == ("changed", replay["versions"])
    assert "name='assam'" in first["before"]
    assert "name='ASSAM'" in first["now"]


def _upgrade(package: Path) -> None:
    for file, before, after in (
        ("__init__.py", '__version__ = "2.1"', '__version__ = "2.2"'),
        ("leaves.py", "Leaf(name, int(strength))", "Leaf(name.upper(), int(strength))"),
    ):
        text = (package / file).read_text(encoding="utf-8")
        assert before in text
        (package / file).write_text(text.replace(before, after), encoding="utf-8")
