from __future__ import annotations

from pathlib import Path

import pytest
from exploracoder_bench.kit import KitError, read_rows, select_rows
from exploracoder_bench.runs import prepare


def test_a_function_row_asks_for_the_head_and_brings_its_inputs(kit: Path) -> None:
    (row,) = select_rows(read_rows(kit), ["Tiny/0"])
    problem = row.problem(kit, "python")

    assert problem.task == (
        "Spell each of the numbers.\n\n"
        "```python\ndef spell(numbers):\n    # Spell each of the numbers.\n```\n"
    )
    assert problem.context == "import frumpkin\n\nnumbers = [1, 2]\n"
    assert problem.check.endswith("check(spell)\n")
    assert problem.entry_point == "spell"
    assert problem.search_path == kit / "private"


def test_an_assign_row_asks_for_the_right_side_and_names_no_entry_point(kit: Path) -> None:
    (row,) = select_rows(read_rows(kit), ["Tiny/1"])
    problem = row.problem(kit, "python")

    assert problem.task == "Spell it.\n\n```python\nword =\n```\n"
    assert problem.context.endswith("# Spell it.\n")
    assert problem.entry_point is None


def test_a_row_without_unfinished_code_asks_in_words_alone(kit: Path) -> None:
    (row,) = select_rows(read_rows(kit), ["Tiny/1"])
    whole = row.model_copy(update={"prompt": row.context + "\n"})

    assert whole.task == "Spell it.\n"
    assert whole.canonical == "frumpkin.frumple(number)"


def test_two_libraries_are_joined_by_a_plus(kit: Path) -> None:
    (row,) = select_rows(read_rows(kit), ["Tiny/0"])

    assert row.model_copy(update={"library": "monkey+beatnum"}).libraries == ("monkey", "beatnum")


def test_the_known_solution_goes_on_from_the_unfinished_code(kit: Path) -> None:
    function, assignment = select_rows(read_rows(kit), ["Tiny/0", "Tiny/1"])

    assert function.canonical.startswith("def spell(numbers):\n")
    assert function.canonical.endswith("for number in numbers]")
    assert assignment.canonical == "word = frumpkin.frumple(number)"


def test_a_known_solution_that_is_a_whole_program_stands_alone(kit: Path) -> None:
    (row,) = select_rows(read_rows(kit), ["Tiny/0"])
    program = "import frumpkin\n\ndef spell(numbers):\n    return []\n"

    assert row.model_copy(update={"canonical_solution": (program,)}).canonical == program


def test_preparing_makes_the_folder_afresh_with_the_fixtures(kit: Path, tmp_path: Path) -> None:
    (row,) = select_rows(read_rows(kit), ["Tiny/1"])
    folder = tmp_path / "work" / "one"
    folder.mkdir(parents=True)
    (folder / "left.txt").write_text("from before")

    prepare(row.problem(kit, "python"), folder)

    names = sorted(path.name for path in folder.iterdir())
    assert names == ["check.py", "context.py", "data", "task.txt"]
    assert (folder / "data/number.txt").read_text() == "2"
    assert (folder / "check.py").read_text() == row.test


def test_smoke_means_the_first_two_of_each_set(kit: Path) -> None:
    rows = select_rows(read_rows(kit), ["smoke"])

    assert [row.id for row in rows] == ["Other/0", "Tiny/0", "Tiny/1"]


def test_names_may_overlap_and_each_problem_comes_once(kit: Path) -> None:
    rows = select_rows(read_rows(kit), ["Tiny", "Tiny/2", "Other/0"])

    assert [row.id for row in rows] == ["Other/0", "Tiny/0", "Tiny/1", "Tiny/2"]
    assert select_rows(read_rows(kit), ["all"]) == rows


def test_a_name_that_means_nothing_is_refused(kit: Path) -> None:
    with pytest.raises(KitError, match="Nothing in the kit is named 'Tiny/9'"):
        select_rows(read_rows(kit), ["smoke", "Tiny/9"])


def test_a_folder_that_is_no_kit_is_refused(tmp_path: Path) -> None:
    with pytest.raises(KitError, match="is not a kit"):
        read_rows(tmp_path)
