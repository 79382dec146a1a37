"""The sidecar: a tree of process states in the user's Python, as the engine uses it."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from exploracoder_kernel.branch.double_fork import NO_ANSWER
from exploracoder_kernel.branch_process import BranchDied, ForkRefused
from exploracoder_kernel.branch_questions import Questions
from exploracoder_kernel.budget import MemoryBudget, default_budget
from exploracoder_kernel.environment import clean_environment
from exploracoder_kernel.errors import SidecarError
from exploracoder_kernel.launch_command import Launcher, PlainLauncher
from exploracoder_kernel.launched_interpreters import Launches, LaunchSettings
from exploracoder_kernel.observation import Observation
from exploracoder_kernel.pickled_variables import PickledVariables, UnpickleReport
from exploracoder_kernel.presentation import CellRequest, FrontEnd
from exploracoder_kernel.run_limits import Limits
from exploracoder_kernel.sidecar_answers import BranchInfo
from exploracoder_kernel.states import States, Step
from exploracoder_kernel.strategies import StrategyChoice, choose
from exploracoder_kernel.tree import Branch, Cell, Tree


class Sidecar(Questions):
    """Owns the processes in which snippets run; use it with ``async with``.

    On exit, even by an exception or a cancellation, no process and no temporary file is left. If
    the owner itself is killed, the processes end with it. ``Questions`` has the methods that ask a
    branch without running a cell.

    Args:
        python: The user's interpreter: a path or a command name. Needs nothing of ours.
        cwd: The folder that snippets run in; the current one by default.
        limits: Limits of runs that bring none of their own.
        strategy: ``auto`` forks where that is safe; ``fork`` and ``replay`` insist.
        env: Variables to set in addition, except those whose names suggest a secret.
        launcher: Starts the interpreter; a sandbox goes here.
        memory_budget_bytes: What idle branches may hold for themselves in total. Beyond it, old
            ones lose their process, and are rebuilt from their cells on demand.
            A quarter of the machine's memory by default.
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
        memory_budget_bytes: int | None = None,
    ) -> None:
        self.root = "b0"
        self.python_version = ""
        self.is_supervised = False
        self.not_supervised_because = ""
        self._limits = limits or Limits()
        self._choice = strategy
        tree = Tree()
        self._launches = Launches(
            LaunchSettings(
                python=str(python),
                cwd=cwd or Path.cwd(),
                environment=clean_environment(os.environ, env),
                launcher=launcher or PlainLauncher(),
            )
        )
        super().__init__(tree, States(tree, self._launches))
        budget = default_budget() if memory_budget_bytes is None else memory_budget_bytes
        self._budget = MemoryBudget(tree, budget)
        self._pickles: list[PickledVariables] = []

    @property
    def strategy(self) -> str:
        """``fork`` or ``replay``; single branches may differ, see ``tree``."""
        return self._states.strategy.name if self._states.strategy else ""

    @property
    def strategy_reason(self) -> str:
        """Why this strategy is used, in words."""
        return self._states.strategy.reason if self._states.strategy else ""

    async def __aenter__(self) -> Sidecar:
        """Start the root branch.

        Raises:
            InterpreterError: The interpreter can't be used.
            SidecarError: The folder is missing, or the strategy is unavailable here.
        """
        self._launches.find_python()
        try:
            process = await self._launches.start()
            self._tree.add(Branch(self.root, None, "root", process=process))
            self._states.strategy = choose(self._choice, process.launch)
            hello = process.launch.hello
            self.python_version = str(hello["python"])
            self.is_supervised = bool(hello["supervised"])
            self.not_supervised_because = str(hello["not_supervised_because"])
        except BaseException:
            await self._close_whatever_happens()
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._close_whatever_happens()

    async def run(
        self,
        branch_id: str,
        code: str,
        limits: Limits | None = None,
        *,
        front_end: FrontEnd | None = None,
        request: CellRequest | None = None,
    ) -> Observation:
        """Run a snippet in a branch; a cancelled run is interrupted.

        A branch whose process has ended is first rebuilt, from the cells that ran to an end.

        Args:
            branch_id: Where to run it.
            code: The snippet.
            limits: Those of the sidecar by default.
            front_end: Gets the snippet's outputs as they appear, and may be asked for input.
            request: How a notebook's cell asks to be run.

        Raises:
            BranchNotFound: There is no such branch.
            SidecarError: It had to be rebuilt, and no interpreter could be started for it.
        """
        branch = self._tree.find(branch_id)
        step = Step(code, limits or self._limits, front_end, request or CellRequest())
        async with branch.lock:
            observation = await self._states.take(branch, step)
        await self._budget.make_room(self._states, branch)
        return observation

    async def send_comm(
        self,
        branch_id: str,
        message: dict[str, Any],
        limits: Limits | None = None,
        *,
        front_end: FrontEnd | None = None,
    ) -> Observation:
        """Deliver a front end's message to a comm of a branch, and observe its callbacks.

        What they change is lost if the branch has to be rebuilt from its cells.

        Args:
            branch_id: Where the comm is.
            message: As in the Jupyter protocol: ``msg_type`` (``comm_open``, ``comm_msg`` or
                ``comm_close``) and ``content``; optionally ``header``, ``metadata``, and
                ``buffers`` as bytes.
            limits: Those of the sidecar by default.
            front_end: Gets the outputs of the callbacks.

        Raises:
            BranchNotFound: There is no such branch.
            ReplayError: The branch had to be rebuilt, and its cells came out differently.
        """
        branch = self._tree.find(branch_id)
        async with branch.lock:
            effective_limits = limits or self._limits
            return await self._states.deliver(branch, message, effective_limits, front_end)

    async def unpickle(self, branch_id: str, variables: PickledVariables) -> UnpickleReport:
        """Load variables of the user's kernel into a branch. Call ``carry`` rather than this.

        The sidecar owns their file from then on.

        Raises:
            BranchNotFound: There is no such branch.
            SidecarError: The branch ended while loading them, or could not answer.
        """
        self._pickles.append(variables)
        branch = self._tree.find(branch_id)
        async with branch.lock:
            process = await self._states.live(branch)
            branch.is_busy = True
            try:
                outcome = await variables.unpickle(process)
            except BranchDied as death:
                await self._states.bury(branch)
                raise SidecarError(f"The variables could not be taken in. {death}") from death
            finally:
                branch.is_busy = False
            if not outcome.obstacle:
                branch.cells.append(Cell("", self._limits, "ok", variables))
        return outcome

    async def fork(self, branch_id: str, *, goal: str = "") -> str:
        """Create a branch with the current state of ``branch_id``.

        Args:
            branch_id: The branch to start from.
            goal: What the new one is for, in words that ``tree`` shows.

        Raises:
            BranchNotFound: There is no such branch.
            SidecarError: The strategy ``fork`` was insisted on, and forking failed.
        """
        parent = self._tree.find(branch_id)
        strategy = self._states.strategy
        assert strategy is not None
        async with parent.lock:
            if strategy.forks:
                await self._states.live(parent)
            child = Branch(
                id=self._tree.new_id(),
                parent=parent.id,
                created=strategy.name,
                cells=list(parent.cells),
                goal=goal,
            )
            try:
                if parent.is_unforkable:
                    raise ForkRefused(parent.why_no_forks)
                child.process = await self._states.fork(parent)
            except ForkRefused as refusal:
                child.created, child.note = "replay", str(refusal)
                if NO_ANSWER in child.note and not parent.is_unforkable:
                    parent.note_hung_fork(child.note)
            child.is_exact = parent.is_exact or child.process is None
        self._tree.add(child, parent)
        return child.id

    async def promote(self, branch_id: str) -> None:
        """Choose a branch: drop its siblings and all their descendants.

        Raises:
            BranchNotFound: There is no such branch.
        """
        branch = self._tree.find(branch_id)
        losers = [
            loser
            for sibling in self._tree.siblings_of(branch)
            for loser in self._tree.with_descendants(sibling)
        ]
        for loser in losers:
            self._tree.remove(loser)
        await asyncio.gather(*(self._states.bury(loser) for loser in losers))

    async def drop(self, branch_id: str) -> None:
        """End a branch; its children stay, and become its parent's.

        Raises:
            BranchNotFound: There is no such branch.
        """
        branch = self._tree.find(branch_id)
        self._tree.remove(branch)
        await self._states.bury(branch)

    async def interrupt(self, branch_id: str) -> None:
        """Interrupt what runs in a branch; no effect if nothing does.

        Raises:
            BranchNotFound: There is no such branch.
        """
        branch = self._tree.find(branch_id)
        if branch.is_busy and branch.process is not None:
            branch.process.interrupt()

    async def measure(self) -> tuple[BranchInfo, ...]:
        """The tree, with the current memory of each idle branch."""
        await self._states.measure()
        return self.tree()

    def tree(self) -> tuple[BranchInfo, ...]:
        """All branches, oldest first, with memory as last measured."""
        return tuple(branch.info() for branch in self._tree)

    async def _close_whatever_happens(self) -> None:
        """Finish closing even if the task is cancelled meanwhile, then raise the cancellation."""
        task = asyncio.create_task(self._close())
        cancellation: asyncio.CancelledError | None = None
        while not task.done():
            try:
                await asyncio.shield(task)
            except asyncio.CancelledError as error:
                cancellation = error
        if cancellation is not None:
            raise cancellation

    async def _close(self) -> None:
        for branch in self._tree:
            if branch.process is not None:
                branch.process.close()
        self._tree.clear()
        for variables in self._pickles:
            variables.file.close()
        await self._launches.close()
