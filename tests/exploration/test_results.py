"""The names that a task wants its results under."""

from __future__ import annotations

import pytest
from exploracoder.engine.reading.result_names import result_names, wanted_in
from exploracoder.engine.writing.agreement import can_compare, groups
from exploracoder.settings import make_settings
from exploracoder.state import Attempt, Exploration, Task
from exploracoder_kernel.observation import Observation, Variable

from .conftest import Explorer, Serve
from .scripted import TeaModel, fenced

WORDS = "Read `text` into `leaves`. Put the names into `names`; count them in `total`!"


def task(text: str = WORDS, **facts: str) -> Task:
    return Task(text=text, libraries=("tealeaf",), **{"context": "text = 'assam 5'", **facts})


def test_without_a_check_results_are_the_names_between_backticks() -> None:
    assert result_names(task()) == ("leaves", "names", "total")


def test_what_is_no_name_between_backticks_is_no_result() -> None:
    words = "Call `tealeaf.brew` with `a b` and `brew()`, and put a drop into `cup`."

    assert result_names(task(words)) == ("cup",)


def test_a_column_or_an_option_between_backticks_is_no_result() -> None:
    words = "Sum the column `price` for each `shop`, with the option `last`; name it `sums`."

    assert result_names(task(words)) == ("sums",)


def test_a_check_says_best_which_results_are_wanted() -> None:
    check = "import math\nassert total == math.floor(2.5)\nassert set(names) == {'assam'}"

    assert result_names(task(check=check)) == ("total", "names")


@pytest.mark.parametrize(
    "check",
    [
        "assert len(names) == 2 and 'text' in text",
        "from tealeaf import Leaf as L\nassert [L(n, 5) for n in names]",
        "def test(given):\n    wanted = {given}\n    return wanted\nassert test(names)",
        "async def test():\n    pass\nassert test and names",
        "try:\n    names[0]\nexcept LookupError as error:\n    raise SystemExit(error)",
        "assert all((lambda leaf: leaf)(name) for name in names)",
    ],
    ids=["builtin and context", "import", "function", "async", "except", "lambda"],
)
def test_what_a_check_or_the_context_makes_itself_is_no_result(check: str) -> None:
    assert result_names(task(check=check)) == ("names",)


@pytest.mark.parametrize(
    ("target", "names"),
    [
        ("total", ["total"]),
        ("first, (*rest, box.last)", ["first", "rest", "box"]),
        ("rows.loc[rows[column] == 1, 'y']", ["rows"]),
        ("total: int", ["total"]),
    ],
)
def test_results_are_compared_in_the_variables_of_an_unfinished_assignment(
    target: str, names: list[str]
) -> None:
    settings = make_settings("standard")
    exploration = Exploration(task=task(stub=f"{target} ="), settings=settings)
    variables = tuple(Variable(name=name, type="int", preview="1") for name in [*names, "column"])
    attempt = Attempt(code="", observation=Observation(status="ok", variables=variables))
    other = Attempt(code="", observation=Observation(status="ok", variables=variables[1:]))

    assert can_compare(exploration)
    assert not can_compare(Exploration(task=task("Brew."), settings=settings))
    assert groups(exploration, [other, attempt, attempt]) == [[attempt, attempt]]


def test_a_function_s_task_names_no_results() -> None:
    function_task = task(check="assert strong_names(text)", entry_point="strong_names")

    assert result_names(function_task) == ()


@pytest.mark.parametrize("check", ["%time names", "assert ("])
def test_a_check_that_is_no_plain_python_names_no_results(check: str) -> None:
    assert result_names(task(check=check)) == ()


def test_a_subtask_wants_the_results_that_it_names_and_that_are_not_there() -> None:
    goal = "Put the names of the leaves into a list, and count the subtotal"

    assert wanted_in(goal, task(), []) == ("leaves", "names")
    assert wanted_in(goal, task(), ["leaves"]) == ("names",)


def test_a_result_between_backticks_is_wanted_even_when_it_is_there() -> None:
    assert wanted_in("Sort `names` by the leaves", task(), ["names", "leaves"]) == ("names",)


CHECK = "assert names == ['assam', 'oolong']\nassert total == 2\n"
NAME = (
    "import tealeaf\nnames = [leaf.name for leaf in tealeaf.read_leaves(text) if leaf.strength > 3]"
)


def test_a_draft_without_the_wanted_result_is_mended(serve: Serve, explore: Explorer) -> None:
    other = NAME.replace("names =", "strong =")
    goals = ["Read the names of the strong leaves"]
    lines = {"drafts": {1: [fenced(other)]}, "debugs": {1: [fenced(NAME)]}}
    server = serve(TeaModel(goals=goals, is_lost=True, **lines))
    check = CHECK.splitlines()[0]
    words = explore.words(
        server,
        *explore.files(check, entry_point=None),
        *("--profile", "small", "--set", "first-tries=0", "--set", "looks=0"),
    )
    outcome = explore.run(*words, "--json")
    messages = [request.last_user_message for request in server.chat_requests]

    assert outcome.json["subtasks"][0]["code"] == NAME
    assert any("named `names`" in text for text in messages)
    assert any("it made no variable named names" in text for text in messages)
