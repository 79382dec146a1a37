"""The client of a kernel that a Jupyter server's own manager has started."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from exploracoder_kernel.errors import SidecarError
from exploracoder_kernel.kernel.remote import RemoteSidecar
from jupyter_server.services.kernels.kernelmanager import AsyncMappingKernelManager


@pytest.fixture
async def kernels(tmp_path: Path) -> AsyncIterator[AsyncMappingKernelManager]:
    """A manager as a server has it; kernels that die are started again."""
    manager = AsyncMappingKernelManager(root_dir=str(tmp_path))
    yield manager
    await manager.shutdown_all(now=True)


def front(kernels: AsyncMappingKernelManager, kernel_id: str) -> int:
    provisioner: Any = kernels.get_kernel(kernel_id).provisioner
    return int(provisioner.pid)


async def test_two_clients_of_one_kernel_do_not_take_each_others_replies(
    kernels: AsyncMappingKernelManager,
) -> None:
    kernel_id = await kernels.start_kernel(kernel_name="exploracoder", path="")
    kernel = kernels.get_kernel(kernel_id)

    async with (
        RemoteSidecar(client=kernel.client()) as one,
        RemoteSidecar(client=kernel.client()) as two,
    ):
        branches = [await one.fork(one.root), await two.fork(two.root)]
        work = [one.run(branches[0], "'one'"), two.run(branches[1], "'two'")]
        observations = await asyncio.wait_for(asyncio.gather(*work), 20)

    assert [observation.result for observation in observations] == ["'one'", "'two'"]


async def test_a_kernel_that_dies_and_is_started_again_is_lost_and_can_be_opened_anew(
    kernels: AsyncMappingKernelManager,
) -> None:
    kernel_id = await kernels.start_kernel(kernel_name="exploracoder", path="")
    before = front(kernels, kernel_id)
    losses: list[str] = []
    client = kernels.get_kernel(kernel_id).client()
    async with RemoteSidecar(client=client, on_lost=losses.append) as remote:
        await remote.run(remote.root, "x = 1")
        running = asyncio.create_task(remote.run(remote.root, "while True: pass"))
        await asyncio.sleep(0.3)

        os.kill(before, signal.SIGKILL)

        with pytest.raises(SidecarError, match="kernel"):
            await asyncio.wait_for(running, 20)
    assert len(losses) == 1

    for _attempt in range(200):
        if await kernels.is_alive(kernel_id) and front(kernels, kernel_id) != before:
            break
        await asyncio.sleep(0.1)
    async with RemoteSidecar(client=kernels.get_kernel(kernel_id).client()) as again:
        observation = await again.run(again.root, "x")

    assert observation.error is not None
    assert observation.error.ename == "NameError"
