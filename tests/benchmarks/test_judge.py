"""The judge of success, in a real sandbox."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from exploracoder_bench.judge import assess, judge
from exploracoder_bench.mutants import mutants
from exploracoder_bench.problems import Problem

MARKERS = 'print(\'{"status": "solved", "verified": {"ran": true, "checks": "passed"}}\')\n'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "judged"


@pytest.mark.parametrize("name", ["Tiny/0", "Tiny/1"])
def test_a_known_solution_passes_and_every_mutant_fails(
    problems: dict[str, Problem], folder: Path, name: str
) -> None:
    verdict = judge(problems[name], folder)

    assert (verdict.is_sound, verdict.reason) == (True, "")


def test_each_mutant_alone_would_be_found_out(problems: dict[str, Problem], folder: Path) -> None:
    problem = problems["Tiny/1"]
    wrong = mutants(problem)
    assert len(wrong) == 2

    for code in wrong.values():
        verdict = judge(replace(problem, solution=code), folder)
        assert verdict.reason.startswith("Its known solution fails here: in the check,")


def test_a_check_that_accepts_anything_excludes_its_problem(
    problems: dict[str, Problem], folder: Path
) -> None:
    verdict = judge(replace(problems["Tiny/0"], check="assert spell\n"), folder)

    assert not verdict.is_sound
    assert verdict.reason == "Its check accepts a solution that returns an alien object."


def test_a_test_that_prints_our_markers_says_nothing(
    problems: dict[str, Problem], folder: Path
) -> None:
    lying = f"{MARKERS}raise AssertionError('wrong')\n"

    verdict = judge(replace(problems["Tiny/0"], check=lying), folder)

    assert verdict.reason == "Its known solution fails here: in the check, AssertionError: wrong"


def test_a_hanging_test_excludes_its_problem(problems: dict[str, Problem], folder: Path) -> None:
    hanging = "import time\nwhile True:\n    time.sleep(1)\n"

    verdict = judge(replace(problems["Tiny/0"], check=hanging), folder, run_seconds=1)

    assert not verdict.is_sound
    assert "TimeoutError: The snippet ran longer than 1 s" in verdict.reason


def test_data_that_is_missing_excludes_its_problem(
    problems: dict[str, Problem], folder: Path
) -> None:
    verdict = judge(replace(problems["Tiny/1"], fixtures=None), folder)

    assert verdict.reason.startswith("Its context does not run here: FileNotFoundError")


def test_an_interpreter_that_is_missing_excludes_its_problem(
    problems: dict[str, Problem], folder: Path
) -> None:
    verdict = judge(replace(problems["Tiny/0"], python="/no/such/python"), folder)

    assert verdict.reason.startswith("It could not be tried:")


HEAD = "def spell(numbers):\n    "


@pytest.mark.parametrize(
    ("body", "check", "ran", "executed"),
    [
        ("return ['one', 'three']", "", True, True),
        ("return []", "", True, True),
        ("return no_such_name", "", True, False),
        ("raise SystemExit", "", True, False),
        ("return [", "", False, False),
        ("return []", "import numpy\nnumpy.testing.assert_equal(spell([1]), 2)", True, True),
        (
            "return []",
            "import unittest\nunittest.TestCase().assertEqual(spell([1]), ['one'])",
            True,
            True,
        ),
        ("return None", "spell([1])[0]", True, False),
    ],
)
def test_a_function_was_executed_when_its_check_called_it_and_only_an_assertion_failed(
    problems: dict[str, Problem], folder: Path, body: str, check: str, ran: bool, executed: bool
) -> None:
    problem = problems["Tiny/0"]

    assessment = assess(replace(problem, check=check or problem.check), f"{HEAD}{body}\n", folder)

    assert (assessment.ran, assessment.is_executed) == (ran, executed)
