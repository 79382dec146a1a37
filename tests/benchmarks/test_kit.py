from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from exploracoder.errors import InputError
from exploracoder_bench.datasets.exec_kit import Row, read_kit
from exploracoder_bench.datasets.interpreters import parse_pythons
from exploracoder_bench.datasets.problem_selection import select
from exploracoder_bench.datasets.problem_sets import open_problems
from exploracoder_bench.datasets.published import PANDAS
from exploracoder_bench.problems import Problem
from exploracoder_bench.runs import prepare


def row(kit: Path, name: str) -> Row:
    lines = (kit / f"dev/{name.partition('/')[0]}.jsonl").read_text().splitlines()
    return next(one for one in map(Row.model_validate_json, lines) if one.id == name)


def test_a_function_row_asks_for_the_head_and_brings_its_inputs(
    problems: dict[str, Problem], kit: Path
) -> None:
    problem = problems["Tiny/0"]

    assert problem.task == (
        "Spell each of the numbers.\n\n"
        "```python\ndef spell(numbers):\n    # Spell each of the numbers.\n```\n"
    )
    assert problem.context == "import frumpkin\n\nnumbers = [1, 2]\n"
    assert problem.check.endswith("check(spell)\n")
    assert problem.entry_point == "spell"
    assert problem.search_path == kit / "private"


def test_an_assign_row_asks_for_the_right_side_and_names_no_entry_point(
    problems: dict[str, Problem],
) -> None:
    problem = problems["Tiny/1"]

    assert problem.task == "Spell it.\n\n```python\nword =\n```\n"
    assert problem.context.endswith("# Spell it.\n")
    assert problem.entry_point is None


def test_a_row_without_unfinished_code_asks_in_words_alone(kit: Path) -> None:
    one = row(kit, "Tiny/1")
    whole = one.model_copy(update={"prompt": one.context + "\n"})

    assert whole.task == "Spell it.\n"
    assert whole.canonical == "frumpkin.frumple(number)"


def test_two_libraries_are_joined_by_a_plus(kit: Path) -> None:
    both = row(kit, "Tiny/0").model_copy(update={"library": "monkey+beatnum"})

    assert both.libraries == ("monkey", "beatnum")


def test_libraries_of_published_sets_bring_their_pins_unless_an_interpreter_is_named(
    kit: Path,
) -> None:
    file = kit / "dev/Other.jsonl"
    row = json.loads(file.read_text()) | {"library": "monkey+beatnum"}
    file.write_text(json.dumps(row) + "\n")

    pinned_problems = open_problems([str(kit)], parse_pythons(None))
    unpinned_problems = open_problems([str(kit)], parse_pythons(sys.executable))

    requirements = {one.libraries: one.requires for one in pinned_problems}
    assert requirements == {("frumpkin",): (), ("monkey", "beatnum"): PANDAS}
    assert {one.requires for one in unpinned_problems} == {()}


def test_the_known_solution_goes_on_from_the_unfinished_code(
    problems: dict[str, Problem],
) -> None:
    function, assignment = problems["Tiny/0"].solution, problems["Tiny/1"].solution

    assert function.startswith("def spell(numbers):\n")
    assert function.endswith("for number in numbers]")
    assert assignment == "word = frumpkin.frumple(number)"


def test_a_known_solution_that_is_a_whole_program_stands_alone(kit: Path) -> None:
    program = "import frumpkin\n\ndef spell(numbers):\n    return []\n"
    one = row(kit, "Tiny/0").model_copy(update={"canonical_solution": (program,)})

    assert one.canonical == program


def test_preparing_makes_the_folder_afresh_with_the_fixtures(
    problems: dict[str, Problem], tmp_path: Path
) -> None:
    problem, folder = problems["Tiny/1"], tmp_path / "work" / "one"
    folder.mkdir(parents=True)
    (folder / "left.txt").write_text("from before")

    prepare(problem, folder)

    names = sorted(path.name for path in folder.iterdir())
    assert names == ["check.py", "context.py", "data", "task.txt"]
    assert (folder / "data/number.txt").read_text() == "2"
    assert (folder / "check.py").read_text() == problem.check


def test_a_problem_is_another_when_its_check_or_its_data_is(
    problems: dict[str, Problem], kit: Path
) -> None:
    problem = problems["Tiny/1"]
    before = problem.digest

    assert replace(problem, check="assert True").digest != before
    assert replace(problem, python="/another/python").digest == before
    (kit / "fixtures/numbers/data/number.txt").write_text("3")
    assert problem.digest != before


def test_a_problem_is_another_when_a_library_that_is_not_installed_is(kit: Path) -> None:
    def digests() -> dict[str, str]:
        return {one.name: one.digest for one in read_kit(kit, lambda _: sys.executable)}

    before, private = digests(), kit / "private"
    (private / "another.py").write_text("")
    (private / "frumpkin/__pycache__").mkdir()
    (private / "frumpkin/__pycache__/a.pyc").write_text("what running leaves")
    assert digests() == before

    (private / "frumpkin/more.py").write_text("")
    assert not set(digests().values()) & set(before.values())


def test_a_library_by_path_is_known_by_what_is_in_it(kit: Path, tmp_path: Path) -> None:
    (first, *_) = read_kit(kit, lambda _: sys.executable)
    lone, package = tmp_path / "a/frumpkin.py", tmp_path / "b/frumpkin"
    package.mkdir(parents=True)
    lone.parent.mkdir()
    for file in (lone, package / "__init__.py"):
        file.write_text("one = 1\n")

    by_file, by_folder = (replace(first, libraries=(str(one),)) for one in (lone, package))
    before = [by_file.digest, by_folder.digest]
    assert len({*before, first.digest}) == 3

    for file in (lone, package / "__init__.py"):
        file.write_text("one = 2\n")
    assert not {by_file.digest, by_folder.digest} & set(before)


def test_whatever_a_data_set_calls_a_problem_its_folder_stays_inside(
    problems: dict[str, Problem],
) -> None:
    names = ["../../etc/passwd", "/root", "a b\nc", ".."]

    slugs = [replace(problems["Tiny/0"], name=name).slug for name in names]

    assert slugs == ["etc_passwd", "root", "a_b_c", "problem"]


def test_smoke_means_the_first_two_of_each_set(problems: dict[str, Problem]) -> None:
    selection = select(list(problems.values()), ["smoke"])

    assert [one.name for one in selection] == ["Other/0", "Tiny/0", "Tiny/1"]


def test_names_may_overlap_and_each_problem_comes_once(problems: dict[str, Problem]) -> None:
    candidates = list(problems.values())

    selection = select(candidates, ["Tiny", "Tiny/2", "Other/0"])

    assert [one.name for one in selection] == ["Other/0", "Tiny/0", "Tiny/1", "Tiny/2"]


def test_a_name_that_means_nothing_is_refused(problems: dict[str, Problem]) -> None:
    with pytest.raises(InputError, match="is named 'Tiny/9'"):
        select(list(problems.values()), ["smoke", "Tiny/9"])


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"\xff\xfe{", r"a\.jsonl, line 1, is not text in UTF-8"),
        (b"\n{}", r"a\.jsonl, line 2, is no problem: id: Field required"),
        (b"{", r"a\.jsonl, line 1, is no problem: .*JSON"),
    ],
)
def test_a_file_of_a_kit_that_is_damaged_is_refused_with_the_line(
    kit: Path, content: bytes, said: str
) -> None:
    (kit / "dev/a.jsonl").write_bytes(content)

    with pytest.raises(InputError, match=said):
        read_kit(kit, lambda _: sys.executable)


def test_a_row_without_a_known_solution_is_refused(kit: Path) -> None:
    file = kit / "dev/Other.jsonl"
    row = json.loads(file.read_text()) | {"canonical_solution": []}
    file.write_text(json.dumps(row))

    with pytest.raises(InputError, match="line 1, is no problem: canonical_solution"):
        read_kit(kit, lambda _: sys.executable)
