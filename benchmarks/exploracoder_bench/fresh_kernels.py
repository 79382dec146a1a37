"""The other ways to try a candidate without touching a state: run everything before it again.

In a new ipykernel, or as a notebook with nbclient, which papermill uses too.
"""

from __future__ import annotations

import subprocess
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jupyter_client.manager import AsyncKernelManager

KERNEL_TIMEOUT_S = 120.0

# Seconds that a list of cells takes this way.
Way = Callable[[Sequence[str]], Awaitable[float]]


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
