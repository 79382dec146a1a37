"""Two explorations compared."""

from __future__ import annotations

from pathlib import Path

import pytest
from exploracoder import document
from exploracoder.comparison import compare
from exploracoder.models.usage import Usage
from exploracoder.state import Exploration, Library, Spending, Subtask

from .conftest import Command
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


def test_an_exploration_is_the_same_as_itself_whatever_it_cost() -> None:
    cheaper = exploration(
        id="1" * 32, spending=(Spending(part="plan", usage=Usage(calls=9)),), seconds_total=9.0
    )

    compared = compare(exploration(), cheaper)

    assert compared.is_same
    assert "cost: 1 calls, 100 + 0 tokens, 2 s → 9 calls, 0 + 0 tokens, 9 s" in str(compared)


def test_what_differs_is_told_step_by_step() -> None:
    compared = compare(exploration(), changed())
    words = str(compared)

    assert [step.result for step in compared.steps] == ["changed", "same", "changed"]
    assert "libraries: tealeaf 2.1 → tealeaf 3.0" in words
    assert "output: assam → oolong" in words
    assert "changed  step-3 (now step-4): Brew them" in words
    assert "goal: Divide by nothing → Brew them" in words
    assert "-names = [x.name for x in tealeaf.read_leaves(text)]" in words
    assert "status: solved → failed" in words
    assert "They differ. 1 of 3 subtasks are the same." in words


def test_a_step_that_only_one_has_is_added_or_removed() -> None:
    whole, first_two = exploration(), exploration(steps=exploration().steps[:2])

    assert compare(first_two, whole).steps[-1].result == "added"
    assert compare(whole, first_two).steps[-1].result == "removed"


@pytest.mark.parametrize(("other", "code"), [(exploration(), 0), (changed(), 1)])
def test_the_command_says_it_with_its_exit_code(
    command: Command, tmp_path: Path, other: Exploration, code: int
) -> None:
    one, two = tmp_path / "a.ipynb", tmp_path / "b.ipynb"
    document.save(one, exploration())
    document.save(two, other)

    told = command("diff", one, two)
    as_json = command("diff", one, two, "--json")

    assert (told.code, as_json.code) == (code, code)
    assert as_json.json["is_same"] == (code == 0)
    assert len(as_json.json["steps"]) == 3
    assert as_json.json["steps"][1]["result"] == "same"


def test_a_notebook_that_cannot_be_read_is_bad_input(command: Command, tmp_path: Path) -> None:
    document.save(tmp_path / "a.ipynb", exploration())

    done = command("diff", tmp_path / "a.ipynb", tmp_path / "none.ipynb")

    assert done.code == 2
    assert "There is no file" in done.err
