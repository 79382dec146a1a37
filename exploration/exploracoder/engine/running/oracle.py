"""The oracle of a class in a repository: the user's check, run in the sidecar on a copy.

A fresh copy is made for each attempt, in the branch that the check runs in, and removed afterwards.
Nothing below the user's folder is changed.

Source: RepoClassBench, section 4.1: the oracle call.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from uuid import uuid4

from exploracoder_kernel.executor import Executor
from exploracoder_kernel.observation import Observation

from exploracoder.engine.running.placing import placed, target_text
from exploracoder.engine.workbench import Workbench
from exploracoder.errors import InputError
from exploracoder.state import Attempt, CheckResult, Target, Task, ended_as

Run = Callable[[str, str], Awaitable[Observation]]

# Large folders that a repository's tests do not need.
_NOT_COPIED = (".git", ".hg", "__pycache__", ".venv", "venv", "node_modules", ".tox", ".mypy_cache")

# Runs in the user's Python: the standard library only.
_SET_UP = """\
import os, shutil, sys, tempfile
_place = os.path.join(tempfile.gettempdir(), {place!r})
shutil.copytree({root!r}, _place, symlinks=True, ignore=shutil.ignore_patterns(*{left_out!r}))
os.chdir(_place)
_homes = [_one for _one in (os.path.join(_place, "src"), _place) if os.path.isdir(_one)]
sys.path[:0] = _homes
os.environ["PYTHONPATH"] = os.pathsep.join([*_homes, *filter(None, [os.environ.get("PYTHONPATH")])])
for _one, _module in list(sys.modules.items()):
    # Of the original, in case that the context has imported it.
    if str(getattr(_module, "__file__", "")).startswith({root!r} + os.sep):
        del sys.modules[_one]
"""
_PUT_IN = """\
_text = {text!r}
os.makedirs(os.path.dirname({file!r}) or ".", exist_ok=True)
with open({file!r}, "w", encoding="utf-8") as _file:
    _file.write(_text)
compile(_text, {file!r}, "exec")
"""
_CLEAN_UP = """\
import os, shutil, tempfile
shutil.rmtree(os.path.join(tempfile.gettempdir(), {place!r}), ignore_errors=True)
"""


async def judge(bench: Workbench, code: str, part: str) -> Attempt:
    """Put a class into a copy of its repository and run the user's check there.

    The attempt's own observation is that of putting it in, which fails if it is not Python.
    Raises BudgetError.
    """
    task = bench.exploration.task

    async def run(branch: str, cell: str) -> Observation:
        return await bench.branches.run(part, branch, cell)

    observation, check_observation = await run_in_copy(bench.sidecar, task, code, run)
    checks: CheckResult = (
        "none" if check_observation is None else "passed" if check_observation.ran else "failed"
    )
    return Attempt(
        code=code, observation=observation, check_observation=check_observation, checks=checks
    )


async def run_in_copy(
    executor: Executor, task: Task, code: str, run: Run | None = None
) -> tuple[Observation, Observation | None]:
    """The observations of putting a class into a copy and, if that worked, of the check.

    ``run`` runs a cell in a branch instead of the executor.
    """
    assert task.target is not None, "there is a class to write"
    text = placed(target_text(task.target), code, task.entry_point or "")
    place, run = _name(), run or executor.run
    async with _fork(executor, place) as branch:
        observation = await run(branch, _set_up(task.target, place, text))
        if not observation.ran or not task.check:
            return observation, None
        return observation, await run(branch, task.check)


async def accept_check(executor: Executor, task: Task) -> None:
    """Refuse a target that cannot be copied, and a check that passes while the class is missing.

    Raises InputError.
    """
    assert task.target is not None, "there is a class to write"
    place, check_observation = _name(), None
    async with _fork(executor, place) as branch:
        copy_observation = await executor.run(branch, _set_up(task.target, place))
        if copy_observation.ran and task.check:
            check_observation = await executor.run(branch, task.check)
    if not copy_observation.ran:
        raise InputError(
            f"The repository {task.target.root} cannot be copied: {ended_as(copy_observation)}."
            " Name a folder that code may read, without what its tests do not need."
        )
    if check_observation is not None and check_observation.ran:
        raise InputError(
            "The check passes before the class is written, so it would prove nothing. Let it use"
            f" {task.entry_point}, and take the class out of {task.target.file}."
        )


def _set_up(target: Target, place: str, text: str | None = None) -> str:
    code = _SET_UP.format(place=place, root=target.root, left_out=_NOT_COPIED)
    if text is None:
        return code
    return code + _PUT_IN.format(file=target.file, text=text)


@asynccontextmanager
async def _fork(executor: Executor, place: str) -> AsyncIterator[str]:
    """A fork of the root for one attempt; its copy is removed even if the check ended the fork."""
    branch = await executor.fork(executor.root)
    try:
        yield branch
    finally:
        await executor.drop(branch)
        cleaner = await executor.fork(executor.root)
        await executor.run(cleaner, _CLEAN_UP.format(place=place))
        await executor.drop(cleaner)


def _name() -> str:
    return f"exploracoder-{uuid4().hex[:12]}"
