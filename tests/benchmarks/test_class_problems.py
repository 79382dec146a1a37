"""Classes in repositories as problems: read, judged, run, and told of call by call."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from exploracoder.errors import InputError
from exploracoder.testing import Outcome, RecordedRequest, ScriptedModelServer
from exploracoder_bench.datasets.own_tasks import read_tasks
from exploracoder_bench.datasets.repository_tests import check_of
from exploracoder_bench.judge import Verdict, judge
from exploracoder_bench.ledger import Ledger
from exploracoder_bench.metrics import after_calls, passes_all
from exploracoder_bench.problems import Problem, check_methods
from exploracoder_bench.report.tables import methods_table, oracle_table
from exploracoder_bench.report.writing import write_report

from .class_repository import FILE, POT, TELLING, WRONG, write_task
from .made_results import apart, failed, made

_RUN_S = 240.0
BENCH = [sys.executable, "-c", "from exploracoder.cli import main; main()", "bench"]


@pytest.fixture
def problem(tmp_path: Path, plain_python: str) -> Problem:
    (task,) = read_tasks(write_task(tmp_path / "Pot"), lambda _: plain_python)
    return task


def judged(problem: Problem, folder: Path) -> Verdict:
    """What a machine that has time for it says of a problem."""
    return judge(problem, folder / "judged", run_seconds=_RUN_S)


def test_a_class_is_read_with_its_place_and_its_tests(problem: Problem, tmp_path: Path) -> None:
    assert problem.place is not None
    assert problem.place.root == str((tmp_path / "Pot/repository").resolve())
    assert (problem.place.file, problem.entry_point) == ("src/tea/pot.py", "Pot")
    assert (problem.tests, problem.check) == (TELLING, check_of(TELLING))


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"repository": "nowhere"}, "there is no folder"),
        ({"file": "../../elsewhere.py"}, "not a .py file inside"),
        ({"entry_point": None}, "names no class in 'entry_point'"),
        ({"repository": ""}, "and no 'repository'"),
        ({"repository": "", "libraries": ["tea"]}, "'tests' are those of a 'repository'"),
    ],
)
def test_what_is_no_place_for_a_class_is_refused(
    tmp_path: Path, more: dict[str, object], said: str
) -> None:
    folder = write_task(tmp_path / "Pot", **more)

    with pytest.raises(InputError, match=said):
        read_tasks(folder, lambda _: sys.executable)


def test_a_repository_or_pins_that_change_make_it_another_problem(problem: Problem) -> None:
    before = problem.digest
    assert problem.place is not None
    root = Path(problem.place.root)

    (root / "__pycache__").mkdir()
    (root / "__pycache__/pot.pyc").write_text("what running leaves")
    assert problem.digest == before
    assert replace(problem, requires=("leaf==2.0",)).digest != before
    (root / "src/tea/leaf.py").write_text("")
    assert problem.digest != before


def test_methods_that_cannot_work_on_a_problem_are_refused(
    problem: Problem, problems: dict[str, Problem]
) -> None:
    check_methods([problem], ["rrr", "naive-rag"])
    with pytest.raises(InputError, match=r"direct does not write a class .* Pot is of such kind"):
        check_methods([problem], ["rrr", "direct"])
    with pytest.raises(InputError, match=r"rrr writes a class .* Tiny/0 is no such kind"):
        check_methods([problems["Tiny/0"]], ["rrr"])


def test_tests_that_do_not_tell_exclude_a_class(problem: Problem, tmp_path: Path) -> None:
    blind = replace(problem, check="import tea.leaf\n", tests=())

    verdict = judged(blind, tmp_path)

    assert verdict.reason == "Its check accepts a solution that is missing."


def test_a_class_that_ends_the_process_of_its_tests_passes_none(
    problem: Problem, tmp_path: Path
) -> None:
    ending = POT.replace("return", "import os; print('3 of 3 tests pass'); os._exit(0); return")

    verdict = judged(replace(problem, solution=ending), tmp_path)

    assert verdict.reason.endswith("AssertionError: 0 of 3 tests pass")


def test_a_file_of_tests_counts_those_that_are_in_it(problem: Problem, tmp_path: Path) -> None:
    whole = replace(problem, check=check_of([FILE, "tests/test_missing.py"]), solution=WRONG)

    verdict = judged(whole, tmp_path)

    assert verdict.reason.endswith("AssertionError: 4 of 8 tests pass")


class Model:
    """Writes the class wrong, and then right."""

    def __init__(self) -> None:
        self.written = 0

    def __call__(self, request: RecordedRequest) -> Outcome:
        # It is asked for its models too.
        system = str(request.body.get("messages", [{}])[0].get("content"))
        if "write a class" in system:
            self.written += 1
            return f"```python\n{WRONG if self.written == 1 else POT}```"
        if "mend a Python class" in system:
            return json.dumps(
                {"thought": "", "calls": [{"tool": "get_class_info", "class_name": "Leaf"}]}
            )
        return "A leaf has a name and no title."


@pytest.fixture
def server() -> Iterator[ScriptedModelServer]:
    with ScriptedModelServer(Model()) as running:
        yield running


@pytest.mark.slow
@pytest.mark.usefixtures("own_cache")
def test_rrr_solves_a_class_at_its_second_oracle_call_and_the_tables_say_so(
    server: ScriptedModelServer, plain_python: str, tmp_path: Path
) -> None:
    write_task(tmp_path / "tasks/Pot")
    out = tmp_path / "out"
    words = ["--problems", str(tmp_path / "tasks"), "--method", "rrr", "--out", str(out)]
    words += ["--model", server.model, "--base-url", server.base_url, "--timeout", "600"]
    words += ["--pythons", plain_python, "--set", "run-seconds=240"]
    process = subprocess.run(
        [*BENCH, "run", *words], capture_output=True, text=True, timeout=900, check=False
    )

    assert process.returncode == 0, process.stderr
    assert "judged 1/1  Pot  counts" in process.stderr
    (result,) = Ledger(out / "results.jsonl")
    assert (result.status, result.tests, result.tests_passed) == ("solved", 3, 3)
    assert result.oracle_calls == (pytest.approx(1 / 3), 1.0)
    assert "Leaf" in server.chat_requests[-1].last_user_message
    assert "has no attribute 'title'" in server.chat_requests[1].last_user_message
    report = write_report([out], tmp_path / "report", None, print)
    assert "| after oracle calls |  | 1 | 2 |" in report
    assert "| rrr | pass@1 | 0.0% [0.0%, 79.3%] | 100.0% [20.7%, 100.0%] |" in report
    assert "| rrr | test rate | 33.3% | 100.0% |" in report


CALLED = [
    made(oracle_calls=(0.5, 1.0)),
    failed(problem="Tiny/1", oracle_calls=(0.5, 0.75, 0.25), tests=4, tests_passed=1),
    failed(problem="Tiny/1", seed=1, oracle_calls=()),
    apart(problem="Tiny/2"),
]


def test_a_sample_that_ended_stands_with_its_last_text() -> None:
    pass_rates = [after_calls(CALLED, calls, passes_all).value for calls in (1, 2, 3, 9)]
    rates = [after_calls(CALLED, calls, float).value for calls in (1, 2, 3)]

    assert pass_rates == [0.0, 0.5, 0.5, 0.5]
    assert rates == [(0.5 + 0.25) / 2, (1.0 + 0.375) / 2, (1.0 + 0.125) / 2]


def test_without_oracle_calls_there_is_no_table_of_them() -> None:
    assert oracle_table([made(), failed(problem="Tiny/1")]) == ""


def test_the_test_rate_is_the_mean_of_the_samples_shares() -> None:
    line = methods_table(CALLED).splitlines()[2]

    # Of the three samples that count: all of one, a quarter of four, none of one.
    assert "| 41.7% |" in line
