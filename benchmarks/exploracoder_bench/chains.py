"""What a saved exploration shows: where its chain broke, what was recommended, what was needed."""

from __future__ import annotations

import ast
import builtins
from pathlib import Path

from exploracoder.state import Exploration, Step

from exploracoder_bench.datasets.repository_tests import counted
from exploracoder_bench.results import ChainFacts


def read_chain(notebook: Path) -> ChainFacts:
    """The facts of a trace. Raises InputError when the notebook is no exploration."""
    exploration = Exploration.load(notebook)
    broken = [number for number, step in enumerate(exploration.steps, 1) if not _ran(step)]
    used = [api for step in exploration.steps if step.candidate for api in step.candidate.apis]
    return ChainFacts(
        broken_at=broken[0] if broken else 0,
        error=_error(exploration.steps[broken[0] - 1]) if broken else _last_error(exploration),
        apis=len(used),
        recommended=_recommended(exploration),
    )


def read_tests(notebook: Path, tests: int) -> dict[str, object]:
    """What the oracle said of a class: the counts of ``RunResult`` for its ``tests`` named ones.

    Raises InputError when the notebook is no exploration.
    """
    solution = Exploration.load(notebook).solution
    if solution is None:
        return {"tests": tests or 1, "tests_passed": 0}
    calls = [counted(one.check_observation, tests) for one in solution.attempts]
    passed, of = counted(solution.final.check_observation, tests)
    shares = tuple(good / each for good, each in calls)
    return {"tests": of, "tests_passed": passed, "oracle_calls": shares}


def gold_names(solution: str, context: str = "") -> tuple[str, ...]:
    """The names that a known solution calls, each once.

    Those that the solution or its context defines are left out, and so are Python's own. They are
    last names only (``parse_csv``): a solution does not say of which class a method is.
    """
    try:
        tree, around = ast.parse(solution), ast.parse(context)
    except SyntaxError:
        return ()
    nodes = [*ast.walk(tree), *ast.walk(around)]
    own = {node.name for node in nodes if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    own |= set(dir(builtins))
    calls = [node.func for node in ast.walk(tree) if isinstance(node, ast.Call)]
    names = [call.attr for call in calls if isinstance(call, ast.Attribute)]
    names += [call.id for call in calls if isinstance(call, ast.Name)]
    return tuple(dict.fromkeys(name for name in names if name not in own))


def _ran(step: Step) -> bool:
    return step.status == "skipped" or (step.candidate is not None and step.candidate.ran)


def _error(step: Step) -> str:
    tried = [one.observation for one in step.candidates if one.observation is not None]
    errors = [one.error.ename for one in tried if one.error is not None]
    return errors[-1] if errors else (tried[-1].status if tried else "nothing was tried")


def _last_error(exploration: Exploration) -> str:
    final = exploration.solution.final if exploration.solution else None
    failure = final.failure if final else None
    if failure is None:
        return "" if final else "no solution"
    return failure.error.ename if failure.error else failure.status


def _recommended(exploration: Exploration) -> tuple[str, ...]:
    parts = [step.recommendation for step in exploration.steps]
    kept = [doc.path for part in [*parts, exploration.overall] for doc in part.kept]
    shown = exploration.solution.apis if exploration.solution else ()
    return tuple(dict.fromkeys([*kept, *shown]))
