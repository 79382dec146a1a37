"""The kit of invented libraries: known solutions pass, wrong ones do not."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from exploracoder_bench.datasets.problem_sets import open_problems

KIT = Path(__file__).parents[2] / "benchmarks" / "unknown_libraries"
TASKS = [json.loads(line) for line in (KIT / "tasks.jsonl").read_text().splitlines()]
# Which programs fail, each in a namespace of its own.
RUN = """
import json, sys

failures = []
for program in json.load(sys.stdin):
    try:
        exec(program, {"__name__": "__main__"})
    except Exception:
        failures.append(program)
json.dump(failures, sys.stdout)
"""


def failures(library: str, programs: list[str]) -> list[str]:
    environment = {**os.environ, "PYTHONPATH": str(KIT / "libs" / library)}
    process = subprocess.run(
        [sys.executable, "-c", RUN],
        input=json.dumps(programs),
        capture_output=True,
        text=True,
        env=environment,
        check=True,
    )
    answer: list[str] = json.loads(process.stdout)
    return answer


@pytest.mark.parametrize("task", TASKS, ids=[task["id"] for task in TASKS])
def test_known_solutions_pass_and_wrong_ones_do_not(task: dict[str, Any]) -> None:
    data = [(task["context"], task["check"]), (task["context_alt"], task["check_alt"])]

    def programs(solution: str) -> list[str]:
        return ["\n".join((context, solution, check)) for context, check in data]

    assert failures(task["library"], programs(task["canonical_solution"])) == []
    for solution in task["wrong_solutions"]:
        assert failures(task["library"], programs(solution))


def test_all_are_held_out() -> None:
    problems = open_problems([str(KIT)], lambda libraries: sys.executable)

    assert [problem.split for problem in problems] == ["held-out"] * 36
