"""The map of a library: what is in it, in which order, and what becomes of the rest."""

from __future__ import annotations

import exploracoder
import pytest
from exploracoder.engine.reading.library_map import library_map
from exploracoder.testing import ScriptedModelServer
from exploracoder_retrieval.apidoc import ApiDoc, ApiKind

from .conftest import Command, Explorer, Serve


def doc(path: str, kind: ApiKind = "function", *, uses: int = 0, summary: str = "") -> ApiDoc:
    return ApiDoc(path=path, kind=kind, library="tea", uses=uses, summary=summary)


DOCS = [
    doc("tea.Pot", "class", summary="Holds tea."),
    doc("tea.Pot.Lid", "class"),
    doc("tea.Pot.Lid.lift", "method"),
    doc("tea.Pot.pour", "method", summary="Fill a cup."),
    doc("tea.cups.wash", uses=2),
    doc("tea.read", uses=5),
]


def test_each_api_stands_in_a_line_below_its_class_and_beside_its_module() -> None:
    api_map = library_map(DOCS, 1000)

    assert api_map.is_whole
    assert api_map.text.splitlines() == [
        "class tea.Pot: Holds tea.",
        "class   .Lid",
        "  .lift",
        "  .pour: Fill a cup.",
        "tea.read",
        "tea.cups.wash",
    ]


def test_what_is_deprecated_says_so() -> None:
    old = doc("tea.stew", summary="Boil it.").model_copy(update={"doc": ".. deprecated:: 2.0"})

    assert library_map([old], 1000).text == "tea.stew: (deprecated) Boil it."


def test_first_sentences_go_before_apis_do() -> None:
    by_use = library_map(DOCS, 90)
    by_rank = library_map(DOCS, 90, ["tea.Pot.pour"])

    assert by_use.is_whole
    assert by_use.paths == by_rank.paths == {one.path for one in DOCS}
    assert "class tea.Pot: Holds tea." in by_use.text.splitlines()
    assert "  .pour" in by_use.text.splitlines()
    assert "  .pour: Fill a cup." in by_rank.text.splitlines()
    assert max(len(by_use.text), len(by_rank.text)) <= 90


def thousands() -> list[ApiDoc]:
    modules = [f"tea.part{number:02}" for number in range(40)]
    return [doc(f"{name}.step{n:02}", uses=n) for name in modules for n in range(60)]


def test_of_thousands_a_line_for_each_module_counts_them_and_names_the_most_used() -> None:
    api_map = library_map(thousands(), 40_000)

    rests = [line for line in api_map.text.splitlines() if "APIs:" in line]
    assert not api_map.is_whole
    assert len(api_map.text) <= 40_000
    assert len(rests) == 40
    assert rests[0].startswith("tea.part00: ")
    counts = [int(line.split()[1]) for line in rests]
    assert sum(counts) + len(api_map.text.splitlines()) - 40 == 2400
    assert "tea.part00.step59" in api_map.text


def test_what_does_not_fit_is_chosen_by_use_or_by_the_task() -> None:
    by_use = library_map(thousands(), 600).text
    by_rank = library_map(thousands(), 600, ["tea.part07.step00", "tea.part03.step01"]).text

    assert by_use.startswith("tea.part00.step59\n")
    assert {"tea.part03.step01", "tea.part07.step00"} <= set(by_rank.splitlines())
    assert "tea.part07.step00" not in by_use
    assert max(len(by_use), len(by_rank)) <= 600


def test_a_module_of_which_nothing_is_shown_says_how_much_there_is() -> None:
    little = library_map(thousands(), 500).text.splitlines()
    more = library_map(thousands(), 3000).text.splitlines()

    assert "tea.part20: 60 APIs: step59, …" in little
    assert "tea.part39: 58 more APIs: step57, …" in more


def test_there_is_nothing_where_there_is_no_room() -> None:
    assert library_map(DOCS, 0).text == ""


def test_the_command_prints_the_same_map_each_time(command: Command) -> None:
    once, again = command("map", "tealeaf/"), command("map", "tealeaf/")
    small = command("map", "tealeaf/", "--budget", "40", "--task", "heat the water", "--json")

    assert once.code == 0
    assert once.out == again.out
    assert "class tealeaf.Kettle" in once.out
    assert "  .heat(celsius): Heat the water to a temperature" in once.out
    assert "Kettle" in small.json["map"]
    assert small.json["is_whole"] is False
    assert exploracoder.map_library("tealeaf/") + "\n" == once.out


@pytest.mark.parametrize("words", [["nothing-of-this-name"], ["tealeaf/", "--budget", "0"]])
def test_what_cannot_be_mapped_is_refused(command: Command, words: list[str]) -> None:
    assert command("map", *words).code == 2


def test_where_all_apis_have_room_the_same_is_said_first_whatever_the_task(
    command: Command, explore: Explorer, serve: Serve
) -> None:
    # Room for all names, and not for all first sentences.
    heat, name = _prompts_of_two_tasks(command, explore, serve(), "prompt_chars=1200")
    core, _, near = heat.partition("The documentation of the APIs")
    assert "All public APIs" in core
    assert "  .pour(leaf)" in core
    assert name.startswith(core)
    assert not name.endswith(near)


def test_where_all_docs_have_room_they_are_the_same_whatever_the_task(
    command: Command, explore: Explorer, serve: Serve
) -> None:
    heat, name = _prompts_of_two_tasks(command, explore, serve(), "prompt_chars=8000")
    core, _, _ = heat.partition("Task: ")
    assert "The documentation of all public APIs" in core
    assert "Kettle.pour" in core
    assert name.startswith(core)


def _prompts_of_two_tasks(
    command: Command, explore: Explorer, server: ScriptedModelServer, setting: str
) -> tuple[str, str]:
    heat, name = "Heat the water in a kettle.", "Name the leaves that were read from a text."
    for task in (heat, name):
        command(*explore.words(server, "--set", setting, task=task))
    return _first_message(server, heat), _first_message(server, name)


def _first_message(server: ScriptedModelServer, task: str) -> str:
    asked = (one for one in server.chat_requests if task in str(one.body))
    return next(asked).last_user_message
