"""Running all candidates of an exploration: forks of a live state against fresh kernels.

The other way to try a candidate safely is a new Jupyter kernel, in which the accepted steps so far
run again before it.
"""

from __future__ import annotations

import asyncio
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING

from exploracoder_kernel.sidecar import Sidecar

from exploracoder_bench.six_steps import Step

if TYPE_CHECKING:
    from jupyter_client.asynchronous.client import AsyncKernelClient

KERNEL_TIMEOUT_S = 60.0


@dataclass(frozen=True, slots=True)
class CandidateTimes:
    """Wall seconds for all candidates, each the median of the rounds.

    ``sidecar_started`` counts the sidecar's start and the context too, which happen once.
    ``fresh`` starts one kernel after another, ``fresh_together`` those of a step at once.
    """

    sidecar: float
    sidecar_started: float
    fresh: float
    fresh_together: float


def measure(context: str, steps: Sequence[Step], *, rounds: int) -> CandidateTimes:
    """Run all candidates each way, ``rounds`` times, the ways taking turns."""
    live, started, fresh, together = [], [], [], []
    for _ in range(rounds):
        start, run = asyncio.run(_in_sidecar(context, steps))
        live.append(run)
        started.append(start + run)
        fresh.append(asyncio.run(_in_fresh_kernels(context, steps, at_once=1)))
        together.append(asyncio.run(_in_fresh_kernels(context, steps, at_once=3)))
    return CandidateTimes(*(statistics.median(each) for each in (live, started, fresh, together)))


async def _in_sidecar(context: str, steps: Sequence[Step]) -> tuple[float, float]:
    """Seconds until the context has run, and seconds for all candidates after that."""
    begin = time.perf_counter()
    async with Sidecar(sys.executable) as sidecar:
        _require((await sidecar.run(sidecar.root, context)).ran, context)
        ready = time.perf_counter()
        branch = await sidecar.fork(sidecar.root)
        for step in steps:
            forks = await asyncio.gather(*(_try(sidecar, branch, one) for one in step.candidates))
            await sidecar.drop(branch)
            branch, *others = forks
            for other in others:
                await sidecar.drop(other)
        done = time.perf_counter()
    return ready - begin, done - ready


async def _try(sidecar: Sidecar, parent: str, code: str) -> str:
    branch = await sidecar.fork(parent)
    _require((await sidecar.run(branch, code)).ran, code)
    return branch


async def _in_fresh_kernels(context: str, steps: Sequence[Step], *, at_once: int) -> float:
    """Seconds until all candidates have answered; ending the kernels is not counted."""
    seconds = 0.0
    prefix = [context]
    for step in steps:
        for first in range(0, len(step.candidates), at_once):
            batch = step.candidates[first : first + at_once]
            async with AsyncExitStack() as kernels:
                begin = time.perf_counter()
                await asyncio.gather(*(_in_fresh_kernel([*prefix, one], kernels) for one in batch))
                seconds += time.perf_counter() - begin
        prefix.append(step.candidates[0])
    return seconds


async def _in_fresh_kernel(cells: Sequence[str], kernels: AsyncExitStack) -> None:
    from jupyter_client.manager import AsyncKernelManager

    manager = AsyncKernelManager(kernel_name="python3")
    # Each kernel would warn that its TCP is not encrypted.
    await manager.start_kernel(stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    kernels.push_async_callback(manager.shutdown_kernel, now=True)
    client = manager.client()
    client.start_channels()
    kernels.callback(client.stop_channels)
    await client.wait_for_ready(timeout=KERNEL_TIMEOUT_S)
    for cell in cells:
        await _execute(client, cell)


async def _execute(client: AsyncKernelClient, code: str) -> None:
    reply = await client.execute_interactive(
        code, timeout=KERNEL_TIMEOUT_S, output_hook=lambda message: None
    )
    _require(reply["content"]["status"] == "ok", code)


def _require(ran: bool, code: str) -> None:
    if not ran:
        raise RuntimeError(f"This was to run and did not, so nothing was measured:\n{code}")
