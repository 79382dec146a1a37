"""The states that a client can go on from: a limited number of branches of one sidecar."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from dataclasses import dataclass

from exploracoder_kernel.errors import BranchNotFound
from exploracoder_kernel.executor import Executor
from exploracoder_kernel.observation import Observation, Variable

from exploracoder.errors import InputError
from exploracoder.opening import Scratch

MOST = 32
# The branch in which nothing has run.
FRESH = "b0"

# Makes libraries importable that are not installed, some of them named only after the sidecar was
# started. It binds no name.
_FIND_LIBRARIES = (
    "__import__('sys').path[:0] = [p for p in {homes!r} if p not in __import__('sys').path]"
)


@dataclass(frozen=True, slots=True)
class CellsRun:
    """Cells run one after another, of which the last may have failed, and in which branch."""

    start: str
    branch: str
    observations: tuple[Observation, ...]


class Branches:
    """The branches of one sidecar, which is started on first use.

    ``current`` is the one that cells go on from if none is named.

    Args:
        open_scratch: Returns a context manager that starts the sidecar.
        most: How many to keep; beyond that, the least recently used one is dropped.
    """

    def __init__(
        self,
        open_scratch: Callable[[], Awaitable[AbstractAsyncContextManager[Scratch]]],
        most: int = MOST,
    ) -> None:
        self.current = FRESH
        self._open_scratch = open_scratch
        self._most = most
        self._stack = AsyncExitStack()
        self._executor: Executor | None = None
        self._open_lock = asyncio.Lock()
        # In order of use, the most recent last.
        self._kept_branches: dict[str, None] = {}
        self._dropped_branches: set[str] = set()

    async def close(self) -> None:
        """End the sidecar."""
        await self._stack.aclose()

    async def run(self, cells: Sequence[str], start: str | None, homes: Sequence[str]) -> CellsRun:
        """Run cells in a new branch until one fails, and make that branch the current one.

        Raises InputError if there is no branch to start from, SidecarError if nothing can be run.
        """
        executor = await self._opened()
        start = start or self.current
        branch = await self._fork(executor, start)
        observations: list[Observation] = []
        try:
            if homes:
                await executor.run(branch, _FIND_LIBRARIES.format(homes=list(homes)))
            for cell in cells:
                observations.append(await executor.run(branch, cell))
                if not observations[-1].ran:
                    break
        except BaseException:
            await executor.drop(branch)
            raise
        await self._keep(executor, branch)
        return CellsRun(start, branch, tuple(observations))

    async def go_back(self, branch: str) -> tuple[Variable, ...]:
        """Make an earlier branch the current one, and return its variables.

        Raises InputError if it does not exist, SidecarError if it cannot be asked.
        """
        executor = await self._opened()
        try:
            variables = await executor.variables(branch)
        except BranchNotFound:
            raise self._not_there(branch) from None
        await self._keep(executor, branch)
        return variables

    async def _opened(self) -> Executor:
        async with self._open_lock:
            if self._executor is None:
                scratch = await self._stack.enter_async_context(await self._open_scratch())
                self._executor = scratch.executor
            return self._executor

    async def _fork(self, executor: Executor, start: str) -> str:
        try:
            return await executor.fork(start)
        except BranchNotFound:
            raise self._not_there(start) from None

    async def _keep(self, executor: Executor, branch: str) -> None:
        self.current = branch
        if branch == executor.root:
            return
        self._kept_branches.pop(branch, None)
        self._kept_branches[branch] = None
        while len(self._kept_branches) > self._most:
            oldest = next(iter(self._kept_branches))
            del self._kept_branches[oldest]
            self._dropped_branches.add(oldest)
            await executor.drop(oldest)

    def _not_there(self, branch: str) -> InputError:
        why = (
            f"The branch {branch!r} was dropped: the {self._most} that were used last are kept."
            if branch in self._dropped_branches
            else f"There is no branch {branch[:40]!r}."
        )
        return InputError(f"{why} There are: {', '.join([FRESH, *self._kept_branches])}.")
