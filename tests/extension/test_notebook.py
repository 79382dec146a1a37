"""One writer: what tabs make of an exploration's notebook, the server puts together."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from exploracoder.merging import (
    difference,
    fingerprint,
    merged,
    state_of,
    with_ids,
    with_others,
)

from .conftest import request
from .server import Answer, Client


class Tab:
    """A browser's view of the notebook: the cells that it has, and those that it knew last."""

    def __init__(self, client: Client, path: str) -> None:
        self._client = client
        self.path = path
        self._base: dict[str, str] = {}
        self.notebook: Any = {}

    @property
    def file(self) -> Path:
        return self._client.server.root / self.path

    def load(self) -> Tab:
        self.notebook = json.loads(self.file.read_text(encoding="utf-8"))
        self._base = {cell["id"]: state_of(cell) for cell in self.notebook["cells"]}
        return self

    def cell(self, id_: str) -> Any:
        return next(cell for cell in self.notebook["cells"] if cell["id"] == id_)

    def insert(self, place: int, id_: str, source: str) -> None:
        self.notebook["cells"].insert(place, own(id_, source))

    async def save(self) -> Answer:
        body = {"path": self.path, "content": self.notebook, "base": self._base}
        answer = await self._client.ask("PUT", "notebook", body)
        if answer.status == 200:
            cells = {cell["id"]: cell for cell in self.notebook["cells"]}
            change = answer.json["change"]
            cells |= {cell["id"]: cell for cell in change["cells"]}
            order = change["order"] or list(cells)
            self.notebook["cells"] = [cells[id_] for id_ in order]
            self._base = {id_: state_of(cells[id_]) for id_ in order}
        return answer

    def on_disk(self) -> dict[str, str]:
        cells = json.loads(self.file.read_text(encoding="utf-8"))["cells"]
        return {cell["id"]: "".join(cell["source"]) for cell in cells}


def own(id_: str, source: str) -> dict[str, Any]:
    """A person's cell."""
    empty: dict[str, Any] = {"metadata": {}, "outputs": [], "execution_count": None}
    return {"cell_type": "code", "id": id_, "source": source, **empty}


@pytest.fixture
async def opened(client: Client) -> AsyncIterator[Any]:
    start = await client.start(**request())
    yield await client.rested(start["exploration"]["id"])


async def test_two_tabs_lose_nothing_of_each_other(client: Client, opened: Any) -> None:
    one, other = Tab(client, opened["path"]).load(), Tab(client, opened["path"]).load()
    first = opened["exploration"]["steps"][0]["subtask"]["id"]

    one.insert(1, "of-one", "a = 1")
    one.cell(first)["source"] = "typed_by_one = 1"
    assert (await one.save()).status == 200
    other.insert(2, "of-other", "b = 2")
    assert (await other.save()).status == 200
    one.cell("of-one")["source"] = "a = 11"
    await one.save()
    other.notebook["cells"].remove(other.cell("of-other"))
    await other.save()
    await client.do(opened["exploration"]["id"], "add_subtask", goal="And more")
    await client.rested(opened["exploration"]["id"])

    cells = one.on_disk()
    assert cells["of-one"] == "a = 11"
    assert cells[first] == "typed_by_one = 1"
    assert "of-other" not in cells
    assert "And more" in "".join(cells.values())


async def test_of_one_cell_that_both_have_changed_both_are_kept(
    client: Client, opened: Any
) -> None:
    one, other = Tab(client, opened["path"]).load(), Tab(client, opened["path"]).load()
    one.insert(1, "shared", "a = 0")
    await one.save()
    other.load()
    one.cell("shared")["source"] = "a = 1"
    other.cell("shared")["source"] = "a = 2"

    await one.save()
    await other.save()

    sources = list(other.on_disk().values())
    assert sources.index("a = 1") == sources.index("a = 2") + 1
    assert "a = 0" not in sources


async def test_a_tab_that_is_behind_takes_nothing_back(client: Client, opened: Any) -> None:
    behind = Tab(client, opened["path"]).load()
    id_ = opened["exploration"]["id"]
    await client.do(id_, "add_subtask", goal="Not in the tab yet")
    await client.rested(id_)
    behind.insert(1, "mine", "c = 3")

    answer = await behind.save()

    assert answer.status == 200, answer.text
    metadata = json.loads(behind.file.read_text(encoding="utf-8"))["metadata"]["exploracoder"]
    assert [step["subtask"]["goal"] for step in metadata["steps"]][-1] == "Not in the tab yet"
    assert behind.on_disk()["mine"] == "c = 3"
    assert any("Not in the tab yet" in cell["source"] for cell in answer.json["change"]["cells"])


async def test_a_tab_saves_an_exploration_that_is_closed(client: Client, opened: Any) -> None:
    tab = Tab(client, opened["path"]).load()
    await client.do(opened["exploration"]["id"], "add_subtask", goal="The last word")
    await client.ask("DELETE", f"explorations/{opened['exploration']['id']}")
    tab.insert(1, "mine", "d = 4")

    answer = await tab.save()

    assert answer.status == 200, answer.text
    assert tab.on_disk()["mine"] == "d = 4"
    assert "The last word" in "".join(tab.on_disk().values())


async def test_what_is_no_exploration_is_not_written_over(client: Client, opened: Any) -> None:
    tab = Tab(client, opened["path"]).load()
    await client.ask("DELETE", f"explorations/{opened['exploration']['id']}")
    content = {"cells": [own("x", "1")], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    other = json.dumps(content)
    tab.file.write_text(other, encoding="utf-8")

    refusal = await tab.save()
    outside = await client.ask("PUT", "notebook", {"path": "../x.ipynb", "content": content})
    missing = await client.ask("PUT", "notebook", {"path": "x.ipynb", "content": content})
    nonsense = await client.ask("PUT", "notebook", {"path": tab.path, "content": {"cells": 1}})

    assert (refusal.status, outside.status) == (400, 400)
    assert (missing.status, nonsense.status) == (404, 400)
    assert tab.file.read_text(encoding="utf-8") == other


async def test_many_saves_at_once_lose_nothing(client: Client, opened: Any) -> None:
    tabs = [Tab(client, opened["path"]).load() for _ in range(6)]
    id_ = opened["exploration"]["id"]
    for number, tab in enumerate(tabs):
        tab.insert(number, f"own-{number}", f"n = {number}")

    command = client.do(id_, "add_subtask", goal="While all save")
    answers = await asyncio.gather(*(tab.save() for tab in tabs), command)
    await client.rested(id_)

    assert {answer.status for answer in answers} == {200, 202}
    cells = tabs[0].on_disk()
    assert {f"own-{number}" for number in range(6)} <= cells.keys()
    assert "While all save" in "".join(cells.values())
    assert len(cells) == len(json.loads(tabs[0].file.read_text("utf-8"))["cells"])


def written(id_: str, source: str) -> dict[str, Any]:
    """A candidate's cell as the server writes it."""
    mark = {"exploracoder": {"role": "candidate", "subtask": id_}}
    return {**own(id_, source), "metadata": mark}


def test_what_the_server_wrote_is_nobodys_even_if_a_tab_shows_another_candidate() -> None:
    base = {"s1": state_of(written("s1", ""))}
    cell = written("s1", "p = 2")

    cells = with_others(
        [cell], [written("s1", "v = 1")], base, seen_ids={"s1"}, before={"s1": "v = 1"}
    )

    assert cells == [cell]


def test_a_file_that_was_not_read_removes_nothing() -> None:
    cell = own("mine", "1")

    assert with_others([cell], [], {"mine": state_of(cell)}, seen_ids=()) == [cell]
    assert with_others([cell], [], {"mine": state_of(cell)}, seen_ids={"mine"}) == []


def test_outputs_and_pictures_of_others_are_changes_too() -> None:
    before, run = own("a", "5"), {**own("a", "5"), "execution_count": 3, "outputs": [{}]}
    note = {"cell_type": "markdown", "id": "n", "metadata": {}, "source": "![x](attachment:x)"}
    picture_note = {**note, "attachments": {"x": {"image/png": "AA=="}}}
    base = {"a": state_of(before), "n": state_of(note)}

    assert with_others([before, note], [run, picture_note], base, seen_ids=base) == [
        run,
        picture_note,
    ]


def test_what_is_typed_into_a_heading_stays_until_the_heading_changes() -> None:
    def heading(source: str) -> dict[str, Any]:
        mark = {"exploracoder": {"role": "goal", "subtask": "s1"}}
        return {"cell_type": "markdown", "id": "s1-goal", "metadata": mark, "source": source}

    file_cell, before = heading("## 1. Read\nA note"), {"s1-goal": "## 1. Read"}

    same_heading = merged([heading("## 1. Read")], [file_cell], before)
    new_heading = merged([heading("## 1. Read all")], [file_cell], before)

    assert [cell["source"] for cell in same_heading] == ["## 1. Read\nA note"]
    assert [cell["source"] for cell in new_heading] == ["## 1. Read all", "## 1. Read\nA note"]


def test_a_typed_cell_that_is_gone_is_kept_once() -> None:
    typed = written("s1", "a = 1  # mine")

    once = merged([written("s2", "")], [typed], {"s1": "a = 1", "s2": ""})
    again = merged([written("s2", "")], [*once, typed], {"s1": "a = 1", "s2": ""})

    # A tab that was typed in makes the same cell; see upsert.spec.ts.
    assert once[1:] == [own("3-38cx3d", "a = 1  # mine")]
    assert again == once


def test_code_that_is_typed_over_is_kept_once() -> None:
    typed, before = written("s1", "a = 1  # mine"), {"s1": "a = 1"}

    once = merged([written("s1", "a = 3")], [typed], before)
    again = merged([written("s1", "a = 3")], [typed, *once[1:]], before)

    # A tab that was typed in makes the same cell; see upsert.spec.ts.
    assert once[1:] == [own("3-38cx3d", "a = 1  # mine")]
    assert [cell["id"] for cell in again] == ["s1", "3-38cx3d"]


def test_code_that_newer_code_has_taken_up_is_not_kept_twice() -> None:
    file_cell, before = written("s1", "a = len(x)"), {"s1": "a = 1"}

    cells = merged([written("s1", "import x\na = len(x)")], [file_cell], before)

    # Tabs do the same; see upsert.spec.ts.
    assert [cell["source"] for cell in cells] == ["import x\na = len(x)"]


@pytest.mark.parametrize(
    ("kept", "expected"),
    [
        ("a = 1", ["a = 12"]),
        ("a = 12", ["a = 12"]),
        ("b = 5", ["a = 12", "b = 5"]),
        ("a = 123", ["a = 12", "a = 123"]),
    ],
)
def test_a_typed_cell_that_is_gone_is_kept_once_at_whatever_stage_it_was(
    kept: str, expected: list[str]
) -> None:
    """The tab has typed on; only a text that is all in the tab's is replaced by it."""
    base = {"s1": state_of(written("s1", kept)), "s2": state_of(written("s2", ""))}
    file_cells = merged([written("s2", "")], [written("s1", kept)], {"s1": "", "s2": ""})
    own_id = file_cells[-1]["id"]
    tab_cells = [own(own_id, "a = 12"), written("s2", "")]

    cells = with_others(tab_cells, file_cells, base, seen_ids=base, before={"s2": ""})

    assert [cell["source"] for cell in cells if cell["source"]] == expected


def test_what_is_typed_into_a_cell_that_was_gone_before_is_kept_too() -> None:
    first, second = written("s1", "a = 1"), written("s1", "b = 5")
    before = {"s1": "", "s2": ""}

    once = merged([written("s2", "")], [first], before)
    twice = merged([written("s2", "")], [*once, second], before)

    assert sorted(cell["source"] for cell in twice) == ["", "a = 1", "b = 5"]
    assert merged([written("s2", "")], [*twice, second], before) == twice


def test_cells_without_ids_are_known_by_what_they_are() -> None:
    cells = [written("s1", "v = 1"), own("x", "1")]
    bare = [{key: one for key, one in cell.items() if key != "id"} for cell in cells]

    once, twice = with_ids(bare), with_ids(bare)

    assert once[0]["id"] == "s1"
    assert once == twice
    assert merged([written("s1", "v = 2")], once, {"s1": "v = 1"})[0]["source"] == "v = 2"


def test_tabs_and_server_give_a_text_the_same_name() -> None:
    assert fingerprint("") == "0-ztntfp"
    assert fingerprint("x = 'é😀'") == "9-7jr06y"


def test_new_cells_of_others_stand_behind_the_cell_that_they_follow() -> None:
    before = [own("a", "1"), own("b", "2")]
    base = {cell["id"]: state_of(cell) for cell in before}
    file_cells = [own("top", "0"), before[0], own("n1", "3"), own("n2", "4"), before[1]]

    cells = with_others([before[1], before[0]], file_cells, base, seen_ids=base)

    assert [cell["id"] for cell in cells] == ["top", "b", "a", "n1", "n2"]


def test_a_difference_names_what_is_new_and_the_order_only_if_it_is_another() -> None:
    before = [own("a", "1"), own("b", "2")]

    assert difference(before, [before[0], own("b", "22")]) == ([own("b", "22")], None)
    assert difference(before, before[::-1]) == ([], ["b", "a"])


async def test_what_shares_notebooks_in_a_way_that_is_not_supported_is_named() -> None:
    from exploracoder.errors import SetupError
    from exploracoder_jupyter.rooms import Rooms

    Rooms(dict).check()
    assert await Rooms(dict).find("a.ipynb") is None
    with pytest.raises(SetupError, match="jupyter server extension disable"):
        Rooms(lambda: {"jupyter_server_documents": {object()}}).check()
    sharing = SimpleNamespace(disable_rtc=False)
    rooms = Rooms(lambda: {"jupyter_server_ydoc": [sharing]})
    rooms.check()
    sharing.disable_rtc = True
    with pytest.raises(SetupError, match="disable_rtc"):
        rooms.check()
