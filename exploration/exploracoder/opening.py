"""Open a workbench for an exploration: start the sidecar, run the context, rebuild the chain."""

from __future__ import annotations

import ast
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from exploracoder_kernel.errors import SidecarError
from exploracoder_kernel.executor import Executor
from exploracoder_kernel.observation import Observation
from exploracoder_kernel.run_limits import Limits
from exploracoder_kernel.sandbox import ChosenSandbox
from exploracoder_kernel.sidecar import Sidecar
from exploracoder_kernel.strategies import StrategyChoice
from exploracoder_retrieval.index import Index

from exploracoder import prompts, user_variables
from exploracoder.engine.running.oracle import accept_check
from exploracoder.engine.workbench import Record, Workbench
from exploracoder.errors import InputError, SetupError, raised_as
from exploracoder.installed import import_paths
from exploracoder.models.chat import ChatModel
from exploracoder.state import Exploration, ended_as
from exploracoder.texts import Text
from exploracoder.user_variables import AnySource


@dataclass(frozen=True, slots=True)
class Scratch:
    """Where snippets run: an open executor, and a description of its sandbox."""

    executor: Executor
    sandbox: str


# Takes the limits of a run, and extra environment variables for the interpreter.
OpenScratch = Callable[[Limits, dict[str, str]], AbstractAsyncContextManager[Scratch]]


@dataclass(frozen=True, slots=True)
class Opening:
    """Which interpreter runs snippets, how to start it, and where variables come from.

    ``notebook`` is the full path to save the exploration at, the origin of examples kept from it.
    """

    python: str
    scratch: OpenScratch
    source: AnySource | None = None
    notebook: str = ""


def local_scratch(
    python: str | Path,
    folder: Path,
    *,
    strategy: StrategyChoice = "auto",
    sandbox: ChosenSandbox,
) -> OpenScratch:
    """An opener that starts a sidecar of this process."""

    @asynccontextmanager
    async def start(limits: Limits, env: dict[str, str]) -> AsyncIterator[Scratch]:
        async with Sidecar(
            python, folder, limits=limits, strategy=strategy, env=env, launcher=sandbox.launcher
        ) as sidecar:
            yield Scratch(sidecar, str(sandbox))

    return start


@asynccontextmanager
async def open_bench(
    exploration: Exploration,
    *,
    model: ChatModel,
    index: Index,
    opening: Opening,
    record: Record,
) -> AsyncIterator[Workbench]:
    """Start the sidecar, run the context, and rebuild the state of the steps that are done.

    Raises InputError if the context or the check cannot be used, SetupError if the sidecar cannot
    be started or a step that ran before fails now.
    """
    limits = Limits(wall_seconds=exploration.settings.run_seconds)
    homes = (index.info(library.name).home for library in exploration.libraries)
    manager = opening.scratch(limits, import_paths(homes))
    with raised_as(SetupError, SidecarError):
        scratch = await manager.__aenter__()
    executor, task = scratch.executor, exploration.task
    try:
        outcome = await user_variables.bring(executor, opening.source, exploration.brought)
        if task.context:
            _accept_context(await executor.run(executor.root, task.context))
        if task.check:
            _accept_syntax(task.check)
        if task.target is not None:
            await accept_check(executor, task)
        elif task.check:
            await _accept_check(executor, task.check, task.entry_point)
        changes = {
            "strategy": f"{executor.strategy}: {executor.strategy_reason}",
            "model": model.name,
            "prompts": prompts.fingerprints(),
            "python": opening.python,
            "sandbox": scratch.sandbox,
            "brought": outcome,
        }
        yield Workbench(
            exploration.model_copy(update=changes),
            model=model,
            index=index.view(uses_examples=exploration.settings.memory, left_out=opening.notebook),
            sidecar=executor,
            root=executor.root,
            branch=await rebuild(executor, exploration),
            record=record,
            notebook=opening.notebook,
        )
    finally:
        await manager.__aexit__(None, None, None)


async def rebuild(executor: Executor, exploration: Exploration) -> str:
    """Run the chosen candidates of the finished steps in a new branch.

    Raises SetupError if one that ran before fails now.
    """
    branch = await executor.fork(executor.root)
    if exploration.settings.candidate_style != "live":
        return branch
    for link in exploration.trace:
        if not link.candidate.ran:
            continue
        observation = await executor.run(branch, link.candidate.code)
        if not observation.ran:
            raise SetupError(
                Text(
                    "%1 (%2) ran before and does not run now: %3. The library or its data may have"
                    " changed.",
                    link.subtask.id,
                    link.subtask.goal,
                    ended_as(observation),
                )
            )
    return branch


def _accept_context(observation: Observation) -> None:
    if observation.ran:
        return
    if observation.status == "timeout":
        raise InputError(
            Text(
                "The context did not finish within %1 s. Give it less to do, or a higher"
                " `--set run-seconds=S`.",
                round(observation.seconds),
            )
        )
    if observation.error and observation.error.line:
        line = observation.error.line
        raise InputError(Text("The context failed in line %1: %2", line, ended_as(observation)))
    raise InputError(Text("The context failed: %1", ended_as(observation)))


def _accept_syntax(check: str) -> None:
    """Refuse a check that is not Python."""
    try:
        compile(check, "check", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
    except (SyntaxError, ValueError) as error:
        raise InputError(Text("The check is not Python: %1", error)) from error


async def _accept_check(executor: Executor, check: str, entry_point: str | None) -> None:
    """Refuse a check that can never pass, or that proves nothing because it passes already."""
    branch = await executor.fork(executor.root)
    try:
        observation = await executor.run(branch, check)
    finally:
        await executor.drop(branch)
    if observation.ran:
        raise InputError(
            Text(
                "The check passes before there is a solution, so it would prove nothing. Let it use"
                " %1.",
                entry_point or "what the solution makes",
            )
        )
    if observation.error is not None and observation.error.ename in _BROKEN_CHECK:
        raise InputError(Text("The check itself fails: %1", ended_as(observation)))


_BROKEN_CHECK = {"ModuleNotFoundError", "ImportError", "SyntaxError", "IndentationError"}
