"""Trying a candidate in a branch of a live state, against running everything before it again.

Run: ``python -m exploracoder_bench.branching``

    state    a fork and a trivial cell in it, with 0, 100 MB and 1 GB of state
    chain    steps with candidates each: every candidate runs in a fork of the chosen state so far
    sleep    candidates that sleep, all at once
    back     going back to any step of the chain: a fork of it

The other ways start a kernel for each candidate and run the steps before it again: a fresh
ipykernel, and nbclient, which papermill runs notebooks with too (papermill itself is not measured).
Times are medians; quote the ratios, and the load average that is printed with them.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from exploracoder_bench.markdown_table import markdown

if TYPE_CHECKING:
    from exploracoder_kernel.sandbox import Level
    from exploracoder_kernel.sidecar import Sidecar
    from jupyter_client.manager import AsyncKernelManager

SANDBOXES: tuple[Level, ...] = ("strict", "off")
SIZES_MB = (0, 100, 1000)
STEPS = 20
CANDIDATES = 5
SLEEP_S = 1.0
# Of what is quick.
ROUNDS = 5
KERNEL_TIMEOUT_S = 120.0
# Standard library only, so that a fresh kernel is ready as soon as possible.
CONTEXT = "import collections, json, statistics\nvalues = list(range(1000))\n"

# Seconds that a list of cells takes this way.
Way = Callable[[Sequence[str]], Awaitable[float]]


@dataclass(frozen=True, slots=True)
class Row:
    """Seconds per candidate, for one way.

    ``times_faster`` compares a branch with this way; None for branches themselves.
    """

    part: str
    what: str
    way: str
    seconds: float
    times_faster: float | None = None


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print a table."""
    argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    ).parse_args(arguments)
    before = os.getloadavg()[0]
    rows = asyncio.run(_measure())
    head = ("part", "what", "way", "for each", "branch is faster")
    print(markdown(head, map(_cells, rows)))
    print(f"\nPython {platform.python_version()}, processors {os.cpu_count()}", end=", ")
    print(f"load average before {before:.2f}, after {os.getloadavg()[0]:.2f}")
    return 0


async def _measure() -> list[Row]:
    others = {
        "fresh ipykernel": await _otherwise(in_fresh_kernel),
        "nbclient": await _otherwise(in_notebook),
    }
    rows: list[Row] = []
    for level in SANDBOXES:
        way = f"branch, sandbox {level}"
        for size in SIZES_MB:
            async with _opened(level) as sidecar:
                seconds = await _state(sidecar, size)
            rows += _compared("state", f"{size} MB", way, seconds, others)
        candidates = []
        for _ in range(ROUNDS):
            async with _opened(level) as sidecar:
                chain = Chain(sidecar)
                await chain.begin()
                candidates.append(await chain.explore() / (STEPS * CANDIDATES))
                forks = [statistics.median(times) for times in await chain.go_back()]
        rows += _compared("chain", _chain_of(), way, statistics.median(candidates), others)
        to = f"to any of {STEPS} steps"
        rows.append(Row("back", f"{to}, median", way, statistics.median(forks)))
        rows.append(Row("back", f"{to}, worst", way, max(forks)))
        async with _opened(level) as sidecar:
            slept = await _sleep(sidecar)
        rows.append(Row("sleep", f"{CANDIDATES} x {SLEEP_S:g} s at once", way, slept))
    return rows


async def _otherwise(way: Way) -> dict[str, float]:
    """Seconds per candidate in another way, by what is measured."""
    seconds = {_chain_of(): await chain_by(way)}
    for size in SIZES_MB:
        times = [await way([state_cell(size), "x = 1"]) for _ in range(ROUNDS)]
        seconds[f"{size} MB"] = statistics.median(times)
    return seconds


async def _state(sidecar: Sidecar, size: int) -> float:
    """Seconds of a fork of a state of that size and a cell in it."""
    seconds = []
    await Chain(sidecar).begin(state_cell(size))
    # The first fork after a large allocation splits its pages; it is not typical.
    for _ in range(4 * ROUNDS + 1):
        begin = time.perf_counter()
        branch = await sidecar.fork(sidecar.root)
        await sidecar.run(branch, "x = 1")
        seconds.append(time.perf_counter() - begin)
        await sidecar.drop(branch)
    return statistics.median(seconds[1:])


async def _sleep(sidecar: Sidecar) -> float:
    code, seconds = f"import time\ntime.sleep({SLEEP_S})", []
    for _ in range(ROUNDS):
        begin = time.perf_counter()
        await Chain(sidecar).candidates(sidecar.root, [code] * CANDIDATES)
        seconds.append(time.perf_counter() - begin)
    return statistics.median(seconds)


def _compared(
    part: str, what: str, way: str, own: float, others: Mapping[str, Mapping[str, float]]
) -> Iterator[Row]:
    """Our row, and one for each other way with how much faster ours is."""
    yield Row(part, what, way, own)
    for name, times in others.items():
        yield Row(part, what, name, times[what], times[what] / own)


@asynccontextmanager
async def _opened(level: Level) -> AsyncIterator[Sidecar]:
    from exploracoder_kernel.sandbox import choose
    from exploracoder_kernel.sidecar import Sidecar

    sandbox = choose(level, python=sys.executable, cwd=Path.cwd())
    async with Sidecar(sys.executable, launcher=sandbox.launcher) as sidecar:
        yield sidecar


def _cells(row: Row) -> tuple[str, ...]:
    faster = "" if row.times_faster is None else f"{row.times_faster:.0f} times"
    return row.part, row.what, row.way, _shown(row.seconds), faster


def _shown(seconds: float) -> str:
    return f"{seconds:.2f} s" if seconds >= 0.5 else f"{1000 * seconds:.3g} ms"


def _chain_of() -> str:
    return f"{STEPS} steps x {CANDIDATES} candidates"


def step(number: int) -> list[str]:
    """The candidates of a step; the chain continues from the first."""
    return [
        f"mean_{number} = statistics.mean(values) + {number + candidate}\nvalues.append({number})"
        for candidate in range(CANDIDATES)
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

    async def explore(self) -> float:
        """Seconds until all candidates of all steps have run and been decided on."""
        begin = time.perf_counter()
        branch = self._sidecar.root
        for number in range(STEPS):
            branch, *others = await self._tried(branch, step(number))
            for other in others:
                await self._sidecar.drop(other)
            self._branches.append(branch)
        return time.perf_counter() - begin

    async def candidates(self, parent: str, codes: Sequence[str]) -> None:
        """Run all candidates at once, then drop their branches."""
        for branch in await self._tried(parent, codes):
            await self._sidecar.drop(branch)

    async def go_back(self) -> list[list[float]]:
        """For each step, the seconds of forking its state, in each round."""
        times: list[list[float]] = []
        for number in range(len(self._branches)):
            # No nested comprehension: Python 3.10 allows ``await`` only in the outer one.
            times.append([await self._back(number) for _ in range(ROUNDS)])
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


async def chain_by(way: Way) -> float:
    """Seconds per candidate when everything before it runs again, one after another."""
    seconds = 0.0
    cells = [CONTEXT]
    for number in range(STEPS):
        candidates = step(number)
        for candidate in candidates:
            seconds += await way([*cells, candidate])
        cells.append(candidates[0])
    return seconds / (STEPS * CANDIDATES)


async def in_fresh_kernel(cells: Sequence[str]) -> float:
    """Seconds from starting a kernel to its last answer; ending it is not counted.

    Raises RuntimeError when a cell does not run.
    """
    begin = time.perf_counter()
    async with _kernel() as manager:
        await manager.start_kernel(stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        client = manager.client()
        client.start_channels()
        try:
            await client.wait_for_ready(timeout=KERNEL_TIMEOUT_S)
            for code in cells:
                reply = await client.execute_interactive(
                    code, timeout=KERNEL_TIMEOUT_S, output_hook=lambda message: None
                )
                require(reply["content"]["status"] == "ok", code)
            return time.perf_counter() - begin
        finally:
            client.stop_channels()


async def in_notebook(cells: Sequence[str]) -> float:
    """Seconds to run the cells as a notebook with nbclient, which ends its kernel itself.

    Raises RuntimeError when a cell does not run.
    """
    from nbclient import NotebookClient
    from nbclient.exceptions import CellExecutionError
    from nbformat import v4

    begin = time.perf_counter()
    notebook = v4.new_notebook(cells=[v4.new_code_cell(code) for code in cells])
    async with _kernel() as manager:
        client = NotebookClient(
            notebook, km=manager, timeout=int(KERNEL_TIMEOUT_S), shutdown_kernel="immediate"
        )
        try:
            await client.async_execute(
                cleanup_kc=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
            )
        except CellExecutionError as error:
            raise RuntimeError(_nothing_measured(str(error))) from error
        return time.perf_counter() - begin


@asynccontextmanager
async def _kernel() -> AsyncIterator[AsyncKernelManager]:
    """A kernel to start, on IPC sockets: ports may be taken before it binds them."""
    from jupyter_client.manager import AsyncKernelManager

    with tempfile.TemporaryDirectory(prefix="exploracoder-") as folder:
        manager = AsyncKernelManager(kernel_name="python3", transport="ipc", ip=f"{folder}/s")
        try:
            yield manager
        finally:
            if manager.has_kernel:
                await manager.shutdown_kernel(now=True)


def require(has_run: bool, code: str) -> None:
    """Raise RuntimeError if a cell did not run."""
    if not has_run:
        raise RuntimeError(_nothing_measured(code))


def _nothing_measured(code: str) -> str:
    return f"This was to run and did not, so nothing was measured:\n{code}"


if __name__ == "__main__":
    sys.exit(main())
