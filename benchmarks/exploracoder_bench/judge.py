"""The judge of success: a problem counts when its known solution passes its check, here and now,
in the sandbox that candidates run in, and certainly wrong solutions do not.
"""

from __future__ import annotations

import asyncio
import os
from dataclasses import dataclass
from pathlib import Path

from exploracoder.engine.running.oracle import run_in_copy
from exploracoder.errors import InputError
from exploracoder.settings import Settings
from exploracoder.state import Target, Task
from exploracoder_kernel.errors import SidecarError
from exploracoder_kernel.observation import Observation
from exploracoder_kernel.run_limits import Limits
from exploracoder_kernel.sandbox import choose
from exploracoder_kernel.sidecar import Sidecar
from pydantic import BaseModel, ConfigDict

from exploracoder_bench.execution import is_executed
from exploracoder_bench.mutants import mutants
from exploracoder_bench.problems import Problem
from exploracoder_bench.runs import environment, prepare


class Verdict(BaseModel):
    """Whether a problem counts; the reason says why not, or what could not be judged."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    problem: str
    digest: str
    is_sound: bool
    reason: str = ""


def judge(problem: Problem, folder: Path, run_seconds: float | None = None) -> Verdict:
    """Try the known solution and its mutants in ``folder``, which is recreated.

    A run that takes longer than ``run_seconds`` is stopped: pass the limit that candidates have.
    The default is that of the profile ``standard``.
    """
    if not problem.solution:
        return _verdict(problem, "", is_sound=True, note="It has no known solution to try.")
    try:
        fault = _examined(problem, folder, run_seconds)
        second = problem.with_second_data
        if second is not None and not fault:
            second_fault = _examined(second, folder, run_seconds)
            fault = f"With its second data: {second_fault}" if second_fault else ""
        return _verdict(problem, fault)
    except (SidecarError, InputError, OSError) as error:
        return _verdict(problem, f"It could not be tried: {error}")


@dataclass(frozen=True, slots=True)
class Assessment:
    """Whether a solution's text ran, was executed without runtime errors, and passed.

    The reason says what went wrong.
    """

    ran: bool
    is_executed: bool
    has_passed: bool
    reason: str = ""


def assess(
    problem: Problem, solution: str, folder: Path, run_seconds: float | None = None
) -> Assessment:
    """Run a solution and the problem's check in ``folder``, which is recreated.

    Runs are limited as in `judge`. Raises SidecarError and InputError when neither could be run.
    """
    if not solution.strip():
        return Assessment(False, False, False, "There is no solution.")
    prepare(problem, folder)
    return asyncio.run(_assess(problem, solution, folder, run_seconds))


async def _assess(
    problem: Problem, solution: str, folder: Path, run_seconds: float | None
) -> Assessment:
    async with await sidecar_for(problem, folder, _limits(run_seconds)) as sidecar:
        context = await sidecar.run(sidecar.root, problem.context)
        if not context.ran:
            raise SidecarError(f"The context does not run here: {_said(context)}")
        return await _try(sidecar, problem, solution)


def _examined(problem: Problem, folder: Path, run_seconds: float | None) -> str:
    prepare(problem, folder)
    return asyncio.run(_fault(problem, folder, run_seconds))


async def _fault(problem: Problem, folder: Path, run_seconds: float | None) -> str:
    async with await sidecar_for(problem, folder, _limits(run_seconds)) as sidecar:
        context = await sidecar.run(sidecar.root, problem.context)
        if not context.ran:
            return f"Its context does not run here: {_said(context)}"
        failure = await _failure(sidecar, problem, problem.solution)
        if failure:
            return f"Its known solution fails here: {failure}"
        for what, code in mutants(problem).items():
            if not await _failure(sidecar, problem, code):
                return f"Its check accepts a solution that {what}."
    return ""


def _limits(run_seconds: float | None) -> Limits:
    return Limits(wall_seconds=run_seconds or Settings().run_seconds)


async def sidecar_for(problem: Problem, folder: Path, limits: Limits) -> Sidecar:
    """A sidecar, not started yet, in the sandbox that candidates run in."""
    inputs = (Path(problem.place.root),) if problem.place is not None else ()
    sandbox = await asyncio.to_thread(
        choose, "auto", python=problem.python, cwd=folder, inputs=inputs
    )
    return Sidecar(
        python=problem.python,
        cwd=folder,
        limits=limits,
        env={"PYTHONPATH": _import_path(problem)},
        launcher=sandbox.launcher,
    )


def _import_path(problem: Problem) -> str:
    """The module search path, with libraries given by path, which are not installed."""
    homes = [str(Path(name).absolute().parent) for name in problem.libraries if os.sep in name]
    python_path = environment(problem).get("PYTHONPATH", "")
    return os.pathsep.join([*homes, python_path] if python_path else homes)


async def _failure(sidecar: Sidecar, problem: Problem, solution: str) -> str:
    return (await _try(sidecar, problem, solution)).reason


async def _try(sidecar: Sidecar, problem: Problem, solution: str) -> Assessment:
    """The outcome of a solution and its check; the reason is empty if it passes."""
    if problem.place is not None:
        observation, check_observation = await run_in_copy(
            sidecar, _class_task(problem, problem.place), solution
        )
    else:
        branch = await sidecar.fork(sidecar.root)
        try:
            observation = await sidecar.run(branch, solution)
            check_observation = (
                await sidecar.run(branch, problem.check) if observation.ran else None
            )
        finally:
            await sidecar.drop(branch)
    if check_observation is None:
        return Assessment(False, False, False, _said(observation))
    reason = "" if check_observation.ran else _of_check(check_observation)
    return Assessment(
        True, is_executed(observation, check_observation), check_observation.ran, reason
    )


def _class_task(problem: Problem, place: Target) -> Task:
    """The task of a class, as the engine's oracle takes it."""
    return Task(
        text=problem.task,
        libraries=problem.libraries,
        check=problem.check,
        entry_point=problem.entry_point,
        target=place,
    )


def _of_check(observation: Observation) -> str:
    return f"in the check, {_said(observation)}"


def _said(observation: Observation) -> str:
    if observation.error is not None:
        return f"{observation.error.ename}: {observation.error.evalue}"[:300]
    return f"it ended as {observation.status} after {observation.seconds:.0f} s"


def _verdict(
    problem: Problem, fault: str, *, is_sound: bool | None = None, note: str = ""
) -> Verdict:
    return Verdict(
        problem=problem.name,
        digest=problem.digest,
        is_sound=not fault if is_sound is None else is_sound,
        reason=fault or note,
    )
