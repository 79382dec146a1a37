"""Which of a repository's tests tell whether a class is right.

A test is the class's when it passes with the class as it was, twice, and fails both without it
and with methods that raise: where a file of tests imports the class, all of its tests fail
without it, whatever they are about. Together the tests have to fail with each class that is
certainly wrong (``mutants``), or they tell nothing. Everything runs in the sandbox that candidates
run in.
Source: RepoClassBench, appendix C: the tests that cover a class.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

from exploracoder.engine.running.oracle import run_in_copy
from exploracoder.errors import InputError, SetupError
from exploracoder.state import Target, Task
from exploracoder_kernel.errors import SidecarError
from exploracoder_kernel.run_limits import Limits
from exploracoder_kernel.sandbox import choose
from exploracoder_kernel.sidecar import Sidecar

from exploracoder_bench.datasets.repository_tests import outcomes, probe_of
from exploracoder_bench.mutants import class_mutants

# The mutants with which each test of the class fails.
_SEPARATING = frozenset({"is missing", "is empty", "has methods that raise"})
_WALL_S = 240.0
_OUTPUT_CHARS = 4_000_000
_SHOWN_CHARS = 300


def telling_tests(
    place: Target, name: str, code: str, tests: Sequence[str], *, python: str, folder: Path
) -> tuple[str, ...]:
    """The class's tests among ``tests``, by their names, in the order in which they run.

    ``place`` is in a repository that lacks the class ``name``, ``code`` the class as it was;
    ``folder`` is the working folder. Raises InputError when the class's tests do not pass here, or
    do not tell it from a wrong one; SetupError when nothing can be run.
    """
    try:
        return asyncio.run(_telling(place, name, code, tests, python, folder))
    except (SidecarError, OSError) as error:
        raise SetupError(f"The tests of {name} cannot be run: {error}") from error


async def _telling(
    place: Target, name: str, code: str, tests: Sequence[str], python: str, folder: Path
) -> tuple[str, ...]:
    root = Path(place.root)
    sandbox = await asyncio.to_thread(choose, "auto", python=python, cwd=folder, inputs=(root,))
    limits = Limits(wall_seconds=_WALL_S, max_output_chars=_OUTPUT_CHARS)
    task = Task(text=name, libraries=(), check="", entry_point=name, target=place)
    launcher = sandbox.launcher
    async with Sidecar(python=python, cwd=folder, limits=limits, launcher=launcher) as sidecar:
        right, words = await _passed(sidecar, task, code, tests)
        if not right:
            raise InputError(f"None of its tests pass here: {words}")
        wrong = dict(class_mutants(code, name))
        for what in _SEPARATING & wrong.keys():
            still, _ = await _passed(sidecar, task, wrong.pop(what), right)
            right = [test for test in right if test not in still]
        # This drops tests that need others to run first, or have the time of day in their names.
        right, _ = await _passed(sidecar, task, code, right)
        if not right:
            raise InputError("None of its tests needs what the class does.")
        for what, other in wrong.items():
            still, _ = await _passed(sidecar, task, other, right)
            if len(still) == len(right):
                raise InputError(f"Its tests accept a class that {what}.")
    return tuple(right)


async def _passed(
    sidecar: Sidecar, task: Task, code: str, tests: Sequence[str]
) -> tuple[list[str], str]:
    """The tests that pass, in their order, and the end of the output."""
    probe_task = task.model_copy(update={"check": probe_of(tests)})
    class_run, check_run = await run_in_copy(sidecar, probe_task, code)
    results = outcomes(check_run) if check_run is not None else {}
    observation = check_run or class_run
    error = f"{observation.error.ename}: {observation.error.evalue}" if observation.error else ""
    lines = [*observation.stdout.strip().splitlines()[:-1], error]
    words = (
        " ".join(filter(None, lines))[-_SHOWN_CHARS:] or f"the run ended as {observation.status}"
    )
    return [test for test, has_passed in results.items() if has_passed], words
