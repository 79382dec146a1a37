"""A magic's line, taken apart: what is meant, and what is refused with the nearest word."""

from __future__ import annotations

import pytest
from exploracoder.errors import InputError
from exploracoder_jupyter.magics.completion import complete
from exploracoder_jupyter.magics.configuration import Configuration
from exploracoder_jupyter.magics.parsing import Order, Request, parse


def test_a_cell_is_a_task_with_options_in_its_line() -> None:
    line = '--library tealeaf --library="./my lib" --check 7 --bring a,b --bring c --review'

    request = parse(line, "Sort the leaves.\n")

    assert request == Request(
        task="Sort the leaves.",
        libraries=("tealeaf", "./my lib"),
        check="7",
        bring=("a", "b", "c"),
        mode="review",
    )


def test_putting_the_solution_into_the_next_cell_waits_for_it() -> None:
    request = parse("--into-next-cell", "Sort the leaves.")

    assert isinstance(request, Request)
    assert (request.mode, request.is_waited_for, request.is_inserted) == ("auto", True, True)


LINES: dict[str, Request | Order] = {
    "": Order("status"),
    "next": Order("next"),
    "next --wait": Order("next", "", True),
    "--wait next": Order("next", "", True),
    "debug --wait 2 it's wrong": Order("debug", "2 it's wrong", True),
    "search what brews --strongly": Order("search", "what brews --strongly"),
    "tools get_signature --name brew": Order("tools", "get_signature --name brew"),
    "Don't brew {tea} for $5": Request(task="Don't brew {tea} for $5"),
    "Explain what pip --upgrade does": Request(task="Explain what pip --upgrade does"),
    "--library tealeaf brew": Request(task="brew", libraries=("tealeaf",)),
    "Search the page for links": Request(task="Search the page for links"),
}


@pytest.mark.parametrize(("line", "meant"), LINES.items(), ids=LINES.keys())
def test_a_line_is_a_sub_command_or_a_task(line: str, meant: Request | Order) -> None:
    assert parse(line, None) == meant


REFUSED = {
    "a slip": ("serch tea", None, "no sub-command 'serch'. The nearest is 'search'"),
    "one word": ("nex", None, "The nearest is 'next'"),
    "an option with a slip": (
        "--libary x",
        "Brew",
        "no option --libary here. The nearest is --lib",
    ),
    "an option of a task": ("--check c next", None, "'next' takes no --check"),
    "options after a task": (
        "List the links --check check_links",
        None,
        "so --check would be part",
    ),
    "a switch after a task": ("List the links --wait", None, "so --wait would be part"),
    "an unknown option after": ("next --wit", None, "The nearest is --wait"),
    "no value": ("--check", "Brew", "--check needs a value"),
    "words beside a cell": ("brew", "Brew", "Write the task below the line"),
    "a sub-command with a cell": ("next", "Brew", "with one %"),
    "both modes": ("--auto --review", "Brew", "either --review or --auto"),
    "asking without stopping": ("--review --into-next-cell", "Brew", "works to the end"),
    "an empty task": ("--auto", " \n", "The task is empty"),
}


@pytest.mark.parametrize(("line", "cell", "words"), REFUSED.values(), ids=REFUSED.keys())
def test_what_is_wrong_is_refused_with_what_is_right(
    line: str, cell: str | None, words: str
) -> None:
    with pytest.raises(InputError) as refusal:
        parse(line, cell)

    assert words in str(refusal.value)


def test_an_empty_value_restores_the_seed() -> None:
    changed = Configuration().changed("seed=7")

    assert changed.options.seed == 7
    assert changed.changed("seed=") == Configuration()


@pytest.mark.parametrize(
    "task", ["Parse --output from argv with click", "A CLI with --output FILE --color"]
)
def test_a_task_may_speak_of_options_of_other_programs(task: str) -> None:
    request = parse(task, None)

    assert isinstance(request, Request)
    assert request.task == task


COMPLETED = {
    "%exploracoder re": ("re", ["replay", "resume", "retry"]),
    "%exploracoder help acc": ("acc", ["accept"]),
    "%%exploracoder --li": ("--li", ["--library"]),
    "%exploracoder use exploracoder_ret": ("exploracoder_ret", ["exploracoder_retrieval"]),
    "%exploracoder resume te": ("te", ["tea.ipynb", "teas/"]),
    "%exploracoder replay teas/": ("teas/", ["teas/old.ipynb"]),
    "%exploracoder next x": ("x", []),
    "%exploracoder tools get_c": ("get_c", ["get_class_info"]),
    "%exploracoder tools get_class_info --cl": ("--cl", ["--class"]),
    "%exploracoder tools get_class_info --root teas": ("teas", ["teas/"]),
}


@pytest.mark.parametrize(("line", "found"), COMPLETED.items(), ids=COMPLETED.keys())
def test_what_can_follow_is_completed(
    line: str,
    found: tuple[str, list[str]],
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    folder = tmp_path_factory.mktemp("files")
    monkeypatch.chdir(folder)
    (folder / "teas").mkdir()
    for name in ("tea.ipynb", "teas/old.ipynb", "tea.txt"):
        (folder / name).write_text("", encoding="utf-8")

    assert complete(line, found[0]) == found[1]
