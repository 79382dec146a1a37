"""The commands of api_use, and its problems in a run; the model is a server with a script."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from exploracoder.engine.reading import stub
from exploracoder.errors import InputError
from exploracoder.testing import ScriptedModelServer
from exploracoder_bench.api_use.benchmarks import problem_file
from exploracoder_bench.api_use.composed_problems import Problem, PromptTask, prepare
from exploracoder_bench.api_use.library_files import provided, shelf_of
from exploracoder_bench.api_use.packages import example_context, write_packages
from exploracoder_bench.cli import bench
from exploracoder_bench.harness import RESULTS
from exploracoder_bench.ledger import Ledger

_OURS = ("recorded", "Recorded", "importlib")
SPHERE = Problem(
    id="sphere",
    benchmark="own",
    signature="solids.get_volume_of_sphere()",
    description="works out how much space a ball fills",
    func_name="ball",
    num_distractors=2,
)
CUBE = PromptTask(
    signature="solids.get_volume_of_cube(side=edge)",
    description="works out how much space a die fills",
    func_name="die",
)
RIGHT = "```python\nimport solids\n\ndef ball(r):\n    return solids.get_volume_of_sphere(r)\n```"
WRONG = RIGHT.replace("sphere", "cube")
CASES = [
    {"id": "right", "signature": "solids.get_volume_of_sphere()", "func_name": "f",
     "candidate": "import solids\ndef f(r):\n return solids.get_volume_of_sphere(r)"},
    {"id": "wrong", "signature": "solids.get_volume_of_sphere()", "func_name": "f",
     "candidate": "import solids\ndef f(r):\n return solids.get_volume_of_cube(r)"},
    {"id": "private", "func_name": "f", "params": [{"name": "n", "type": "any"}, {"name": "kind"}],
     "libraries": {"tea7": {"name": "tea", "functions": {"brew": {"args": ["kind", "grams"]}}}},
     "signature": "tea7.brew(grams=n)",
     "candidate": "from tea import brew\ndef f(n, kind):\n return brew(kind, grams=n)", "more": 1},
    {"id": "object", "func_name": "f", "signature": "image.blur(pixels=3)",
     "candidate": "def f(image):\n return image.blur(3)"},
]  # fmt: skip


def api_use(*words: object) -> Result:
    return CliRunner().invoke(bench, ["api-use", *map(str, words)])


def test_generate_writes_problems(tmp_path: Path) -> None:
    file = tmp_path / "deep" / "sampled.json"

    result = api_use("generate", "--count", 3, "--out", file)

    assert result.exit_code == 0, result.output
    assert len(json.loads(file.read_text())["problems"]) == 3


@pytest.mark.parametrize(
    ("words", "why"),
    [(("--distractors", 99), "has only"), (("--libraries", "no.json"), "cannot be read")],
)
def test_what_cannot_be_generated_is_bad_input(
    tmp_path: Path, words: tuple[object, ...], why: str
) -> None:
    result = api_use("generate", "--out", tmp_path / "x.json", *words)

    assert isinstance(result.exception, InputError)
    assert why in str(result.exception)
    assert list(tmp_path.iterdir()) == []


def test_judge_says_of_each_case_whether_it_is_right_and_what_is_wrong(
    tmp_path: Path,
) -> None:
    file = tmp_path / "cases.jsonl"
    file.write_text("\n".join(json.dumps(one) for one in CASES))

    lines = api_use("judge", "--cases", file, "--json").stdout.splitlines()
    output = api_use("judge", "--cases", file).stdout

    verdicts = [json.loads(line) for line in lines]
    assert [(one["id"], one["correct"]) for one in verdicts] == [
        ("right", True), ("wrong", False), ("private", True), ("object", True),
    ]  # fmt: skip
    assert all(set(one) == {"id", "correct", "why"} for one in verdicts)
    assert "in the check, AssertionError: it returns <solids.get_volume_of_cube(" in output


@pytest.mark.parametrize(
    ("lines", "why"),
    [
        ("", "has no cases"),
        ("{", "line 1, is no case"),
        ("[]", "line 1, is no case"),
        ('{"id": "x"}', "line 1, is no case: candidate"),
        ('{"id": "x", "candidate": "", "func_name": "f"}', "line 1, is no case: signature"),
        ('{"id": "x", "candidate": "", "func_name": "f", "signature": "1 +"}', "Case x: The sig"),
    ],
)
def test_cases_that_cannot_be_judged_are_bad_input(tmp_path: Path, lines: str, why: str) -> None:
    file = tmp_path / "cases.jsonl"
    file.write_text(lines)

    result = api_use("judge", "--cases", file)

    assert isinstance(result.exception, InputError)
    assert why in str(result.exception)


def test_packages_of_a_library_without_code_say_what_was_called(tmp_path: Path) -> None:
    shelf = provided("chem")
    problem = SPHERE.model_copy(
        update={"signature": 'molecule.get_atom_with_symbol(symbol="F").get_label()'}
    )
    prepared_problem = prepare(problem, shelf)

    packages = write_packages(shelf, prepared_problem.shown_keys, tmp_path)
    code = (
        example_context(prepared_problem.outer, shelf)
        + "\nprint("
        + ("molecule.get_atom_with_symbol(symbol='F').get_label())")
    )
    process = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True
    )

    assert sorted(one.name for one in packages) == ["atom", "molecule"]
    assert process.stdout.strip() == (
        "<atom.get_label(self=<molecule.get_atom_with_symbol(self=<Molecule()>, symbol='F')>)>"
    )


def test_functions_with_the_names_of_our_own_are_called_all_the_same(tmp_path: Path) -> None:
    functions = {name: {"documentation": "Does.", "args": ["x"]} for name in _OURS}
    values = {"tea": {"functions": functions}, "leaf": {"style": "class", "functions": functions}}
    shelf = shelf_of(values, "tea and leaf")
    code = "import tea, leaf\nprint(tea.recorded(1), tea.Recorded(2), leaf.Leaf().recorded(3))"

    write_packages(shelf, [(id, name) for id in ("tea", "leaf") for name in _OURS], tmp_path)
    process = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True
    )

    assert process.stdout.split("> <")[0] == "<tea.recorded(x=1)"
    assert "<leaf.recorded(self=<Leaf()>, x=3)>" in process.stdout


@pytest.mark.slow
@pytest.mark.usefixtures("own_cache")
def test_problems_are_run_like_any_others_and_judged_by_their_data_flow(tmp_path: Path) -> None:
    file, out = tmp_path / "problems.json", tmp_path / "out"
    chain = SPHERE.model_copy(update={"id": "cube", "signature": "solids.get_volume_of_cube()"})
    file.write_text(problem_file([SPHERE, chain], provided()))
    words = ["run", "--problems", f"api-use={file}", "--out", str(out)]
    with ScriptedModelServer(RIGHT) as server:
        words += ["--model", server.model, "--base-url", server.base_url]
        words += ["--checks", "hidden", "--method", "direct,docprompting"]
        result = CliRunner().invoke(bench, words)

    assert result.exit_code == 0, result.output
    assert "excluded" not in result.output
    run_results = {(one.problem, one.method): one for one in Ledger(out / RESULTS)}
    assert {key: one.is_solved for key, one in run_results.items()} == {
        ("sphere", "direct"): True,
        ("sphere", "docprompting"): True,
        ("cube", "direct"): False,
        ("cube", "docprompting"): False,
    }
    assert "no attribute 'get_volume_of_sphere'" in run_results["cube", "direct"].reason
    # Each problem's library has functions of its own.
    assert run_results["sphere", "direct"].unknown == ()
    assert run_results["cube", "direct"].unknown == ("get_volume_of_sphere",)
    assert "def solids.get_volume_of_sphere(radius):" in server.chat_requests[0].last_user_message


def test_the_examples_of_a_task_are_no_code_to_complete() -> None:
    alike = CUBE.model_copy(update={"func_name": SPHERE.func_name})
    problem = SPHERE.model_copy(update={"fewshot": (CUBE, alike)})

    text = prepare(problem, provided("solids")).task

    assert "Write a function ball(radius) that works out how much space a ball fills." in text
    assert text.count("return solids.get_volume_of_cube(edge)") == 2
    assert stub.in_task(text, "ball") == ""
