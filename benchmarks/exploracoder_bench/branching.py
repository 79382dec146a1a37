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
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from exploracoder_bench.branch_chain import Chain, Shape, chain_by, state_cell
from exploracoder_bench.fresh_kernels import Way, in_fresh_kernel, in_notebook
from exploracoder_bench.markdown_table import markdown

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from exploracoder_kernel.sidecar import Sidecar

WAYS: dict[str, Way] = {"fresh ipykernel": in_fresh_kernel, "nbclient": in_notebook}


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
    options = _parser().parse_args(arguments)
    before = os.getloadavg()
    rows = asyncio.run(_measure(options))
    head = ("part", "what", "way", "for each", "branch is faster")
    print(markdown(head, map(_cells, rows)))
    about = _about(before)
    print("\n" + ", ".join(f"{name} {value}" for name, value in about.items()))
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--sandbox", default="strict,off", help="levels, separated by commas; default: %(default)s")
    add("--sizes", default="0,100,1000", metavar="MB,…", help="of state; default: %(default)s")
    add("--steps", type=int, default=20, metavar="N", help="of the chain; default: %(default)s")
    add("--candidates", type=int, default=5, metavar="N", help="a step; default: %(default)s")
    add("--sleep", type=float, default=1.0, metavar="S", help="default: %(default)g")
    add("--rounds", type=int, default=5, metavar="N", help="of what is quick; default: %(default)s")
    return parser


async def _measure(options: argparse.Namespace) -> list[Row]:
    sizes = [int(size) for size in options.sizes.split(",")]
    shape = Shape(options.steps, options.candidates)
    others = {
        name: {
            "chain": await chain_by(way, shape),
            **{str(size): await _fresh_state(way, size, options.rounds) for size in sizes},
        }
        for name, way in WAYS.items()
    }
    rows = []
    for level in options.sandbox.split(","):
        for size in sizes:
            rows += await _state(level, size, options, others)
        rows += await _chain_and_back(level, shape, options, others)
        rows.append(await _sleep(level, options))
    return rows


async def _state(
    level: str, size: int, options: argparse.Namespace, others: dict[str, dict[str, float]]
) -> list[Row]:
    """Time a fork of a state of that size and a cell in it, repeatedly."""
    seconds = []
    async with _opened(level) as sidecar:
        await Chain(sidecar).begin(state_cell(size))
        # The first fork after a large allocation splits its pages; it is not typical.
        for _ in range(4 * options.rounds + 1):
            begin = time.perf_counter()
            branch = await sidecar.fork(sidecar.root)
            await sidecar.run(branch, "x = 1")
            seconds.append(time.perf_counter() - begin)
            await sidecar.drop(branch)
    return list(
        _compared("state", f"{size} MB", level, statistics.median(seconds[1:]), others, size)
    )


async def _fresh_state(way: Way, size: int, rounds: int) -> float:
    return statistics.median([await way([state_cell(size), "x = 1"]) for _ in range(rounds)])


async def _chain_and_back(
    level: str, shape: Shape, options: argparse.Namespace, others: dict[str, dict[str, float]]
) -> list[Row]:
    seconds = []
    for _ in range(options.rounds):
        async with _opened(level) as sidecar:
            chain = Chain(sidecar)
            await chain.begin()
            seconds.append(await chain.explore(shape) / (shape.steps * shape.candidates))
            times = await chain.go_back(options.rounds)
    what = f"{shape.steps} steps x {shape.candidates} candidates"
    rows = list(_compared("chain", what, level, statistics.median(seconds), others, "chain"))
    steps = f"to any of {shape.steps} steps"
    forks = [statistics.median(step) for step in times]
    way = _branch(level)
    return [
        *rows,
        Row("back", f"{steps}, median", way, statistics.median(forks)),
        Row("back", f"{steps}, worst", way, max(forks)),
    ]


async def _sleep(level: str, options: argparse.Namespace) -> Row:
    code, seconds = f"import time\ntime.sleep({options.sleep})", []
    async with _opened(level) as sidecar:
        for _ in range(options.rounds):
            begin = time.perf_counter()
            await Chain(sidecar).candidates(sidecar.root, [code] * options.candidates)
            seconds.append(time.perf_counter() - begin)
    what = f"{options.candidates} x {options.sleep:g} s at once"
    return Row("sleep", what, _branch(level), statistics.median(seconds))


def _compared(
    part: str, what: str, level: str, own: float, others: dict[str, dict[str, float]], key: object
) -> Iterator[Row]:
    """Our row, and one for each other way with how much faster ours is."""
    yield Row(part, what, _branch(level), own)
    for name, times in others.items():
        yield Row(part, what, name, times[str(key)], times[str(key)] / own)


@asynccontextmanager
async def _opened(level: str) -> AsyncIterator[Sidecar]:
    from exploracoder_kernel.sandbox import choose
    from exploracoder_kernel.sidecar import Sidecar

    sandbox_level: Any = level
    sandbox = choose(sandbox_level, python=sys.executable, cwd=Path.cwd())
    async with Sidecar(sys.executable, launcher=sandbox.launcher) as sidecar:
        yield sidecar


def _branch(level: str) -> str:
    return f"branch, sandbox {level}"


def _cells(row: Row) -> tuple[str, ...]:
    faster = "" if row.times_faster is None else f"{row.times_faster:.0f} times"
    return row.part, row.what, row.way, _shown(row.seconds), faster


def _shown(seconds: float) -> str:
    return f"{seconds:.2f} s" if seconds >= 0.5 else f"{1000 * seconds:.3g} ms"


def _about(before: tuple[float, float, float]) -> dict[str, str]:
    now = os.getloadavg()
    return {
        "Python": platform.python_version(),
        "processors": str(os.cpu_count()),
        "load average before": f"{before[0]:.2f}",
        "after": f"{now[0]:.2f}",
    }


if __name__ == "__main__":
    sys.exit(main())
