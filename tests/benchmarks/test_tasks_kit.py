"""A kit with second data: how it is read, judged, and what a pasted value comes to."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from exploracoder.errors import InputError
from exploracoder.testing import ScriptedModelServer
from exploracoder_bench.datasets.interpreters import parse_pythons
from exploracoder_bench.datasets.problem_sets import open_problems
from exploracoder_bench.datasets.tasks_kit import read_tasks_kit
from exploracoder_bench.judge import judge
from exploracoder_bench.problems import Problem
from exploracoder_bench.runs import ModelOptions, Way, command, prepare
from exploracoder_bench.samples import Sample, explore

from .conftest import LIBRARY

VARIABLE = {
    "id": "FR01",
    "library": "frumpkin",
    "kind": "variable",
    "requirement": "Spell `number` into `word`.",
    "context": "import frumpkin\n\nnumber = 2\n",
    "entry_point": "word",
    "check": "assert word == 'two', word\n",
    "canonical_solution": "word = frumpkin.frumple(number)\n",
    "context_alt": "import frumpkin\n\nnumber = 3\n",
    "check_alt": "assert word == 'three', word\n",
    "wrong_solutions": ["word = 'two'\n"],
}
FUNCTION = VARIABLE | {
    "id": "FR02",
    "kind": "function",
    "requirement": "Write a function `spell(number)`.",
    "entry_point": "spell",
    "check": "assert spell(number) == 'two'\n",
    "canonical_solution": "def spell(number):\n    return frumpkin.frumple(number)\n",
    "check_alt": "assert spell(number) == 'three'\n",
}


@pytest.fixture
def kit(tmp_path: Path) -> Path:
    """The folder of the kit, with its library beside the tasks."""
    folder = tmp_path / "kit"
    (folder / "modules/frumpkin").mkdir(parents=True)
    (folder / "modules/frumpkin/__init__.py").write_text(LIBRARY)
    (folder / "tasks.jsonl").write_text(f"{json.dumps(VARIABLE)}\n{json.dumps(FUNCTION)}\n")
    return folder


@pytest.fixture
def problems(kit: Path) -> dict[str, Problem]:
    """The kit's problems by name, for this interpreter."""
    python_of = parse_pythons(sys.executable)
    return {one.name: one for one in open_problems([str(kit)], python_of, kit / "modules")}


def test_a_variable_is_named_by_the_task_alone_and_a_function_as_entry_point(
    problems: dict[str, Problem],
) -> None:
    variable, function = problems["FR01"], problems["FR02"]

    assert (variable.task, variable.entry_point, variable.target) == (
        "Spell `number` into `word`.",
        None,
        "word",
    )
    assert (function.entry_point, function.target) == ("spell", "")
    assert function.libraries == ("frumpkin",)
    assert function.dataset == "frumpkin"


def test_no_method_hears_of_the_second_data(problems: dict[str, Problem], tmp_path: Path) -> None:
    problem = problems["FR01"]

    prepare(problem, tmp_path / "work")

    texts = command(problem, Way("direct", 0), ModelOptions("model"), timeout_s=60)
    texts += [file.read_text() for file in (tmp_path / "work").iterdir()]
    assert any("number = 2" in text for text in texts)
    assert not any("number = 3" in text or "three" in text for text in texts)


def test_the_second_data_are_part_of_what_makes_the_problem(problems: dict[str, Problem]) -> None:
    problem = problems["FR01"]

    variant = replace(problem, second_context=f"{problem.second_context}\n")

    assert variant.digest != problem.digest


def test_a_known_solution_has_to_pass_with_both_data(
    problems: dict[str, Problem], tmp_path: Path
) -> None:
    problem = problems["FR01"]
    variant = replace(problem, solution="word = 'two'\n")

    verdicts = [judge(one, tmp_path / "judged") for one in (*problems.values(), variant)]

    assert [one.is_sound for one in verdicts] == [True, True, False]
    assert verdicts[-1].reason == (
        "With its second data: Its known solution fails here: in the check, AssertionError: two"
    )


def test_a_line_that_is_no_task_is_refused(kit: Path) -> None:
    (kit / "tasks.jsonl").write_text(json.dumps(VARIABLE | {"kind": "class"}))

    with pytest.raises(InputError, match=r"tasks\.jsonl, line 1, is no problem: kind"):
        read_tasks_kit(kit, parse_pythons(None))


@pytest.mark.slow
@pytest.mark.usefixtures("own_cache")
@pytest.mark.parametrize("hides_check", [False, True])
@pytest.mark.parametrize(
    ("solution", "status", "second"),
    [
        ("word = frumpkin.frumple(number)", "solved", True),
        ("word = 'two'", "solved", False),
        ("word = 'one'", "failed", False),
    ],
)
def test_a_pasted_value_is_found_out_by_the_second_data(
    problems: dict[str, Problem],
    tmp_path: Path,
    solution: str,
    status: str,
    second: bool,
    hides_check: bool,
) -> None:
    with ScriptedModelServer(lambda _: f"```python\n{solution}\n```") as server:
        model_choice = ModelOptions(server.model, server.base_url)
        way = Way("direct", 0, hides_check=hides_check)
        sample = Sample(problems["FR01"], way, model_choice, tmp_path, timeout_s=60, run_seconds=30)

        result = explore(sample)

    assert (result.status, result.second_check) == (status, second)
