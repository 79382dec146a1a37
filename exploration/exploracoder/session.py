"""An exploration being worked on: owns the sidecar and saves each step before the next begins."""

from __future__ import annotations

import asyncio
import os
import tempfile
from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path

from exploracoder_kernel.errors import SidecarError
from exploracoder_kernel.limits import Limits
from exploracoder_kernel.observation import Observation
from exploracoder_kernel.sandbox import Sandboxing, choose
from exploracoder_kernel.sidecar import Sidecar
from exploracoder_kernel.strategies import StrategyChoice
from exploracoder_retrieval.index import Index

from exploracoder import bringing, document, prompts
from exploracoder.bringing import Source
from exploracoder.engine.workbench import Workbench
from exploracoder.errors import BudgetError, InputError, ModelError, SetupError
from exploracoder.methods import Method, find_method
from exploracoder.models.chat import ChatModel
from exploracoder.state import Brought, Exploration, ExplorationStatus

Listener = Callable[[Exploration, str], None]


@dataclass(frozen=True, slots=True)
class Place:
    """Where a session works: in which interpreter and folder snippets run, and what is saved.

    Without a ``sandboxing`` it is the usual one, if the user need not be asked about it. ``source``
    is a running kernel whose variables come along.
    """

    python: str
    folder: Path
    output: Path
    strategy: StrategyChoice = "auto"
    sandboxing: Sandboxing | None = None
    source: Source | None = None


class Session:
    """Works on one exploration until it has a solution, a limit is reached, or it is cancelled.

    Use it as an async context manager: leaving it ends the sidecar and saves. The model and the
    index belong to the caller, who may share them among sessions.
    """

    def __init__(
        self,
        exploration: Exploration,
        *,
        model: ChatModel,
        index: Index,
        place: Place,
        listener: Listener | None = None,
    ) -> None:
        self._exploration = exploration
        self._model = model
        self._index = index
        self._place = place
        self._listener = listener
        self._bench: Workbench | None = None
        self._stack = AsyncExitStack()

    @property
    def exploration(self) -> Exploration:
        """The exploration as it stands."""
        return self._bench.exploration if self._bench else self._exploration

    async def __aenter__(self) -> Session:
        """Start the sidecar, run the context, and rebuild the state of the steps that are done.

        Raises InputError when the context or the check cannot be used, SetupError when the sidecar
        cannot be started or the notebook cannot be written.
        """
        try:
            await self._open()
        except BaseException:
            await self._stack.aclose()
            raise
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self._stack.aclose()

    async def run(self) -> Exploration:
        """Work to the end. What ends it early is recorded as the status and its reason, and saved.

        Raises ModelError and SetupError after saving; CancelledError passes through, after saving.
        """
        bench = self._bench
        if bench is None:
            raise SetupError("The session is not open; use it in `async with`.")
        method: Method = find_method(bench.exploration.method)
        started = f"Started. Sandbox: {bench.exploration.sandbox}"
        await bench.update(_with_status(bench.exploration, "running"), started)
        if bench.exploration.brought != Brought():
            await bench.update(bench.exploration, bringing.in_words(bench.exploration.brought))
        try:
            await method.run(bench)
        except asyncio.CancelledError:
            self._save_now(_with_status(bench.exploration, "cancelled", "It was interrupted."))
            raise
        except BudgetError as error:
            await bench.update(_with_status(bench.exploration, "failed", str(error)), str(error))
        except SidecarError as error:
            self._save_now(_with_status(bench.exploration, "failed", str(error)))
            raise SetupError(f"The scratch kernel failed: {error}") from error
        except (ModelError, SetupError) as error:
            self._save_now(_with_status(bench.exploration, "failed", str(error)))
            raise
        else:
            status = _status(bench.exploration)
            await bench.update(_with_status(bench.exploration, status), "Finished")
        return bench.exploration

    async def _open(self) -> None:
        limits = Limits(wall_seconds=self._exploration.settings.run_seconds)
        place = self._place
        try:
            sandboxing = place.sandboxing
            if sandboxing is None:
                sandboxing = await asyncio.to_thread(
                    choose, "auto", python=place.python, cwd=place.folder
                )
            sidecar = Sidecar(
                python=place.python,
                cwd=place.folder,
                limits=limits,
                strategy=place.strategy,
                env=self._import_paths(),
                launcher=sandboxing.launcher,
            )
            await self._stack.enter_async_context(sidecar)
        except SidecarError as error:
            raise SetupError(str(error)) from error
        brought = await bringing.bring(sidecar, place.source, self._exploration.brought)
        task = self._exploration.task
        if task.context:
            _accept_context(await sidecar.run(sidecar.root, task.context))
        if task.check:
            await _accept_check(sidecar, task.check, task.entry_point)
        told = {
            "strategy": f"{sidecar.strategy}: {sidecar.strategy_reason}",
            "model": self._model.name,
            "prompts": prompts.fingerprints(),
            "python": place.python,
            "sandbox": str(sandboxing),
            "brought": brought,
        }
        branch = await rebuild(sidecar, self._exploration)
        self._bench = Workbench(
            model=self._model,
            index=self._index,
            sidecar=sidecar,
            exploration=self._exploration.model_copy(update=told),
            record=self._record,
            root=sidecar.root,
            branch=branch,
        )

    def _import_paths(self) -> dict[str, str]:
        """PYTHONPATH with the homes of libraries given by path: nothing installed them."""
        infos = [self._index.info(library.name) for library in self._exploration.libraries]
        homes = [str(Path(info.root).parent) for info in infos if info.source != "installed"]
        if not homes:
            return {}
        own = os.environ.get("PYTHONPATH")
        return {"PYTHONPATH": os.pathsep.join([*homes, own] if own else homes)}

    async def _record(self, exploration: Exploration, message: str) -> None:
        self._save(exploration)
        if self._listener is not None:
            self._listener(exploration, message)

    def _save_now(self, exploration: Exploration) -> None:
        if self._bench is not None:
            self._bench.exploration = exploration
        self._save(exploration)

    def _save(self, exploration: Exploration) -> None:
        document.save(self._place.output, exploration)


async def rebuild(sidecar: Sidecar, exploration: Exploration) -> str:
    """A branch in which the chosen candidates of the finished steps have run.

    Raises SetupError when one that ran before does not run now.
    """
    branch = await sidecar.fork(sidecar.root)
    if exploration.settings.candidate_style != "live":
        return branch
    for link in exploration.trace:
        if not link.candidate.ran:
            continue
        observation = await sidecar.run(branch, link.candidate.code)
        if not observation.ran:
            raise SetupError(
                f"{link.subtask.id} ({link.subtask.goal}) ran before and does not run now:"
                f" {_error_line(observation)}. The library or its data may have changed."
            )
    return branch


def _accept_context(observation: Observation) -> None:
    if observation.ran:
        return
    if observation.status == "timeout":
        raise InputError(
            f"The context did not come to its end within {observation.seconds:.0f} s. Give it less"
            " to do, or a higher --run-seconds."
        )
    line = (
        f" in line {observation.error.line}" if observation.error and observation.error.line else ""
    )
    raise InputError(f"The context failed{line}: {_error_line(observation)}")


async def _accept_check(sidecar: Sidecar, check: str, entry_point: str | None) -> None:
    """Refuse a check that can never pass, or that proves nothing because it passes already."""
    try:
        compile(check, "check", "exec")
    except (SyntaxError, ValueError) as error:
        raise InputError(f"The check is not Python: {error}") from error
    branch = await sidecar.fork(sidecar.root)
    try:
        observation = await sidecar.run(branch, check)
    finally:
        await sidecar.drop(branch)
    if observation.ran:
        raise InputError(
            "The check passes before there is a solution, so it would prove nothing. Let it use"
            f" {entry_point or 'what the solution makes'}."
        )
    if observation.error is not None and observation.error.ename in _BROKEN_CHECK:
        raise InputError(f"The check itself fails: {_error_line(observation)}")


_BROKEN_CHECK = {"ModuleNotFoundError", "ImportError", "SyntaxError", "IndentationError"}


def _status(exploration: Exploration) -> ExplorationStatus:
    if exploration.solution is None or not exploration.solution.final.is_good:
        return "failed"
    return "solved" if exploration.solution.final.checks == "passed" else "unverified"


def _with_status(
    exploration: Exploration, status: ExplorationStatus, reason: str = ""
) -> Exploration:
    return exploration.model_copy(update={"status": status, "reason": reason})


def _error_line(observation: Observation) -> str:
    if observation.error is None:
        return f"the run ended as {observation.status}"
    return f"{observation.error.ename}: {observation.error.evalue}"


def check_writable(output: Path) -> None:
    """Raise InputError now rather than after an hour's work when ``output`` cannot be written."""
    folder = output.parent
    if not folder.is_dir():
        raise InputError(f"There is no folder {folder} to save {output.name} in.")
    if output.is_dir():
        raise InputError(f"{output} is a folder; give a file name that ends in .ipynb.")
    try:
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise InputError(f"{folder} cannot be written: {error.strerror or error}.") from error
