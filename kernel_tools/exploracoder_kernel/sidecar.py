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
from exploracoder_kernel.launcher import Launcher, PlainLauncher
from exploracoder_kernel.launches import Launches, Setting
from exploracoder_kernel.observation import Observation
from exploracoder_kernel.pickled_variables import PickledVariables, Unpickled
from exploracoder_kernel.presentation import CellRequest, FrontEnd
from exploracoder_kernel.run_limits import Limits
from exploracoder_kernel.sidecar_answers import BranchInfo
from exploracoder_kernel.states import States, Step
from exploracoder_kernel.strategies import StrategyChoice, choose
from exploracoder_kernel.tree import Branch, Cell, Tree


class Sidecar(Questions):
    """Owns the processes in which snippets run; use it with ``async with``.

    On leaving, also by an exception or a cancellation, no process and no temporary file is left.
    When the owner itself is killed, the processes end with it. What may be asked of a branch
    without running anything is in ``Questions``.

    Args:
        python: The user's interpreter: a path or a command name. Needs nothing of ours.
        cwd: The folder that snippets run in; the current one by default.
        limits: Limits of every run that brings none of its own.
        strategy: ``auto`` forks where that is safe; ``fork`` and ``replay`` insist.
        env: Variables to set in addition; names that say they hold a secret are left out.
        launcher: Starts the interpreter; a sandbox goes here.
        memory_budget_bytes: What idle branches may hold for themselves, all in all. Over it, old
            ones lose their process and are built again from their cells when they are asked for.
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
            Setting(
                python=str(python),
                cwd=cwd or Path.cwd(),
                environment=clean_environment(os.environ, env),
                launcher=launcher or PlainLauncher(),
            )
        )
        super().__init__(tree, States(tree, self._launches))
        budget = default_budget() if memory_budget_bytes is None else memory_budget_bytes
        self._budget = MemoryBudget(tree, budget)
        self._pickled: list[PickledVariables] = []

    @property
    def strategy(self) -> str:
        """``fork`` or ``replay``; single branches may differ, see ``tree``."""
        return self._states.strategy.name if self._states.strategy else ""

    @property
    def strategy_reason(self) -> str:
        """Why it is this one, in words."""
        return self._states.strategy.reason if self._states.strategy else ""

    async def __aenter__(self) -> Sidecar:
        """Start the root branch.

        Raises:
            InterpreterError: The interpreter can't be used.
            SidecarError: The folder is missing, or the strategy can't be had here.
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

        A branch whose process has ended is built again first, from the cells that ran to an end.

        Args:
            branch_id: Where to run it.
            code: The snippet.
            limits: Those of the sidecar by default.
            front_end: Is shown what the snippet does while it does it, and may be asked for input.
            request: How a notebook's cell asks to be run.

        Raises:
            BranchNotFound: There is no such branch.
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
        """Hand a front end's message to a comm of a branch: what its callbacks do is a run.

        What that changes is lost when the branch has to be built again from its cells.

        Args:
            branch_id: Where the comm is.
            message: Of the Jupyter protocol: ``msg_type`` (``comm_open``, ``comm_msg`` or
                ``comm_close``) and ``content``; perhaps ``header``, ``metadata``, and ``buffers``
                as bytes.
            limits: Those of the sidecar by default.
            front_end: Is shown what the callbacks put out.

        Raises:
            BranchNotFound: There is no such branch.
            ReplayError: The branch had to be built again, and its cells came out differently.
        """
        branch = self._tree.find(branch_id)
        async with branch.lock:
            effective_limits = limits or self._limits
            return await self._states.deliver(branch, message, effective_limits, front_end)

    async def unpickle(self, branch_id: str, variables: PickledVariables) -> Unpickled:
        """Take variables of the user's kernel into a branch; ``carry`` is what to call.

        Their file belongs to the sidecar from then on.

        Raises:
            BranchNotFound: There is no such branch.
            SidecarError: The branch ended over it, or could not answer.
        """
        self._pickled.append(variables)
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
        """A new branch with the state that ``branch_id`` has now.

        Args:
            branch_id: The branch to start from.
            goal: What the new one is for, in words that ``tree`` shows.

        Raises:
            BranchNotFound: There is no such branch.
            SidecarError: A fork was insisted on and did not work.
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
        """Decide for a branch: its siblings and all that come from them are dropped.

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
        """End a branch; branches made from it stay, and become its parent's.

        Raises:
            BranchNotFound: There is no such branch.
        """
        branch = self._tree.find(branch_id)
        self._tree.remove(branch)
        await self._states.bury(branch)

    async def interrupt(self, branch_id: str) -> None:
        """Stop what runs in a branch; nothing happens when nothing runs.

        Raises:
            BranchNotFound: There is no such branch.
        """
        branch = self._tree.find(branch_id)
        if branch.is_busy and branch.process is not None:
            branch.process.interrupt()

    async def measure(self) -> tuple[BranchInfo, ...]:
        """The tree, with the memory of each idle branch as it is now."""
        await self._states.measure()
        return self.tree()

    def tree(self) -> tuple[BranchInfo, ...]:
        """All branches, oldest first; memory as it was measured last."""
        return tuple(branch.info() for branch in self._tree)

    async def _close_whatever_happens(self) -> None:
        """Close to the end even when the task is cancelled meanwhile; then pass that on."""
        closing = asyncio.create_task(self._close())
        cancellation: asyncio.CancelledError | None = None
        while not closing.done():
            try:
                await asyncio.shield(closing)
            except asyncio.CancelledError as error:
                cancellation = error
        if cancellation is not None:
            raise cancellation

    async def _close(self) -> None:
        for branch in self._tree:
            if branch.process is not None:
                branch.process.close()
        self._tree.clear()
        for variables in self._pickled:
            variables.file.close()
        await self._launches.close()
