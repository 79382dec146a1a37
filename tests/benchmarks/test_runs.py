from __future__ import annotations

import dataclasses
import sys
from pathlib import Path
from typing import Any

import pytest
from exploracoder.testing import ScriptedModelServer
from exploracoder_bench import demo_runs, exec_kit
from exploracoder_bench.kit import read_rows, select_rows
from exploracoder_bench.runs import Problem, RunResult, Way, command, result, run
from exploracoder_bench.sweep import Ledger

SOLVED: dict[str, Any] = {
    "status": "solved",
    "verified": {"ran": True, "checks": "passed"},
    "subtasks": [{"id": "s1", "candidates": 3}, {"id": "s2", "candidates": 1}],
    "usage": {"calls": 5, "prompt_tokens": 90, "completion_tokens": 40, "seconds_total": 2.5},
    "usage_by_part": {
        "plan": {"completion_tokens": 9},
        "s1": {"completion_tokens": 20},
        "s2": {"completion_tokens": 5},
    },
}


@pytest.fixture
def problem(kit: Path) -> Problem:
    (row,) = select_rows(read_rows(kit), ["Tiny/0"])
    return row.problem(kit, sys.executable)


def read(problem: Problem, exit_code: int, report: dict[str, Any], said: str = "") -> RunResult:
    way = Way("direct", 0)
    return result(problem, way, exit_code=exit_code, report=report, said=said, seconds=3.0)


def test_a_result_holds_what_the_command_reported(problem: Problem) -> None:
    done = read(problem, 0, SOLVED)

    assert (done.status, done.ran, done.checks) == ("solved", True, "passed")
    assert (done.subtasks, done.candidates, done.subtask_tokens) == (2, 4, 25)
    assert (done.calls, done.completion_tokens) == (5, 40)
    assert (done.seconds_exploration, done.seconds) == (2.5, 3.0)


@pytest.mark.parametrize(
    ("exit_code", "report", "status"),
    [
        (0, SOLVED, "solved"),
        (0, {"status": "unverified"}, "unverified"),
        (1, {"status": "failed"}, "failed"),
        (1, {}, "setup"),
        (2, {"status": "failed", "error": "No such library."}, "setup"),
        (130, {"status": "cancelled"}, "cancelled"),
        (-9, {}, "setup"),
    ],
)
def test_only_an_orderly_failure_is_the_methods(
    problem: Problem, exit_code: int, report: dict[str, Any], status: str
) -> None:
    assert read(problem, exit_code, report).status == status


def test_relative_paths_hold_in_the_working_folder_and_names_stay(problem: Problem) -> None:
    given = dataclasses.replace(problem, python="venv/bin/python", libraries=("frumpkin", "./lib"))

    arguments = command(given, Way("direct", 3), 60)

    assert arguments[arguments.index("--python") + 1] == str(Path("venv/bin/python").absolute())
    libraries = [arguments[at + 1] for at, one in enumerate(arguments) if one == "--library"]
    assert libraries == ["frumpkin", str(Path("lib").absolute())]


def test_the_reason_is_the_error_or_else_the_last_words(problem: Problem) -> None:
    assert read(problem, 2, {"error": "No such library."}, "Error: x").reason == "No such library."
    assert read(problem, 1, {}, "Traceback\nKeyError: 'x'\n").reason == "KeyError: 'x'"


@pytest.mark.thorough
@pytest.mark.slow
@pytest.mark.usefixtures("own_cache")
def test_the_known_solutions_pass_and_a_check_that_proves_nothing_counts_apart(
    kit: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = [str(kit), "--canonical", "--select", "smoke", "--out", str(tmp_path / "out")]
    arguments += ["--pythons", f"frumpkin={sys.executable}"]

    assert exec_kit.main(arguments) == 0

    printed = capsys.readouterr().out
    assert "| canonical | 2 | 2 | 2 | 1 |" in printed
    assert "| Tiny | 2 / 2 / 2 |" in printed
    assert "| Other/0 | canonical | 2 | The check passes before there is a solution" in printed
    ledger = Ledger(tmp_path / "out/results.jsonl")
    assert ledger.is_finished(("Tiny/1", "canonical", 0, ()))
    assert not ledger.is_finished(("Other/0", "canonical", 0, ()))


@pytest.mark.slow
@pytest.mark.usefixtures("own_cache")
def test_a_wrong_answer_is_a_failure_with_its_tokens_counted(
    problem: Problem, tmp_path: Path
) -> None:
    with ScriptedModelServer("```python\ndef spell(numbers):\n    return []\n```") as server:
        options = ("--model", server.model, "--base-url", server.base_url)
        done = run(problem, Way("direct", 0, options), tmp_path / "work", timeout_s=60)

    assert (done.status, done.ran, done.checks) == ("failed", True, "failed")
    assert done.calls == 1
    assert done.completion_tokens > 0
    assert (tmp_path / "work/exploration.ipynb").exists()


@pytest.mark.thorough
@pytest.mark.slow
@pytest.mark.usefixtures("own_cache")
def test_the_demo_is_run_once_with_each_seed(
    kit: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    folder = tmp_path / "demo"
    folder.mkdir()
    (row,) = select_rows(read_rows(kit), ["Tiny/0"])
    (folder / "task.txt").write_text(row.task)
    (folder / "context.py").write_text("import frumpkin\n")
    (folder / "check.py").write_text(row.test)
    library = kit / "private/frumpkin"
    with ScriptedModelServer(f"```python\nimport frumpkin\n{row.canonical}\n```") as server:
        arguments = ["--folder", str(folder), "--library", str(library), "--entry-point", "spell"]
        arguments += ["--methods", "direct", "--seeds", "2", "--out", str(tmp_path / "out")]
        arguments += ["--model", server.model, "--base-url", server.base_url]

        assert demo_runs.main(arguments) == 0
        asked = len(server.chat_requests)
        assert demo_runs.main(arguments) == 0

    assert asked == len(server.chat_requests) == 2
    assert capsys.readouterr().out.count("| direct | 2 | 2 | 2 | 0 |") == 2


def test_a_library_without_an_interpreter_is_a_clear_sentence(
    kit: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = [str(kit), "--pythons", "pandas=python3", "--out", str(tmp_path / "out")]

    assert exec_kit.main(arguments) == 2
    assert "add frumpkin=EXE to --pythons" in capsys.readouterr().err
