"""Jupyter starts the kernel over private sockets, without secrets, with what its spec wants."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
from exploracoder_kernel.provisioner import SandboxProvisioner, front_environment
from exploracoder_kernel.sandbox import ChosenSandbox
from jupyter_client.asynchronous.client import AsyncKernelClient
from jupyter_client.kernelspec import KernelSpec
from jupyter_client.manager import AsyncKernelManager
from jupyter_client.provisioning.factory import KernelProvisionerFactory
from traitlets import TraitError

NAME = "exploracoder-sandbox"


def manager(**config: Any) -> AsyncKernelManager:
    """Of a kernel whose spec names the provisioner."""
    kernel = AsyncKernelManager()
    kernel._kernel_spec = KernelSpec(
        argv=["python", "-m", "exploracoder_kernel.kernel", "-f", "{connection_file}"],
        language="python",
        interrupt_mode="message",
        metadata={"kernel_provisioner": {"provisioner_name": NAME, "config": config}},
    )
    return kernel


@pytest.fixture
async def start(task: Path, sandboxing: ChosenSandbox) -> AsyncIterator[Callable[..., Any]]:
    """Starts a kernel in the task's folder: its manager and a client that is ready."""
    kernels: list[tuple[AsyncKernelManager, AsyncKernelClient]] = []

    async def started(
        kernel: AsyncKernelManager, **arguments: Any
    ) -> tuple[AsyncKernelManager, AsyncKernelClient]:
        await kernel.start_kernel(cwd=str(task), **arguments)
        client: AsyncKernelClient = kernel.client()  # type: ignore[assignment]
        client.start_channels()
        kernels.append((kernel, client))
        await client.wait_for_ready(timeout=60)
        return kernel, client

    yield started
    for kernel, client in kernels:
        client.stop_channels()
        await kernel.shutdown_kernel(now=True)


async def run(client: AsyncKernelClient, code: str) -> str:
    """What a cell prints."""
    texts: list[str] = []

    def note(message: dict[str, Any]) -> None:
        texts.append(message["content"].get("text", ""))

    await client.execute_interactive(code, output_hook=note, timeout=60)
    return "".join(texts).strip()


def test_it_is_found_by_its_name() -> None:
    factory = KernelProvisionerFactory.instance()

    assert factory.is_provisioner_available(manager().kernel_spec)


async def test_sockets_are_private_and_removed_afterwards(
    start: Callable[..., Any], sandboxing: ChosenSandbox
) -> None:
    kernel, client = await start(manager(sandbox=sandboxing.level))
    folder = Path(kernel.ip).parent
    names = [path.name for path in folder.iterdir()]  # nothing waits

    output = await run(client, "print(open('input.txt').read())")
    client.stop_channels()
    await kernel.shutdown_kernel()

    assert kernel.transport == "ipc"
    assert len(f"{kernel.ip}-5") < 107
    assert len(names) == 5
    assert output == "given"
    assert not folder.exists()


async def test_a_restarted_kernel_keeps_its_sockets(
    start: Callable[..., Any], sandboxing: ChosenSandbox
) -> None:
    kernel, client = await start(manager(sandbox=sandboxing.level))
    await run(client, "x = 1")

    await kernel.restart_kernel()
    await client.wait_for_ready(timeout=60)

    assert await run(client, "print('x' in globals())") == "False"


async def test_the_caller_overrides_the_spec_and_the_front_is_told(
    task: Path, start: Callable[..., Any]
) -> None:
    kernel, client = await start(manager(sandbox="strict", strategy="replay"), sandbox="off")

    command = kernel.provisioner.process.args
    output = await run(client, "import os; print(os.getcwd())")

    assert command[-4:] == ["--sandbox", "off", "--strategy", "replay"]
    assert output == str(task)


async def test_no_secret_is_in_the_fronts_environment(
    start: Callable[..., Any], sandboxing: ChosenSandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("OPENAI_API_KEY", "JUPYTER_TOKEN", "JPY_API_TOKEN", "SOMETHING"):
        monkeypatch.setenv(name, "sk-secret")

    kernel, _client = await start(manager(sandbox=sandboxing.level))

    environ = Path(f"/proc/{kernel.provisioner.pid}/environ").read_text()  # noqa: ASYNC240
    assert "sk-secret" not in environ
    assert "JPY_PARENT_PID" in environ


def test_jupyters_folders_pass_and_its_tokens_do_not() -> None:
    variables = {
        "JUPYTER_DATA_DIR": "/d",
        "JUPYTER_PATH": "/p",
        "JPY_PARENT_PID": "1",
        "PATH": "/bin",
    }

    environment = front_environment(
        {**variables, "JUPYTER_TOKEN": "t", "JPY_AUTH": "a", "AWS_PROFILE": "x"}
    )

    assert variables.items() <= environment.items()
    assert not {"JUPYTER_TOKEN", "JPY_AUTH", "AWS_PROFILE"} & set(environment)


def test_a_level_that_there_is_not_is_refused() -> None:
    with pytest.raises(TraitError, match="sandbox"):
        SandboxProvisioner(sandbox="strictest")
