"""A chain of steps with candidates, as an exploration runs it, and in the other ways."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from exploracoder_bench.fresh_kernels import Way, require

if TYPE_CHECKING:
    from exploracoder_kernel.sidecar import Sidecar

# Standard library only, so that a fresh kernel is ready as soon as possible.
CONTEXT = "import collections, json, statistics\nvalues = list(range(1000))\n"


@dataclass(frozen=True, slots=True)
class Shape:
    """How many steps, and candidates for each."""

    steps: int
    candidates: int

    def step(self, number: int) -> list[str]:
        """The candidates of a step; the chain continues from the first."""
        return [
            f"mean_{number} = statistics.mean(values) + {number + candidate}\n"
            f"values.append({number})"
            for candidate in range(self.candidates)
        ]


def state_cell(megabytes: int) -> str:
    """A cell that makes a state of that size, every page of it written."""
    return f"state = bytearray(b'x') * {megabytes * 1_000_000}" if megabytes else "state = None"


class Chain:
    """Runs steps in a sidecar, and keeps the branch of every step."""

    def __init__(self, sidecar: Sidecar) -> None:
        self._sidecar = sidecar
        self._branches: list[str] = []

    async def begin(self, code: str = CONTEXT) -> None:
        """Run what comes before the first step."""
        require((await self._sidecar.run(self._sidecar.root, code)).ran, code)

    async def explore(self, shape: Shape) -> float:
        """Seconds until all candidates of all steps have run and been decided on."""
        begin = time.perf_counter()
        branch = self._sidecar.root
        for number in range(shape.steps):
            branch, *others = await self._tried(branch, shape.step(number))
            for other in others:
                await self._sidecar.drop(other)
            self._branches.append(branch)
        return time.perf_counter() - begin

    async def candidates(self, parent: str, codes: Sequence[str]) -> None:
        """Run all candidates at once, then drop their branches."""
        for branch in await self._tried(parent, codes):
            await self._sidecar.drop(branch)

    async def go_back(self, rounds: int) -> list[list[float]]:
        """For each step, ``rounds`` times in seconds of forking its state."""
        times: list[list[float]] = []
        for number in range(len(self._branches)):
            # No nested comprehension: Python 3.10 allows ``await`` only in the outer one.
            times.append([await self._back(number) for _ in range(rounds)])
        return times

    async def _back(self, number: int) -> float:
        code = f"assert values[-1] == {number}"
        begin = time.perf_counter()
        branch = await self._sidecar.fork(self._branches[number])
        seconds = time.perf_counter() - begin
        require((await self._sidecar.run(branch, code)).ran, code)
        await self._sidecar.drop(branch)
        return seconds

    async def _tried(self, parent: str, codes: Sequence[str]) -> list[str]:
        return list(await asyncio.gather(*(self._try(parent, code) for code in codes)))

    async def _try(self, parent: str, code: str) -> str:
        branch = await self._sidecar.fork(parent)
        require((await self._sidecar.run(branch, code)).ran, code)
        return branch


async def chain_by(way: Way, shape: Shape) -> float:
    """Seconds per candidate when everything before it runs again, one after another."""
    seconds = 0.0
    cells = [CONTEXT]
    for number in range(shape.steps):
        candidates = shape.step(number)
        for candidate in candidates:
            seconds += await way([*cells, candidate])
        cells.append(candidates[0])
    return seconds / (shape.steps * shape.candidates)
