"""Wrong solutions, of whatever shape the known one is; here they are run without a sandbox."""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import Any

import pytest
from exploracoder_bench.mutants import mutants
from exploracoder_bench.problems import Problem

PLAIN = Problem(
    name="Made/0",
    dataset="Made",
    task="Put them in order.",
    context="numbers = [2, 1]\nseen = {}\n",
    check="assert numbers == [1, 2]\n",
    entry_point=None,
    libraries=("made",),
    python="python",
)
SEEN = "def check():\n    assert seen == {2: 0, 1: 0}\n\ncheck()\n"
GOT = "assert got == [1, 2]\n"

# Known solutions of all shapes that data sets have, each with the check that tells.
SHAPES = {
    "an in-place call": ("numbers.sort()\n", ""),
    "a loop": ("for number in numbers:\n    seen[number] = 0\n", SEEN),
    "a loop that assigns": ("for number in numbers:\n    seen[number] = found = 0\n", SEEN),
    "a condition": ("if numbers:\n    numbers.sort()\n", ""),
    "an expression in parentheses": ("(numbers\n .sort())\n", ""),
    "a deletion": ("del numbers[0]\n", "assert numbers == [1]\n"),
    "an assignment": ("got = sorted(numbers)\n", GOT),
    "an assignment of two": ("first, got = 0, sorted(numbers)\n", GOT),
    "a part of something": ("numbers[:] = sorted(numbers)\n", ""),
    "an augmented assignment": ("numbers += [3]\n", "assert numbers == [2, 1, 3]\n"),
    "something needed on the way": ("key = abs\nnumbers.sort(key=key)\n", ""),
    "a name that the check binds itself": (
        "size = 2\nnumbers.sort()\n",
        "size = 2\nassert len(numbers) == size and numbers == [1, 2]\n",
    ),
    "a function that is no entry point": (
        "def order(them):\n    return sorted(them)\n",
        "assert order(numbers) == [1, 2]\n",
    ),
    "an import": ("import math\nnumbers.sort(key=math.sqrt)\n", ""),
}


def passes(problem: Problem, solution: str) -> bool:
    """Whether context, solution and check run to their end."""
    state: dict[str, Any] = {}
    try:
        for code in (problem.context, solution, problem.check):
            exec(code, state)
    except Exception:  # noqa: BLE001 - whatever a wrong solution raises
        return False
    return True


def made(shape: str) -> Problem:
    """The problem whose known solution has a shape."""
    solution, check = SHAPES[shape]
    return replace(PLAIN, solution=solution, check=check or PLAIN.check)


@pytest.mark.parametrize("shape", SHAPES)
def test_a_check_that_tells_accepts_the_known_solution_and_no_mutant(shape: str) -> None:
    problem = made(shape)

    mutations = mutants(problem)

    assert mutations
    assert passes(problem, problem.solution)
    assert [what for what, code in mutations.items() if passes(problem, code)] == []


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("given", [{}, {"entry_point": "order"}, {"target": "got"}])
def test_no_mutant_is_the_known_solution(shape: str, given: dict[str, str]) -> None:
    problem = replace(made(shape), **given)

    same = [
        what
        for what, code in mutants(problem).items()
        if ast.dump(ast.parse(code)) == ast.dump(ast.parse(problem.solution))
    ]

    assert same == []


def test_a_solution_that_only_raises_has_no_mutant_that_does_so() -> None:
    problem = replace(PLAIN, solution="raise RuntimeError('mutant')\n")

    assert list(mutants(problem)) == ["does nothing"]


def test_what_a_solution_does_in_place_has_to_be_missed_by_the_check() -> None:
    problem = replace(made("an in-place call"), check="numbers\n")

    assert any(passes(problem, code) for code in mutants(problem).values())
