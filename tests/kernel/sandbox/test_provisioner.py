"""Jupyter starts the kernel over private sockets, without secrets, with what its spec wants."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
from exploracoder_kernel.provisioner import SandboxProvisioner, front_environment
from exploracoder_kernel.sandbox import SandboxChoice
from jupyter_client.asynchronous.client import AsyncKernelClient
from jupyter_client.kernelspec import KernelSpec
from jupyter_client.manager import AsyncKernelManager
from jupyter_client.provisioning.factory import KernelProvisionerFactory

NAME = "exploracoder-sandbox"


def manager(**config: Any) -> AsyncKernelManager:
    """Of a kernel whose spec names the provisioner."""
    made = AsyncKernelManager()
    made._kernel_spec = KernelSpec(
        argv=["python", "-m", "exploracoder_kernel.kernel", "-f", "{connection_file}"],
        language="python",
        interrupt_mode="message",
        metadata={"kernel_provisioner": {"provisioner_name": NAME, "config": config}},
    )
    return made


@pytest.fixture
async def start(task: Path, sandboxing: SandboxChoice) -> AsyncIterator[Callable[..., Any]]:
    """Starts a kernel in the task's folder: its manager and a client that is ready."""
    opened: list[tuple[AsyncKernelManager, AsyncKernelClient]] = []

    async def started(
        made: AsyncKernelManager, **arguments: Any
    ) -> tuple[AsyncKernelManager, AsyncKernelClient]:
        await made.start_kernel(cwd=str(task), **arguments)
        client: AsyncKernelClient = made.client()  # type: ignore[assignment]
        client.start_channels()
        opened.append((made, client))
        await client.wait_for_ready(timeout=60)
        return made, client

    yield started
    for made, client in opened:
        client.stop_channels()
        await made.shutdown_kernel(now=True)


async def run(client: AsyncKernelClient, code: str) -> str:
    """What a cell prints."""
    shown: list[str] = []

    def note(message: dict[str, Any]) -> None:
        shown.append(message["content"].get("text", ""))

    await client.execute_interactive(code, output_hook=note, timeout=60)
    return "".join(shown).strip()


def test_it_is_found_by_its_name() -> None:
    factory = KernelProvisionerFactory.instance()

    assert factory.is_provisioner_available(manager().kernel_spec)


async def test_sockets_are_private_and_removed_afterwards(
    start: Callable[..., Any], sandboxing: SandboxChoice
) -> None:
    made, client = await start(manager(sandbox=sandboxing.level))
    folder = Path(made.ip).parent
    names = [path.name for path in folder.iterdir()]  # nothing waits

    said = await run(client, "print(open('input.txt').read())")
    client.stop_channels()
    await made.shutdown_kernel()

    assert made.transport == "ipc"
    assert len(f"{made.ip}-5") < 107
    assert len(names) == 5
    assert said == "given"
    assert not folder.exists()


async def test_a_restarted_kernel_keeps_its_sockets(
    start: Callable[..., Any], sandboxing: SandboxChoice
) -> None:
    made, client = await start(manager(sandbox=sandboxing.level))
    await run(client, "x = 1")

    await made.restart_kernel()
    await client.wait_for_ready(timeout=60)

    assert await run(client, "print('x' in globals())") == "False"


async def test_the_caller_overrides_the_spec_and_the_front_is_told(
    task: Path, start: Callable[..., Any]
) -> None:
    made, client = await start(manager(sandbox="strict", strategy="replay"), sandbox="off")

    command = made.provisioner.process.args
    said = await run(client, "import os; print(os.getcwd())")

    assert command[-4:] == ["--sandbox", "off", "--strategy", "replay"]
    assert said == str(task)


async def test_no_secret_is_in_the_fronts_environment(
    start: Callable[..., Any], sandboxing: SandboxChoice, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("OPENAI_API_KEY", "JUPYTER_TOKEN", "JPY_API_TOKEN", "SOMETHING"):
        monkeypatch.setenv(name, "sk-secret")

    made, _client = await start(manager(sandbox=sandboxing.level))

    environ = Path(f"/proc/{made.provisioner.pid}/environ").read_text()  # noqa: ASYNC240
    assert "sk-secret" not in environ
    assert "JPY_PARENT_PID" in environ


def test_jupyters_folders_pass_and_its_tokens_do_not() -> None:
    given = {"JUPYTER_DATA_DIR": "/d", "JUPYTER_PATH": "/p", "JPY_PARENT_PID": "1", "PATH": "/bin"}

    kept = front_environment({**given, "JUPYTER_TOKEN": "t", "JPY_AUTH": "a", "AWS_PROFILE": "x"})

    assert given.items() <= kept.items()
    assert not {"JUPYTER_TOKEN", "JPY_AUTH", "AWS_PROFILE"} & set(kept)


def test_a_level_that_there_is_not_is_refused() -> None:
    with pytest.raises(Exception, match="sandbox"):
        SandboxProvisioner(sandbox="strictest")
