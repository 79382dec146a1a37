"""Two explorations compared."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from exploracoder import document
from exploracoder.models.model_cost import Usage
from exploracoder.state import Exploration, Library, Spending, Subtask, Task

from .conftest import Command, Outcome
from .samples import exploration, printed


def changed() -> Exploration:
    """The sample with another output, a step less, a new one, and another version."""
    first, second, _ = exploration().steps
    read = first.candidates[1].model_copy(update={"observation": printed("oolong\n")})
    new = second.model_copy(update={"subtask": Subtask(id="step-4", goal="Brew them")})
    return exploration(
        steps=(
            first.model_copy(update={"candidates": (first.candidates[0], read)}),
            second,
            new,
        ),
        libraries=(Library(name="tealeaf", import_name="tealeaf", version="3.0", apis=15),),
        solution=None,
        status="failed",
    )


@pytest.fixture
def compare(command: Command, tmp_path: Path) -> Callable[..., Outcome]:
    """Saves two explorations and compares them."""

    def call(before: Exploration, now: Exploration, *options: str) -> Outcome:
        paths = tmp_path / "a.ipynb", tmp_path / "b.ipynb"
        document.save(paths[0], before)
        document.save(paths[1], now)
        return command("diff", *paths, *options)

    return call


def test_an_exploration_is_the_same_as_itself_whatever_it_cost(
    compare: Callable[..., Outcome],
) -> None:
    cheaper = exploration(
        id="1" * 32, spending=(Spending(part="plan", usage=Usage(calls=9)),), seconds_total=9.0
    )

    outcome = compare(exploration(), cheaper)
    as_json = compare(exploration(), cheaper, "--json")

    assert (outcome.code, as_json.code) == (0, 0)
    assert "a.ipynb: 1 model calls, 100 prompt" in outcome.out
    assert outcome.out.endswith("They are the same.\n")
    assert (as_json.json["is_same"], as_json.json["difference"]) == (True, [])
    assert [one["calls"] for one in as_json.json["cost"]] == [1, 9]


def test_what_differs_is_told_under_the_goal_where_it_differs(
    compare: Callable[..., Outcome],
) -> None:
    outcome = compare(exploration(), changed())
    as_json = compare(exploration(), changed(), "--json")
    lines = outcome.out.splitlines()

    assert (outcome.code, as_json.code) == (1, 1)
    for line in (
        *("-Libraries: tealeaf 2.1", "+Libraries: tealeaf 3.0", "-assam", "+oolong"),
        *("-## Divide by nothing", "+## Brew them", "-solved", "+failed"),
        "-names = [x.name for x in tealeaf.read_leaves(text)]",
    ):
        assert line in lines
    heads = [line for line in lines if line.startswith("@@")]
    assert [head.partition(" ## ")[2] for head in heads] == ["", "Read the leaves", "Count them"]
    assert lines[-1] == "They differ."
    assert set(as_json.json["difference"]) <= set(lines)


def test_addresses_of_objects_are_no_difference(compare: Callable[..., Outcome]) -> None:
    first, second = (
        exploration(task=Task(text=f"<Leaf at 0x7f{number}abcdef>", libraries=("tealeaf",)))
        for number in (1, 2)
    )

    assert compare(first, second).code == 0


def test_a_notebook_that_cannot_be_read_is_bad_input(command: Command, tmp_path: Path) -> None:
    document.save(tmp_path / "a.ipynb", exploration())

    outcome = command("diff", tmp_path / "a.ipynb", tmp_path / "none.ipynb")

    assert outcome.code == 2
    assert "There is no file" in outcome.err
