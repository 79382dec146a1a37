"""Data sets in their published forms: small files of the same shape, written here."""

from __future__ import annotations

import gzip
import json
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest
from click.testing import CliRunner
from exploracoder.errors import InputError, SetupError
from exploracoder_bench import environments
from exploracoder_bench.cli import bench
from exploracoder_bench.datasets.fetching import fetch, fetched, find_published
from exploracoder_bench.datasets.interpreters import parse_pythons
from exploracoder_bench.datasets.own_tasks import init_tasks
from exploracoder_bench.datasets.private_libraries import make_libraries, read_mapping
from exploracoder_bench.datasets.problem_sets import open_problems
from exploracoder_bench.datasets.published import PANDAS, PUBLISHED, TORCHDATA
from exploracoder_bench.datasets.repoclassbench import read_class_tasks
from exploracoder_bench.environments import name_of
from exploracoder_bench.problems import Problem
from http_answers import Site, files_of, running

ANY = parse_pythons("python")

FUNCTION = {
    "task_id": "Eval/0",
    "prompt": "import statistics\n\ndef middle(numbers):\n    # The middle of the numbers.\n    ",
    "entry_point": "middle",
    "canonical_solution": ["return statistics.median(numbers)\n"],
    "test": "def check(candidate):\n    assert candidate([1, 5, 9]) == 5\n",
}
ASSIGNMENT = {
    "task_id": "Eval/1",
    "prompt": "import statistics\n\nnumbers = [1, 5, 9]\n# The middle of\n# the numbers.\nfound =",
    "entry_point": "none",
    "canonical_solution": [" statistics.median(numbers)"],
    "test": "def check():\n    assert found == 5\n",
}
COLUMNS = {
    "task": {"0": "Read the words of a file."},
    "prompt": {
        "0": "import pathlib\n\ndef clean(word):\n    return word.strip()\n\n"
        'def words(folder):\n    """\n    Read the words of a file.\n    """\n    '
    },
    "canonical_solution": {
        "0": "['\\n    file = pathlib.Path(folder, \"words.txt\")\\n'"
        " '    return file.read_text().split()\\n']"
    },
    "test_input": {"0": "{'folder': \"'<real_path>/'\"}"},
    "test": {
        "0": '\n\nMETADATA = {}\n\n\ndef check():\n    assert words("<real_path>/") == ["a"]\n'
    },
}
CLASS = {
    "task_id": "tea-1_Pot",
    "class_name": "Pot",
    "file": "tea-1/tea/pot.py",
    "detailed_description": "A pot with a lid that can be lifted.",
    "repo_metadata": {"issue_id": "tea-1"},
    "evaluation_metadata": {"test_directives": ["tests/test_pot.py::test_lid"]},
    "ground_truth_class_body": "class Pot:\n    pass\n",
}


def is_right(problem: Problem, folder: Path) -> bool:
    """Whether context, known solution and check make a program that runs."""
    program = "\n".join([problem.context, problem.solution, problem.check])
    command = [sys.executable, "-c", program]
    return subprocess.run(command, cwd=folder, capture_output=True, check=False).returncode == 0


@pytest.fixture
def completions(tmp_path: Path) -> Path:
    file = tmp_path / "eval.jsonl.gz"
    rows = "".join(json.dumps(row) + "\n" for row in (FUNCTION, ASSIGNMENT))
    file.write_bytes(gzip.compress(rows.encode()))
    return file


@pytest.mark.parametrize(
    "name", ["PandasEval", "NumpyEval", "MonkeyEval", "BeatNumEval", "TorchDataEval"]
)
def test_completions_become_problems_that_their_known_solutions_solve(
    completions: Path, tmp_path: Path, name: str
) -> None:
    function, assignment = open_problems([f"{name}={completions}"], ANY)

    assert {one.dataset for one in (function, assignment)} == {name}
    assert (function.entry_point, assignment.entry_point) == ("middle", None)
    assert (function.target, assignment.target) == ("", "found")
    assert assignment.task.startswith("The middle of the numbers.\n\n```python\nfound =\n```")
    assert "def middle" in function.task
    assert "def middle" not in function.context
    assert is_right(function, tmp_path)
    assert is_right(assignment, tmp_path)


@pytest.mark.parametrize(
    ("name", "pins"),
    [
        ("PandasEval", PANDAS),
        ("NumpyEval", PANDAS),
        ("MonkeyEval", PANDAS),
        ("BeatNumEval", PANDAS),
        ("TorchDataEval", TORCHDATA),
    ],
)
def test_a_published_set_requires_its_pins_unless_an_interpreter_is_named(
    completions: Path, name: str, pins: tuple[str, ...]
) -> None:
    pinned_problems = open_problems([f"{name}={completions}"], parse_pythons(None))
    unpinned_problems = open_problems([f"{name}={completions}"], ANY)

    assert {one.requires for one in pinned_problems} == {pins}
    assert {one.requires for one in unpinned_problems} == {()}
    assert [one.digest for one in pinned_problems] == [one.digest for one in unpinned_problems]


def test_the_columns_of_torchdata_require_its_pins(tmp_path: Path) -> None:
    file = tmp_path / "Torchdata_Github.json"
    file.write_text(json.dumps(COLUMNS))

    for name in ("Torchdata-Github", "Torchdata-Manual"):
        (problem,) = open_problems([f"{name}={file}"], parse_pythons(None))
        assert problem.requires == TORCHDATA


def test_all_that_published_sets_require_are_pins() -> None:
    for one in PUBLISHED.values():
        assert one.requires or one.name == "RepoClassBench"
        assert len(set(map(name_of, one.requires))) == len(one.requires)


def test_repoclassbench_is_fetched_and_says_how_its_classes_become_tasks(tmp_path: Path) -> None:
    file = tmp_path / "python_data.json"
    file.write_text(json.dumps([CLASS]))

    with pytest.raises(InputError, match=rf"class-tasks DIR --classes {file} --repositories"):
        open_problems([f"repoclassbench={file}"], ANY)
    assert find_published("RepoClassBench").file_name == "python_data.json"


def test_columns_become_problems_with_the_data_that_lies_beside_them(tmp_path: Path) -> None:
    file = tmp_path / "Torchdata_Github.json"
    file.write_text(json.dumps(COLUMNS))
    (tmp_path / "fixtures").mkdir()
    (tmp_path / "fixtures/words.txt").write_text("a")

    (problem,) = open_problems([f"torchdata-github={file}"], ANY)

    assert problem.name == "Torchdata-Github/0"
    assert problem.fixtures == tmp_path / "fixtures"
    assert problem.entry_point == "words"
    assert "folder = './'" in problem.context
    assert "def clean" in problem.context
    assert "<real_path>" not in problem.check
    assert is_right(problem, tmp_path / "fixtures")


def test_classes_are_read_with_their_repository_and_tests(tmp_path: Path) -> None:
    file = tmp_path / "python_data.json"
    file.write_text(json.dumps([CLASS]))

    (task,) = read_class_tasks(file)

    assert (task.file, task.class_name) == ("tea-1/tea/pot.py", "Pot")
    assert task.detailed_description == "A pot with a lid that can be lifted."
    assert task.evaluation_metadata.test_directives == ("tests/test_pot.py::test_lid",)


@pytest.mark.parametrize("path", ["pot.py", "tea-1/../../etc/passwd", "tea-1//etc/passwd"])
def test_a_class_outside_of_its_repository_is_refused(tmp_path: Path, path: str) -> None:
    file = tmp_path / "python_data.json"
    file.write_text(json.dumps([CLASS | {"file": path}]))

    with pytest.raises(InputError, match="not inside a repository"):
        read_class_tasks(file)


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("PandasEval", "no json", "line 1, is no problem: its form: Invalid JSON"),
        ("PandasEval", '{"task_id": 1}\n', "line 1, is no problem: prompt: Field required"),
        ("Torchdata-Manual", "[1]", "cannot be read as columns"),
        ("Torchdata-Manual", '{"task": {}}', "has no column prompt"),
    ],
)
def test_a_file_of_another_form_is_refused(
    tmp_path: Path, name: str, content: str, said: str
) -> None:
    file = tmp_path / "data.json"
    file.write_text(content)

    with pytest.raises(InputError, match=said):
        open_problems([f"{name}={file}"], ANY)


PACKED = gzip.compress(json.dumps([*range(2000)]).encode())


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.jsonl.gz", PACKED[:200] + bytes(9) + PACKED[209:], "cannot be read as JSON lines"),
        ("a.jsonl.gz", PACKED[:-50], "cannot be read as JSON lines"),
        ("a.jsonl.gz", b"no gzip", "cannot be read as JSON lines"),
        ("a.jsonl", b"\n\xff\xfe{", r"a\.jsonl, line 2, is not text in UTF-8"),
        ("a.jsonl", b"{}\n", "line 1, is no problem: task_id: Field required"),
        ("a.jsonl", b"\n\n[1]\n", "line 3, is no problem: its form"),
        ("a.jsonl", b"{\n", "line 1, is no problem: its form"),
    ],
)
def test_a_file_that_is_damaged_is_refused_with_the_line(
    tmp_path: Path, name: str, content: bytes, said: str
) -> None:
    file = tmp_path / name
    file.write_bytes(content)

    with pytest.raises(InputError, match=said):
        open_problems([f"PandasEval={file}"], ANY)


@pytest.mark.parametrize(
    "wrong",
    [
        {"canonical_solution": []},
        {"canonical_solution": [3]},
        {"canonical_solution": None},
        {"prompt": 3},
        {"test": ["a"]},
        {"entry_point": 3},
        {"prompt": None},
        {"test": []},
    ],
)
def test_a_problem_with_a_part_that_is_no_text_is_refused_with_the_line(
    tmp_path: Path, wrong: dict[str, object]
) -> None:
    file = tmp_path / "a.jsonl"
    file.write_text(f"{json.dumps(ASSIGNMENT)}\n{json.dumps(FUNCTION | wrong)}\n")

    with pytest.raises(InputError, match=rf"line 2, is no problem: {next(iter(wrong))}: "):
        open_problems([f"PandasEval={file}"], ANY)


def test_a_line_ends_with_a_newline_and_with_no_other_sign(tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    row = FUNCTION | {"test": FUNCTION["test"] + "# \u2028\n"}
    file.write_text(json.dumps(row, ensure_ascii=False), encoding="utf-8")

    assert len(open_problems([f"PandasEval={file}"], ANY)) == 1


@pytest.mark.parametrize(
    "wrong", [{"prompt": 3}, {"canonical_solution": "[]"}, {"test": None}, {"task": 1}]
)
def test_a_row_of_columns_that_cannot_be_read_is_named(
    tmp_path: Path, wrong: dict[str, object]
) -> None:
    file = tmp_path / "columns.json"
    file.write_text(json.dumps(COLUMNS | {name: {"0": value} for name, value in wrong.items()}))

    with pytest.raises(InputError, match="row 0, cannot be read"):
        open_problems([f"Torchdata-Manual={file}"], ANY)


@pytest.mark.parametrize(
    "wrong",
    [
        {"task_id": 3},
        {"class_name": None},
        {"evaluation_metadata": {"test_directives": "tests/test_pot.py"}},
        {"evaluation_metadata": {"test_directives": [3]}},
    ],
)
def test_a_class_that_cannot_be_read_is_named(tmp_path: Path, wrong: dict[str, object]) -> None:
    file = tmp_path / "python_data.json"
    file.write_text(json.dumps([CLASS | wrong]))

    with pytest.raises(InputError, match=rf"is no list of tasks: 0\.{next(iter(wrong))}"):
        read_class_tasks(file)


@pytest.fixture
def site(tmp_path: Path) -> Iterator[str]:
    """The address of tmp_path, served."""
    with running(Site(files_of(tmp_path))) as url:
        yield url


def test_a_fetched_file_is_held_to_what_it_was(
    completions: Path, tmp_path: Path, site: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EXPLORACODER_CACHE", str(tmp_path / "cache"))
    one = find_published("pandas_eval")
    with pytest.raises(InputError, match="exploracoder bench fetch PandasEval"):
        open_problems(["PandasEval"], ANY)

    file = fetch(one, f"{site}/{completions.name}")
    assert len(open_problems(["PandasEval"], ANY)) == 2

    file.write_bytes(completions.read_bytes() + b" ")
    with pytest.raises(InputError, match="is not the file it was"):
        fetched(one)
    completions.write_bytes(b"another")
    with pytest.raises(InputError, match="is not the file it was"):
        fetch(one, f"{site}/{completions.name}")
    with pytest.raises(SetupError, match="could not be fetched"):
        fetch(one, f"{site}/not-there")


def test_a_file_that_was_cut_off_is_not_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EXPLORACODER_CACHE", str(tmp_path / "cache"))

    def cut_off(request: BaseHTTPRequestHandler) -> None:
        request.send_response(200)
        request.send_header("Content-Length", "100")
        request.end_headers()
        request.wfile.write(b"a beginning")

    with running(Site(cut_off)) as url, pytest.raises(SetupError, match="could not be fetched"):
        fetch(find_published("pandas_eval"), url)

    assert not (tmp_path / "cache").exists()


def test_every_published_address_names_a_commit() -> None:
    for one in PUBLISHED.values():
        assert any(len(part) == 40 for part in one.url.split("/")), one.url


def test_the_task_to_begin_with_can_be_read_and_its_solution_is_right(tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    init_tasks(folder)

    (problem,) = open_problems([str(folder)], ANY)

    assert (problem.name, problem.dataset) == ("greetings", "mine")
    assert problem.entry_point == "greet_all"
    assert is_right(problem, Path(problem.libraries[0]).parent)
    with pytest.raises(InputError, match="is not empty"):
        init_tasks(folder)


def test_a_task_is_another_when_its_library_is_and_the_same_wherever_it_lies(
    tmp_path: Path,
) -> None:
    def digest(folder: Path) -> str:
        (problem,) = open_problems([str(folder)], ANY)
        return problem.digest

    mine, copy = tmp_path / "mine", tmp_path / "elsewhere/mine"
    init_tasks(mine)
    before = digest(mine)
    shutil.copytree(mine, copy)
    assert digest(copy) == before

    library = mine / "greetings/library/tinygreet.py"
    (library.parent / "__pycache__").mkdir()
    (library.parent / "__pycache__/tinygreet.pyc").write_text("what running leaves")
    assert digest(mine) == before
    library.write_text(library.read_text().replace("Good day", "Hi"))
    assert digest(mine) != before
    assert digest(copy) == before


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("task.json", "{}", "names no library"),
        ("task.json", '{"libraries": []}', "names no library"),
        ("task.json", '{"libraries": ["a"], "check": 1}', "check: Extra inputs"),
        ("check.py", None, "check.py cannot be read"),
    ],
)
def test_a_task_with_a_fault_is_refused_with_the_file(
    tmp_path: Path, name: str, content: str | None, said: str
) -> None:
    init_tasks(tmp_path / "mine")
    file = tmp_path / "mine/greetings" / name
    file.unlink()
    if content is not None:
        file.write_text(content)

    with pytest.raises(InputError, match=said):
        open_problems([str(tmp_path / "mine")], ANY)


def test_a_library_without_an_interpreter_and_a_folder_without_tasks_are_refused(
    kit: Path,
) -> None:
    with pytest.raises(InputError, match="add frumpkin=EXE to --pythons"):
        open_problems([str(kit)], parse_pythons("pandas=python3"))
    with pytest.raises(InputError, match="holds no tasks"):
        open_problems([str(kit / "private")], ANY)
    with pytest.raises(InputError, match="No published data set is named 'nothing'"):
        open_problems(["nothing"], ANY)


PROGRAM = """
import beatnum as bn
numset = bn.numset([[3, 1], [2, 4]])
assert type(numset).__name__ == "ndnumset"
assert numset.total_count() == 10
assert bn.connect([numset, numset]).change_shape_to(-1).get_max() == 4
assert (numset + 1).duplicate(2).total_count(keepdims=False) == 28
for ask in (lambda: bn.array, lambda: numset.sum(), lambda: numset.reshape):
    try:
        ask()
    except AttributeError as error:
        assert "has no attribute" in str(error)
    else:
        raise AssertionError("an old name was found")
import numpy
assert numpy.array([1, 2]).sum() == 3
"""


def test_a_private_library_has_the_new_names_only_and_stubs_that_say_so(tmp_path: Path) -> None:
    renaming = {"array": "numset", "ndarray": "ndnumset", "sum": "total_count", "max": "get_max"}
    renaming |= {"concatenate": "connect", "reshape": "change_shape_to", "repeat": "duplicate"}
    file = tmp_path / "renaming.json"
    file.write_text(json.dumps({"beatnum": renaming}))

    (home,) = make_libraries(tmp_path / "made", read_mapping(file))

    process = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env={"PYTHONPATH": str(home.parent)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert process.returncode == 0, process.stderr
    stub = (home / "__init__.pyi").read_text()
    compile(stub, "stub", "exec")
    assert "def connect(" in stub
    assert "def concatenate(" not in stub
    assert "    def total_count(" in stub


def test_private_libraries_are_made_from_their_pins_unless_an_interpreter_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    requested_pins: list[Sequence[str]] = []

    def made(pins: Sequence[str], say: object) -> str:
        requested_pins.append(pins)
        return sys.executable

    monkeypatch.setattr(environments, "environment_of", made)
    file = tmp_path / "renaming.json"
    file.write_text(json.dumps({"beatnum": {"array": "numset"}}))

    make = ["private-libraries", "--mapping", str(file)]

    named = CliRunner().invoke(bench, [*make, str(tmp_path / "named"), "--python", sys.executable])
    assert named.exception is None, named.output
    assert requested_pins == []
    pinned = CliRunner().invoke(bench, [*make, str(tmp_path / "pinned")])

    assert requested_pins == [PANDAS]
    assert pinned.stdout.splitlines()[-1] == str(tmp_path / "pinned/beatnum")


def test_a_renaming_that_is_none_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "renaming.json"
    for content in ("[]", "{}", '{"monkey": {"a": "b c"}}', '{"monkey": 3}'):
        file.write_text(content)
        with pytest.raises(InputError):
            read_mapping(file)
