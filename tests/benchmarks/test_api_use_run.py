"""The commands of api_use, from problems to the report; the model is a server with a script."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path
from xml.etree import ElementTree

import pytest
from exploracoder import explore_sync
from exploracoder import prepare as preparing
from exploracoder.engine.reading import stub
from exploracoder.testing import ScriptedModelServer
from exploracoder.workspace import Options
from exploracoder_bench.api_use import running
from exploracoder_bench.api_use.answers import Asking, task_of, whole_program
from exploracoder_bench.api_use.benchmarks import BENCHMARKS
from exploracoder_bench.api_use.commands import main
from exploracoder_bench.api_use.libraries import Shelf, library
from exploracoder_bench.api_use.library_files import provided
from exploracoder_bench.api_use.packages import example_context, write_packages
from exploracoder_bench.api_use.problems import Asked, Problem, prepare
from exploracoder_bench.api_use.report import charts, report
from exploracoder_bench.api_use.running import Result, read_results

_OURS = ("recorded", "Recorded", "importlib")
SPHERE = Problem(
    id="sphere",
    benchmark="own",
    signature="solids.get_volume_of_sphere()",
    description="works out how much space a ball fills",
    func_name="ball",
    num_distractors=2,
)
CUBE = Asked(
    signature="solids.get_volume_of_cube(side=edge)",
    description="works out how much space a die fills",
    func_name="die",
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


def test_a_file_of_results_holds_to_how_they_were_asked_for(
    tmp_path: Path, problems: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "results.jsonl"
    with ScriptedModelServer(RIGHT) as server:
        options = ["--model", server.model, "--base-url", server.base_url, "--out", str(out)]
        assert main(["run", str(problems), *options]) == 0
        before = out.read_text()
        for other in (["--temperature", "0.1"], ["--seed", "7"], ["--format", "plain"]):
            assert main(["run", str(problems), *options, "--samples", "2", *other]) == 2
            said = capsys.readouterr().err
            assert other[0].lstrip("-") in said
            assert "another --out" in said

    assert out.read_text() == before


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["run", "nothing.json", "--out", "x.jsonl"], "cannot be read"),
        (["run", "semantics", "--out", "x.jsonl", "--samples", "0"], "--samples is at least 1"),
        (["run", "semantics", "--out", "x.jsonl", "--temperature", "-1"], "--temperature"),
        (["run", "semantics", "--out", "x.jsonl", "--temperature", "nan"], "--temperature"),
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


def test_functions_with_the_names_of_our_own_are_called_all_the_same(tmp_path: Path) -> None:
    shelf = Shelf(
        (
            library("tea", "import", dict.fromkeys(_OURS, ("Does.", ("x",), "any"))),
            library("leaf", "class", dict.fromkeys(_OURS, ("Does.", ("x",), "any"))),
        )
    )
    code = "import tea, leaf\nprint(tea.recorded(1), tea.Recorded(2), leaf.Leaf().recorded(3))"

    write_packages(shelf, [(id, name) for id in ("tea", "leaf") for name in _OURS], tmp_path)
    shown = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True
    )

    assert shown.stdout.split("> <")[0] == "<tea.recorded(x=1)"
    assert "<leaf.recorded(self=<Leaf()>, x=3)>" in shown.stdout


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
    assert result.settings["profile"] == "standard"
    assert "get_volume_of_sphere" in server.requests[-1].last_user_message


def test_the_embedded_model_explores_with_its_profile(
    tmp_path: Path, problems: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Asking] = []

    async def run(*given: object, **more: object) -> list[Result]:
        asked.extend(one for one in given if isinstance(one, Asking))
        return []

    monkeypatch.setattr(running, "run", run)
    monkeypatch.setattr(preparing, "open_model", lambda *_: nullcontext())
    for profile in ([], ["--profile", "paper"]):
        words = ["--method", "exploration", "--model", "embedded", *profile]
        assert main(["run", str(problems), "--out", str(tmp_path / "o.jsonl"), *words]) == 0

    assert [one.profile for one in asked] == ["small", "paper"]


@pytest.mark.slow
@pytest.mark.parametrize("method", ["direct", "docprompting"])
def test_all_methods_read_the_same_examples_and_sample_alike(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, method: str
) -> None:
    monkeypatch.setenv("EXPLORACODER_CACHE", str(tmp_path / "cache"))
    problem = SPHERE.model_copy(update={"fewshot": (CUBE,), "fewshot_type": "in-1"})
    file, out = tmp_path / "problems.json", tmp_path / "results.jsonl"
    file.write_text(json.dumps([problem.model_dump(exclude_defaults=True)]))
    with ScriptedModelServer(RIGHT) as server:
        options = ["--model", server.model, "--base-url", server.base_url, "--out", str(out)]
        options += ["--method", method, "--temperature", "0.37"]
        code = main(["run", str(file), *options])

    assert code == 0
    assert read_results(out)[0].correct
    said = server.requests[-1].last_user_message
    assert "works out how much space a die fills" in said
    assert "return solids.get_volume_of_cube(edge)" in said
    assert server.requests[-1].body["temperature"] == 0.37


def test_the_examples_of_a_task_are_no_code_to_complete() -> None:
    alike = CUBE.model_copy(update={"func_name": SPHERE.func_name})
    problem = SPHERE.model_copy(update={"fewshot": (CUBE, alike)})

    text = task_of(prepare(problem, provided("solids")))

    assert text.startswith("Write a function ball(radius) that works out how much space a ball")
    assert text.count("return solids.get_volume_of_cube(edge)") == 2
    assert stub.in_task(text, "ball") == ""


def test_packages_of_a_user_s_own_library_are_written_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, folder = tmp_path / "tea.json", tmp_path / "made"
    file.write_text('{"id": "tea", "functions": {"brew": {"args": ["leaf: str"]}}}')

    first = main(["packages", str(file), "--out", str(folder)])
    said = capsys.readouterr().out
    again = main(["packages", str(file), "--out", str(folder)])
    beside = main(["packages", "solids", "--out", str(folder)])

    assert (first, again, beside) == (0, 2, 0)
    assert said == f"{folder / 'tea'}\n"
    assert "tea is there already" in capsys.readouterr().err
    assert {one.name for one in folder.iterdir()} == {"tea", "solids", "recorded_values.py"}


def test_packages_replace_no_file_of_the_user_s(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    own = tmp_path / "recorded_values.py"
    own.write_text("mine = 1\n")

    assert main(["packages", "solids", "--out", str(tmp_path)]) == 2
    assert main(["packages", "gases", "--out", str(tmp_path)]) == 2

    said = capsys.readouterr().err
    assert "recorded_values.py is there already" in said
    assert "gases" in said
    assert list(tmp_path.iterdir()) == [own]
    assert own.read_text() == "mine = 1\n"


@pytest.mark.slow
def test_a_task_of_the_user_s_own_is_explored_on_a_library_without_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EXPLORACODER_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    assert main(["packages", "chem", "--out", "libraries"]) == 0
    answer = (
        "```python\nfrom molecule import Molecule\n"
        "label = Molecule().get_atom_with_symbol('F').get_label()\nprint(label)\n```"
    )
    with ScriptedModelServer(answer) as server:
        done = explore_sync(
            "Put the label of a fluorine atom of a molecule into label.",
            libraries=["libraries/molecule", "libraries/atom"],
            check="assert 'atom.get_label(self=<molecule.get_atom' in str(label)",
            model=server.model,
            output=tmp_path / "label.ipynb",
            options=Options(base_url=server.base_url, method="docprompting"),
        )

    assert done.solution is not None
    assert done.solution.final.is_good
    assert "get_atom_with_symbol" in server.requests[-1].last_user_message


def result(problem: Problem, correct: bool, sample: int = 0) -> Result:
    return Result(
        problem=problem.id,
        benchmark=problem.benchmark,
        fewshot_type=problem.fewshot_type,
        factors=problem.factors,
        method="direct",
        model="a<b",
        settings={},
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


def test_figure_8_is_drawn_when_there_is_something_to_draw() -> None:
    orders = list(BENCHMARKS["arguments"]())
    short = next(one for one in orders if one.factors["arguments"] == 2)
    long = next(one for one in orders if one.factors["arguments"] == 4)

    assert charts([result(short, correct=True)]) == {}
    assert set(charts([result(short, correct=True), result(long, correct=True)])) == {
        "figure-8.svg"
    }


def test_a_report_of_nothing_says_so() -> None:
    assert "There are no results yet." in report([])
