"""The commands of api_use, from problems to the report; the model is a server with a script."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
from exploracoder.testing import ScriptedModelServer
from exploracoder_bench.api_use.answers import whole_program
from exploracoder_bench.api_use.benchmarks import BENCHMARKS
from exploracoder_bench.api_use.commands import main
from exploracoder_bench.api_use.library_files import provided
from exploracoder_bench.api_use.packages import example_context, write_packages
from exploracoder_bench.api_use.problems import Problem, prepare
from exploracoder_bench.api_use.report import charts, report
from exploracoder_bench.api_use.running import Result, read_results

SPHERE = Problem(
    id="sphere",
    benchmark="own",
    signature="solids.get_volume_of_sphere()",
    description="works out how much space a ball fills",
    func_name="ball",
    num_distractors=2,
)
RIGHT = (
    "Like this:\n```python\ndef ball(r):\n    return solids.get_volume_of_sphere(r)\n\nball(2)\n```"
)
CASES = [
    {"id": "right", "signature": "solids.get_volume_of_sphere()", "func_name": "f",
     "candidate": "import solids\ndef f(r):\n return solids.get_volume_of_sphere(r)"},
    {"id": "../wrong", "signature": "solids.get_volume_of_sphere()", "func_name": "f",
     "candidate": "import solids\ndef f(r):\n return solids.get_volume_of_cube(r)"},
    {"id": "private", "func_name": "f", "params": [{"name": "n", "type": "any"}],
     "libraries": {"tea7": {"name": "tea", "style": "import",
                            "functions": {"brew": {"args": ["grams"], "returns": "float"}}}},
     "reference": "import tea\ndef f(n):\n return tea.brew(n)",
     "candidate": "from tea import brew\ndef f(n):\n return brew(grams=n)", "more": 1},
    {"id": "untyped", "func_name": "f", "params": [{"name": "image"}],
     "reference": "def f(image):\n return image.blur(3)",
     "candidate": "def f(image):\n return image.blur(pixels=3)"},
]  # fmt: skip


@pytest.fixture
def problems(tmp_path: Path) -> Path:
    file = tmp_path / "problems.json"
    file.write_text(json.dumps([SPHERE.model_dump(exclude_defaults=True)]))
    return file


def test_generate_writes_a_benchmark(tmp_path: Path) -> None:
    file = tmp_path / "deep" / "distractor.json"

    assert main(["generate", "distractor", "--out", str(file)]) == 0

    assert len(json.loads(file.read_text())) == 36


def test_judge_says_a_line_for_each_case_and_draws_what_is_wrong(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "cases.jsonl"
    file.write_text("\n".join(json.dumps(one) for one in CASES))
    folder = tmp_path / "pictures"

    assert main(["judge", "--cases", str(file), "--json", "--pictures", str(folder)]) == 0

    said = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [(one["id"], one["correct"]) for one in said] == [
        ("right", True), ("../wrong", False), ("private", True),
        ("untyped", True),
    ]  # fmt: skip
    assert all(set(one) == {"id", "correct", "why"} for one in said)
    drawn = list(folder.iterdir())
    assert [one.name for one in drawn] == ["_wrong.svg"]
    ElementTree.parse(drawn[0])


@pytest.mark.parametrize(
    ("lines", "why"),
    [
        ("", "has no cases"),
        ("{", "line 1 is no case"),
        ("[]", "line 1 is no case"),
        ('{"id": "x"}', "line 1: candidate"),
        ('{"id": "x", "candidate": "", "func_name": "f"}', "neither a reference nor a signature"),
        ('{"id": "x", "candidate": "", "func_name": "f", "reference": "1 +"}', "reference cannot"),
    ],
)
def test_cases_that_cannot_be_judged_are_bad_input(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], lines: str, why: str
) -> None:
    file = tmp_path / "cases.jsonl"
    file.write_text(lines)

    assert main(["judge", "--cases", str(file), "--json"]) == 2
    assert why in capsys.readouterr().err


def test_a_run_asks_judges_and_goes_on_where_it_stopped(
    tmp_path: Path, problems: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "results.jsonl"
    with ScriptedModelServer(RIGHT) as server:
        options = ["--model", server.model, "--base-url", server.base_url, "--out", str(out)]
        first = main(["run", str(problems), *options, "--samples", "2"])
        asked = len(server.requests)
        # As if it had been killed while it wrote.
        out.write_text(out.read_text() + '{"problem": "sph')
        second = main(["run", str(problems), *options, "--samples", "3"])

    results = read_results(out)
    assert (first, second) == (0, 0)
    assert [(one.sample, one.correct) for one in results] == [(0, True), (1, True), (2, True)]
    assert asked == 1
    assert len(server.requests) == 2
    prompt = server.requests[0].last_user_message
    assert prompt.endswith("import solids\ndef ball(radius):")
    assert "1.000 [0.44, 1.00] n=3" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["run", "nothing.json", "--out", "x.jsonl"], "cannot be read"),
        (["run", "semantics", "--out", "x.jsonl", "--samples", "0"], "--samples is at least 1"),
        (["report", "nothing.jsonl"], "There is no nothing.jsonl"),
        (["generate", "sampled", "--out", "x.json", "--depth", "0"], "--depth is at least 1"),
        (["generate", "sampled", "--out", "x.json", "--distractors", "99"], "has only"),
        (["generate", "sampled", "--out", "x.json", "--libraries", "no.json"], "cannot be read"),
    ],
)
def test_what_cannot_be_done_is_bad_input(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    why: str,
) -> None:
    monkeypatch.chdir(tmp_path)

    assert main(arguments) == 2
    assert why in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "code",
    [
        "def ball(r):\n    return solids.get_volume_of_sphere(r)\n\nprint(ball(3))",
        "return solids.get_volume_of_sphere(radius)",
        "    return solids.get_volume_of_sphere(radius)",
        "import solids\n@print\ndef ball(r):\n    return 1\nif __name__ == 'x':\n    ball(1)",
    ],
)
def test_a_reply_becomes_a_program_that_does_not_try_itself_out(code: str) -> None:
    program = whole_program(code, prepare(SPHERE, provided("solids")))

    tree = ast.parse(program)
    assert isinstance(tree.body[0], ast.Import)
    assert isinstance(tree.body[-1], ast.FunctionDef)
    assert not any(isinstance(node, (ast.Expr, ast.If)) for node in tree.body)
    assert ("@print" in code) == ("@print" in program)


def test_packages_of_a_library_without_code_say_what_was_called(tmp_path: Path) -> None:
    shelf = provided("chem")
    problem = SPHERE.model_copy(
        update={"signature": 'molecule.get_atom_with_symbol(symbol="F").get_label()'}
    )
    prepared = prepare(problem, shelf)

    packages = write_packages(shelf, prepared.shown, tmp_path)
    code = (
        example_context(prepared.outer, shelf)
        + "\nprint("
        + ("molecule.get_atom_with_symbol(symbol='F').get_label())")
    )
    shown = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True
    )

    assert sorted(one.name for one in packages) == ["atom", "molecule"]
    assert shown.stdout.strip() == (
        "<atom.get_label(self=<molecule.get_atom_with_symbol(self=<Molecule()>, symbol='F')>)>"
    )


@pytest.mark.slow
def test_a_library_without_code_is_explored_and_the_solution_judged(
    tmp_path: Path, problems: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EXPLORACODER_CACHE", str(tmp_path / "cache"))
    out = tmp_path / "results.jsonl"
    with ScriptedModelServer(RIGHT) as server:
        options = ["--model", server.model, "--base-url", server.base_url, "--out", str(out)]
        code = main(["run", str(problems), *options, "--method", "docprompting"])

    assert code == 0
    (result,) = read_results(out)
    assert result.correct, result.why
    assert "get_volume_of_sphere" in server.requests[-1].last_user_message


def result(problem: Problem, correct: bool, sample: int = 0) -> Result:
    return Result(
        problem=problem.id,
        benchmark=problem.benchmark,
        fewshot_type=problem.fewshot_type,
        factors=problem.factors,
        method="direct",
        model="a<b",
        sample=sample,
        correct=correct,
    )


def test_the_report_stands_beside_the_published_numbers() -> None:
    results = [
        result(problem, problem.factors.get("documentation") != "names scrambled", sample)
        for name in BENCHMARKS
        for problem in BENCHMARKS[name]()
        for sample in range(2)
    ]

    text = report(results)

    assert "| names numbered | 1.000 [0.78, 1.00] n=14 | 0.497 | 0.996 |" in text
    assert "| names scrambled | 0.000 [0.00, 0.22] n=14 | 0.000 | 0.000 |" in text
    assert "| 4, out-1 | 1.000 [0.97, 1.00] n=128; 0 of 64 never |" in text
    assert "| 20 | 1.000 [0.81, 1.00] n=16 |" in text
    for drawn in charts(results).values():
        ElementTree.fromstring(drawn)
    assert set(charts(results)) == {"figure-7.svg", "figure-8.svg"}


def test_a_report_of_nothing_says_so() -> None:
    assert "There are no results yet." in report([])
