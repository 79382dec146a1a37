"""The sidecar: a tree of process states in the user's Python, as the engine uses it."""

from __future__ import annotations

import asyncio
import itertools
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

from exploracoder_kernel.answers import BranchInfo, Completions, Inspection, ResolvedName
from exploracoder_kernel.branch_process import BranchDied, BranchProcess, ForkRefused
from exploracoder_kernel.connection import ConnectionClosed
from exploracoder_kernel.environment import clean_environment
from exploracoder_kernel.errors import BranchNotFound, InterpreterError, ReplayError, SidecarError
from exploracoder_kernel.interpreter import find_interpreter
from exploracoder_kernel.launch import Launch, Setting
from exploracoder_kernel.launcher import Launcher, PlainLauncher
from exploracoder_kernel.limits import Limits
from exploracoder_kernel.observation import ErrorReport, Observation, Variable
from exploracoder_kernel.strategies import ForkStrategy, Strategy, StrategyChoice, choose
from exploracoder_kernel.tree import Branch, Cell


class Sidecar:
    """Owns the processes in which snippets run; use it with ``async with``.

    On leaving, also by an exception or a cancellation, no process and no temporary file is left.
    When the owner itself is killed, the processes end with it.

    Args:
        python: The user's interpreter: a path or a command name. Needs nothing of ours.
        cwd: The folder that snippets run in; the current one by default.
        limits: Limits of every run that brings none of its own.
        strategy: ``auto`` forks where that is safe; ``fork`` and ``replay`` insist.
        env: Variables to set in addition; names that say they hold a secret are left out.
        launcher: Starts the interpreter; a sandbox goes here.
    """

    def __init__(
        self,
        python: str | Path = sys.executable,
        cwd: Path | None = None,
        *,
        limits: Limits | None = None,
        strategy: StrategyChoice = "auto",
        env: Mapping[str, str] | None = None,
        launcher: Launcher | None = None,
    ) -> None:
        self.root = "b0"
        self.strategy_reason = ""
        self._limits = limits or Limits()
        self._choice = strategy
        self._setting = Setting(
            python=str(python),
            cwd=cwd or Path.cwd(),
            environment=clean_environment(os.environ, env),
            launcher=launcher or PlainLauncher(),
        )
        self._numbers = itertools.count(1)
        self._branches: dict[str, Branch] = {}
        self._launches: list[Launch] = []
        self._strategy: Strategy | None = None
        self.python_version = ""

    @property
    def strategy(self) -> str:
        """``fork`` or ``replay``; single branches may differ, see ``tree``."""
        return "" if self._strategy is None else self._strategy.name

    async def __aenter__(self) -> Sidecar:
        """Start the root branch.

        Raises:
            InterpreterError: The interpreter can't be used.
            SidecarError: The folder is missing, or the strategy can't be had here.
        """
        python = find_interpreter(self._setting.python)
        self._setting = Setting(
            python, self._setting.cwd, self._setting.environment, self._setting.launcher
        )
        try:
            process = await self._launch()
            self._branches[self.root] = Branch(self.root, None, "root", process=process)
            self._strategy, self.strategy_reason = choose(self._choice, process.launch)
            self.python_version = str(process.launch.hello["python"])
        except BaseException:
            await self._close_whatever_happens()
            raise
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._close_whatever_happens()

    async def run(self, branch_id: str, code: str, limits: Limits | None = None) -> Observation:
        """Run a snippet in a branch; a cancelled run is interrupted.

        A branch whose process has ended is built again first, from the cells that ran to an end.

        Raises:
            BranchNotFound: There is no such branch.
        """
        branch = self._branch(branch_id)
        chosen = limits or self._limits
        async with branch.lock:
            try:
                process = await self._live(branch)
            except ReplayError as error:
                report = ErrorReport(ename="ReplayError", evalue=str(error))
                return Observation(status="error", error=report)
            branch.is_busy = True
            try:
                observation = await process.run(code, chosen, may_force=self._may_force)
            finally:
                branch.is_busy = False
            if observation.status in ("ok", "error"):
                status: Any = observation.status
                branch.cells.append(Cell(code, chosen, status))
            if not process.is_alive:
                await self._bury(branch)
        return observation

    async def fork(self, branch_id: str) -> str:
        """A new branch with the state that ``branch_id`` has now.

        Raises:
            BranchNotFound: There is no such branch.
            SidecarError: A fork was insisted on and did not work.
        """
        parent = self._branch(branch_id)
        assert self._strategy is not None
        async with parent.lock:
            child = Branch(
                id=f"b{next(self._numbers)}",
                parent=parent.id,
                created=self._strategy.name,
                cells=list(parent.cells),
                inherited=len(parent.cells),
            )
            process = await self._live(parent) if self._strategy.needs_parent else None
            try:
                child.process = await self._strategy.branch(process)
            except ForkRefused as refusal:
                child.created, child.note = "replay", str(refusal)
        self._branches[child.id] = child
        return child.id

    async def drop(self, branch_id: str) -> None:
        """End a branch; branches made from it stay.

        Raises:
            BranchNotFound: There is no such branch.
        """
        branch = self._branch(branch_id)
        del self._branches[branch_id]
        await self._bury(branch)

    async def variables(self, branch_id: str) -> tuple[Variable, ...]:
        """The user's variables in a branch.

        Raises:
            BranchNotFound: There is no such branch.
            SidecarError: The branch could not answer.
        """
        answer = await self._ask(branch_id, "variables", may_force=self._may_force)
        return tuple(Variable.model_validate(variable) for variable in answer["variables"])

    async def resolve(self, branch_id: str, names: Sequence[str]) -> tuple[ResolvedName, ...]:
        """Whether dotted names such as ``df.groupby`` exist, as seen from a branch.

        Raises:
            BranchNotFound: There is no such branch.
            SidecarError: The branch could not answer.
        """
        answer = await self._ask(branch_id, "resolve", names=list(names))
        return tuple(ResolvedName.model_validate(name) for name in answer["resolved"])

    async def complete(self, branch_id: str, code: str, cursor: int) -> Completions:
        """What may stand at ``cursor`` (characters from the start of ``code``).

        Raises:
            BranchNotFound: There is no such branch.
            SidecarError: The branch could not answer.
        """
        answer = await self._ask(branch_id, "complete", code=code, cursor=cursor)
        return Completions.model_validate(answer)

    async def inspect(self, branch_id: str, name: str) -> Inspection:
        """Type, signature, documentation and place of a dotted name.

        Raises:
            BranchNotFound: There is no such branch.
            SidecarError: The branch could not answer.
        """
        return Inspection.model_validate(await self._ask(branch_id, "inspect", name=name))

    async def interrupt(self, branch_id: str) -> None:
        """Stop what runs in a branch; nothing happens when nothing runs.

        Raises:
            BranchNotFound: There is no such branch.
        """
        branch = self._branch(branch_id)
        if branch.is_busy and branch.process is not None:
            branch.process.interrupt()

    def tree(self) -> tuple[BranchInfo, ...]:
        """All branches, oldest first."""
        return tuple(branch.info() for branch in self._branches.values())

    @property
    def _may_force(self) -> bool:
        return isinstance(self._strategy, ForkStrategy)

    def _branch(self, branch_id: str) -> Branch:
        try:
            return self._branches[branch_id]
        except KeyError:
            raise BranchNotFound(branch_id) from None

    async def _ask(self, branch_id: str, op: str, **fields: Any) -> dict[str, Any]:
        branch = self._branch(branch_id)
        async with branch.lock:
            process = await self._live(branch)
            try:
                return await process.ask(op, **fields)
            except BranchDied as death:
                await self._bury(branch)
                raise SidecarError(f"Branch {branch_id} ended over a question. {death}") from death

    async def _launch(self) -> BranchProcess:
        launch, ends = await Launch.start(self._setting)
        self._launches.append(launch)
        process = BranchProcess(launch, ends.connection, ends.pipes)
        try:
            await process.wait_ready()
        except BaseException as error:
            process.close()
            if not isinstance(error, (ConnectionClosed, TimeoutError)):
                raise
            raise InterpreterError(
                f"{self._setting.python} started and then ended without a word. "
                "Does it run a script?"
            ) from error
        return process

    async def _live(self, branch: Branch) -> BranchProcess:
        """The branch's process, built again when there is none."""
        if branch.process is not None and branch.process.is_alive:
            return branch.process
        await self._bury(branch)
        branch.is_busy = True
        try:
            process, cells = await self._nearest_state(branch)
            branch.process = process
            await self._replay(branch, process, cells)
        finally:
            branch.is_busy = False
        branch.has_died = False
        return process

    async def _nearest_state(self, branch: Branch) -> tuple[BranchProcess, list[Cell]]:
        """A process to go on from, and the cells that lead from there to the branch's state."""
        parent = self._branches.get(branch.parent or "")
        is_unchanged = parent is not None and len(parent.cells) == branch.inherited
        if parent is not None and is_unchanged and parent.is_live and not parent.lock.locked():
            async with parent.lock:
                try:
                    process = (
                        await self._strategy.branch(parent.process) if self._strategy else None
                    )
                except ForkRefused:
                    process = None
            if process is not None:
                return process, branch.cells[branch.inherited :]
        return await self._launch(), branch.cells

    async def _replay(self, branch: Branch, process: BranchProcess, cells: list[Cell]) -> None:
        try:
            for cell in cells:
                observation = await process.run(cell.code, cell.limits, may_force=False)
                if observation.status != cell.status:
                    raise ReplayError(_divergence(branch, cell, observation))
        except BaseException:
            process.kill_now()
            raise

    async def _bury(self, branch: Branch) -> None:
        """Let go of a branch's process, and of the launch when no other branch lives in it."""
        process, branch.process = branch.process, None
        if process is None:
            return
        branch.has_died = True
        process.kill_now()
        process.close()
        launch = process.launch
        users = [b for b in self._branches.values() if b.process and b.process.launch is launch]
        if not users and launch in self._launches:
            await launch.close()
            self._launches = [other for other in self._launches if other is not launch]

    async def _close_whatever_happens(self) -> None:
        """Close to the end even when the task is cancelled meanwhile; then pass that on."""
        closing = asyncio.create_task(self._close())
        cancelled: asyncio.CancelledError | None = None
        while not closing.done():
            try:
                await asyncio.shield(closing)
            except asyncio.CancelledError as error:
                cancelled = error
        if cancelled is not None:
            raise cancelled

    async def _close(self) -> None:
        for branch in self._branches.values():
            if branch.process is not None:
                branch.process.close()
        self._branches.clear()
        launches, self._launches = self._launches, []
        await asyncio.gather(*(launch.close() for launch in launches))


def _divergence(branch: Branch, cell: Cell, observation: Observation) -> str:
    first = (cell.code.strip().splitlines() or [""])[0]
    now = observation.error.evalue if observation.error else observation.status
    return (
        f"Branch {branch.id} had to be built again, and the cell that starts with {first!r} "
        f"came out differently ({cell.status} before, now: {now}). Go back to an earlier branch."
    )
