"""Numbered events, and who saves a notebook."""

from __future__ import annotations

import json

from exploracoder_jupyter.eventlog import EventLog
from exploracoder_jupyter.protocol import LibraryEvent

from .conftest import request
from .server import Client


def publish(events: EventLog, count: int) -> None:
    for index in range(count):
        events.publish(
            lambda number, index=index: LibraryEvent(number=number, target=f"library {index}")
        )


def numbers(texts: list[str]) -> list[int]:
    return [json.loads(text)["number"] for text in texts]


def test_a_tab_gets_exactly_what_it_missed() -> None:
    events = EventLog()
    publish(events, 10)

    assert numbers(events.after(events.epoch, 7)) == [8, 9, 10]
    assert events.after(events.epoch, 10) == []
    assert numbers(events.after(events.epoch, 0)) == list(range(1, 11))


def test_a_tab_that_missed_too_much_asks_for_everything() -> None:
    events = EventLog(most_events=5)
    publish(events, 10)

    for epoch, after in ((events.epoch, 4), ("another", 9), (events.epoch, 11), ("", -1)):
        (reset,) = map(json.loads, events.after(epoch, after))
        assert reset == {"kind": "reset", "number": 10, "epoch": events.epoch}
    assert numbers(events.after(events.epoch, 5)) == [6, 7, 8, 9, 10]


def test_large_events_are_kept_as_far_as_there_is_room() -> None:
    events = EventLog(most_chars=1_000)
    publish(events, 100)

    event_numbers = numbers(events.after(events.epoch, 99))

    assert event_numbers == [100]
    assert json.loads(events.after(events.epoch, 1)[0])["kind"] == "reset"


async def test_a_tab_that_comes_back_hears_what_it_missed(client: Client) -> None:
    async with client.tab() as tab:
        reset = await tab.read()
    start = await client.start(**request())
    state = await client.rested(start["exploration"]["id"])

    async with client.tab({"epoch": reset["epoch"], "after": reset["number"]}) as tab:
        events = await tab.until(lambda said: said["number"] >= state["number"])
    async with client.tab({"epoch": "of a server before", "after": 3}) as tab:
        again = await tab.read()

    assert reset["kind"] == again["kind"] == "reset"
    assert [one["number"] for one in events] == list(
        range(reset["number"] + 1, state["number"] + 1)
    )
    ours = [one for one in events if one["kind"] == "exploration"]
    assert ours[0]["state"] == "open"
    goals = {step["subtask"]["goal"] for one in ours for step in one["change"]["steps"]}
    assert goals == {step["subtask"]["goal"] for step in state["exploration"]["steps"]}


async def test_the_changes_make_the_same_exploration(client: Client) -> None:
    start = await client.start(**request(mode="auto"))
    exploration = start["exploration"]
    steps = {step["subtask"]["id"]: step for step in exploration["steps"]}
    order = list(steps)
    position = {"epoch": start["epoch"], "after": start["number"]}
    state = await client.rested(exploration["id"])

    async with client.tab(position) as tab:
        events = await tab.until(lambda said: said["number"] >= state["number"])
    for event in events:
        if event["kind"] == "exploration" and event["id"] == exploration["id"]:
            exploration |= event["change"]["fields"]
            steps |= {step["subtask"]["id"]: step for step in event["change"]["steps"]}
            order = event["change"]["order"] or order
    exploration["steps"] = [steps[id_] for id_ in order]

    assert exploration == state["exploration"]
    assert events[-1]["revision"] == state["revision"]


async def test_the_server_writes_the_notebook_when_its_exploration_is_closed(
    client: Client,
) -> None:
    start = await client.start(**request())
    id_, file = start["exploration"]["id"], client.server.root / start["path"]
    async with client.tab() as tab:
        state = await client.rested(id_)
        await client.ask("DELETE", f"explorations/{id_}")
        events = await tab.until(lambda said: said.get("state") == "closed")

    metadata = json.loads(file.read_text(encoding="utf-8"))["metadata"]["exploracoder"]
    assert events[-1]["id"] == id_
    assert metadata["steps"] == state["exploration"]["steps"]
    assert metadata["steps"]


async def test_a_tab_that_says_something_is_hung_up_on(client: Client) -> None:
    for nonsense in ("", "{", '{"kind": "dance"}', "x" * 20_000):
        async with client.tab() as tab:
            await tab.read()
            await tab.connection.write_message(nonsense)
            assert await tab.read() is None
    assert (await client.get("status")).status == 200


async def test_a_state_that_is_being_saved_is_ahead_of_what_was_told() -> None:
    from exploracoder.abilities import abilities_of
    from exploracoder.events import Progress
    from exploracoder_jupyter.tab_updates import Teller
    from exploration.samples import exploration

    before = exploration()
    events = EventLog()
    teller = Teller(
        before,
        Progress(),
        revision=5,
        events=events,
        path=lambda: "a.ipynb",
        kernel_id=lambda: "k1",
        troubles=lambda: (),
        abilities=abilities_of,
    )
    step = before.steps[0].model_copy(update={"status": "failed"})
    after = before.with_step(step)

    next_revision = teller.revise(after)
    early = teller.revision
    teller.hear(after, Progress())
    teller.flush()

    event = json.loads(events.after(events.epoch, 0)[-1])
    assert (next_revision, early, teller.revision) == (6, 5, 6)
    assert [one["id"] for one in event["cells"]["cells"]] == ["step-1-goal"]
    assert (event["path"], event["kernel_id"]) == ("a.ipynb", "k1")
    assert event["cells"]["order"] is None
    assert (teller.changed_at("step-1"), teller.changed_at("step-2")) == (6, 0)
