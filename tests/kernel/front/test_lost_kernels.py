"""A client is told when its kernel can't be asked any more, and nobody waits in vain."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from exploracoder_kernel.errors import SidecarError
from exploracoder_kernel.kernel import kernel_client
from exploracoder_kernel.kernel.remote import RemoteSidecar
from jupyter_client.asynchronous.client import AsyncKernelClient
from jupyter_client.connect import write_connection_file
from jupyter_client.manager import AsyncKernelManager

Manager = AsyncKernelManager

# An orderly shutdown interrupts first, and what lets itself be interrupted may still be answered.
STUBBORN = """
while True:
    try:
        while True:
            pass
    except KeyboardInterrupt:
        pass
"""


@pytest.fixture
async def manager(tmp_path: Path) -> AsyncIterator[Manager]:
    """Of a kernel that runs."""
    kernel_manager = AsyncKernelManager(kernel_name="exploracoder")
    await kernel_manager.start_kernel(cwd=str(tmp_path))
    yield kernel_manager
    if kernel_manager.has_kernel:
        await kernel_manager.shutdown_kernel(now=True)


def client_of(manager: Manager) -> Any:
    return manager.client()


async def kill(manager: Manager) -> None:
    os.kill(front(manager), signal.SIGKILL)


async def restart(manager: Manager) -> None:
    await manager.restart_kernel()


async def restart_at_once(manager: Manager) -> None:
    await manager.restart_kernel(now=True)


async def shut_down(manager: Manager) -> None:
    await manager.shutdown_kernel()


def front(manager: Manager) -> int:
    assert manager.provisioner is not None
    return int(manager.provisioner.pid)  # type: ignore[attr-defined]


@pytest.mark.parametrize("end", [kill, restart, restart_at_once, shut_down])
async def test_whoever_waits_is_told_soon_and_once_and_nothing_can_be_asked_any_more(
    manager: Manager,
    end: Callable[[Manager], Awaitable[None]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(kernel_client, "_MOST_MISSED", 1000)  # it is noticed before
    losses: list[str] = []
    async with RemoteSidecar(client=client_of(manager), on_lost=losses.append) as remote:
        running = asyncio.create_task(remote.run(remote.root, STUBBORN))
        await asyncio.sleep(0.3)

        await end(manager)

        with pytest.raises(SidecarError, match="kernel"):
            await asyncio.wait_for(running, 60)
        with pytest.raises(SidecarError, match="kernel"):
            await asyncio.wait_for(remote.run(remote.root, "1"), 20)
        await asyncio.sleep(2.5)

    assert len(losses) == 1


async def test_leaving_is_no_loss(manager: Manager) -> None:
    losses: list[str] = []

    async with RemoteSidecar(client=client_of(manager), on_lost=losses.append):
        pass

    assert losses == []


async def test_leaving_ends_also_when_the_kernel_has_just_been_looked_at(
    manager: Manager, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kernel_client, "_LOOK_SECONDS", 0)
    for turns in range(8):  # of the event loop; a look takes fewer
        remote = RemoteSidecar(client=client_of(manager))
        await remote.__aenter__()
        for _ in range(turns):
            await asyncio.sleep(0)

        leaving = asyncio.create_task(remote.__aexit__(None, None, None))
        done, _ = await asyncio.wait({leaving}, timeout=10)

        assert done, turns


async def test_a_client_that_has_lost_its_kernel_is_followed_by_another(manager: Manager) -> None:
    async with RemoteSidecar(client=client_of(manager)) as remote:
        await remote.run(remote.root, "x = 1")
        await manager.restart_kernel()

    async with RemoteSidecar(client=client_of(manager)) as again:
        observation = await again.run(again.root, "x")

    assert observation.error is not None
    assert observation.error.ename == "NameError"


@contextlib.contextmanager
def started(file: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A kernel that listens where the file says."""
    command = [sys.executable, "-m", "exploracoder_kernel.kernel", "-f", str(file)]
    with subprocess.Popen(command) as kernel:
        yield kernel
        kernel.kill()


async def test_a_kernel_in_the_place_of_another_is_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kernel_client, "_MOST_MISSED", 1000)  # it is there again before that
    file = tmp_path / "kernel.json"
    write_connection_file(str(file), key=b"secret")
    losses: list[str] = []
    with started(file) as first:
        async with RemoteSidecar(connection_file=file, on_lost=losses.append) as remote:
            first.kill()
            first.wait()
            with started(file), pytest.raises(SidecarError, match="started again"):
                await asyncio.wait_for(remote.run(remote.root, "1"), 30)

    assert len(losses) == 1


async def test_a_kernel_that_stands_still_is_lost_after_some_unanswered_pings(
    manager: Manager, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kernel_client, "_LOOK_SECONDS", 0.2)
    client: AsyncKernelClient = client_of(manager)
    async with RemoteSidecar(client=client) as remote:
        os.kill(front(manager), signal.SIGSTOP)
        try:
            with pytest.raises(SidecarError, match="does not answer any more"):
                await asyncio.wait_for(remote.measure(), 20)
        finally:
            os.kill(front(manager), signal.SIGCONT)
