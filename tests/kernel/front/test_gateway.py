"""A kernel behind a gateway is asked like any other: with a real Jupyter server as the gateway."""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
from exploracoder_kernel.errors import SidecarError
from exploracoder_kernel.kernel.remote import RemoteSidecar
from exploracoder_kernel.observation import CellRun
from exploracoder_kernel.run_limits import Limits
from jupyter_server.gateway.gateway_client import GatewayClient
from jupyter_server.gateway.managers import GatewayMappingKernelManager
from ports import free_port
from waiting import wait_until

pytestmark = pytest.mark.thorough

TOKEN = "a-token-that-the-gateway-asks-for"
WIDGET = "import comm; opened = comm.create_comm(target_name='t', data={}, buffers=[b'raw'])"


def is_open(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@pytest.fixture(scope="module")
def gateway(tmp_path_factory: pytest.TempPathFactory, jupyter_home: Path) -> Iterator[str]:
    """The address of a server that starts our kernel for others."""
    port = free_port()
    options = {
        "ServerApp.port": port,
        "ServerApp.port_retries": 0,
        "ServerApp.root_dir": tmp_path_factory.mktemp("gateway"),
        "ServerApp.disable_check_xsrf": True,
        "ServerApp.jpserver_extensions": "{}",
        "IdentityProvider.token": TOKEN,
    }
    command = [sys.executable, "-m", "jupyter_server", "--no-browser", "--allow-root"]
    command += [f"--{name}={value}" for name, value in options.items()]
    with subprocess.Popen(command, env=dict(os.environ)) as server:
        try:
            wait_until(lambda: is_open(port))
            yield f"http://127.0.0.1:{port}"
        finally:
            server.terminate()


@pytest.fixture
async def kernels(gateway: str) -> AsyncIterator[GatewayMappingKernelManager]:
    """The kernel manager of a server that asks the gateway for its kernels."""
    GatewayClient.clear_instance()
    client = GatewayClient.instance()
    client.url, client.auth_token = gateway, TOKEN
    manager = GatewayMappingKernelManager()
    yield manager
    await manager.shutdown_all()
    GatewayClient.clear_instance()


async def started(kernels: GatewayMappingKernelManager) -> tuple[str, Any]:
    """The id of a new kernel, and a client of it."""
    kernel_id = await kernels.start_kernel(kernel_name="exploracoder")
    return kernel_id, kernels.get_kernel(kernel_id).client()


async def test_branches_run_there_and_limits_hold(kernels: GatewayMappingKernelManager) -> None:
    _id, client = await started(kernels)
    async with RemoteSidecar(client=client) as remote:
        await remote.run(remote.root, "x = 41")
        branches = [await remote.fork(remote.root) for _ in range(2)]
        observations = await asyncio.gather(
            *(remote.run(branch, "x += 1; x") for branch in branches)
        )
        late = await remote.run(branches[0], "while True: pass", Limits(wall_seconds=0.3))
        root = await remote.run(remote.root, "x")

    assert [one.result for one in observations] == ["42", "42"]
    assert late.status == "timeout"
    assert root.result == "41"


async def test_a_cell_run_by_hand_is_told_also_when_it_opens_a_widget(
    kernels: GatewayMappingKernelManager,
) -> None:
    kernel_id, client = await started(kernels)
    cell_runs: asyncio.Queue[CellRun] = asyncio.Queue()
    async with RemoteSidecar(client=client, on_cell_run=cell_runs.put_nowait) as remote:
        await remote.bind({"s1": remote.root})

        notebook = kernels.get_kernel(kernel_id).client()
        async with RemoteSidecar(client=notebook) as other:
            cell = {"code": WIDGET}
            metadata = {"exploracoder": {"subtask": "s1", "role": "candidate"}}
            await other._talk.request("execute_request", cell, metadata=metadata, channel="shell")
        run = await asyncio.wait_for(cell_runs.get(), 10)
        after = await remote.run(run.branch, "opened is not None")

    assert (run.subtask, run.observation.status) == ("s1", "ok")
    assert after.result == "True"


async def test_waiting_for_a_reply_leaves_the_event_loop_at_rest(
    kernels: GatewayMappingKernelManager,
) -> None:
    _id, client = await started(kernels)
    async with RemoteSidecar(client=client) as remote:
        cpu_seconds = time.process_time()
        await remote.run(remote.root, "import time; time.sleep(2)")
        cpu_seconds = time.process_time() - cpu_seconds

    assert cpu_seconds < 0.5


async def test_a_restart_is_noticed(kernels: GatewayMappingKernelManager) -> None:
    kernel_id, client = await started(kernels)
    losses: list[str] = []
    async with RemoteSidecar(client=client, on_lost=losses.append) as remote:
        running = asyncio.create_task(remote.run(remote.root, "while True: pass"))
        await asyncio.sleep(0.3)

        await kernels.restart_kernel(kernel_id)

        with pytest.raises(SidecarError, match="kernel"):
            await asyncio.wait_for(running, 20)

    assert len(losses) == 1


async def test_a_gateway_that_does_not_know_us_is_an_error_that_says_so(
    kernels: GatewayMappingKernelManager,
) -> None:
    _id, client = await started(kernels)
    GatewayClient.instance().auth_token = "another"

    with pytest.raises(SidecarError, match="gateway can't be reached"):
        async with RemoteSidecar(client=client):
            pass

    GatewayClient.instance().auth_token = TOKEN
