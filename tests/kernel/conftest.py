"""Real sidecars, and a look at the process table."""

from __future__ import annotations

import asyncio
import contextlib
import os
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Callable, Collection, Iterator
from pathlib import Path
from typing import Any

import pytest
from exploracoder_kernel.branch.linux import descendants, processes
from exploracoder_kernel.executor import Executor
from exploracoder_kernel.kernel.remote import RemoteSidecar
from exploracoder_kernel.launch_command import Launcher
from exploracoder_kernel.sandbox import ChosenSandbox
from exploracoder_kernel.scratch import sweep
from exploracoder_kernel.sidecar import Sidecar
from exploracoder_kernel.user_kernel import attach
from jupyter_client.asynchronous.client import AsyncKernelClient
from jupyter_client.connect import write_connection_file
from waiting import PATIENCE_S


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """PyTorch is too large to be installed for tests: they run where somebody names one."""
    if os.environ.get("EXPLORACODER_TEST_TORCH"):
        return
    left_out = [item for item in items if item.get_closest_marker("torch")]
    config.hook.pytest_deselected(items=left_out)
    items[:] = [item for item in items if item not in left_out]


@pytest.fixture
def launcher(sandboxing: ChosenSandbox) -> Launcher:
    """Starts interpreters in the sandbox that the tests were asked to run in."""
    return sandboxing.launcher


@pytest.fixture(params=["fork", "replay"])
async def sidecar(
    request: pytest.FixtureRequest, tmp_path: Path, launcher: Launcher, strategy: str
) -> AsyncIterator[Sidecar]:
    """A sidecar, once with each strategy."""
    if strategy not in ("auto", request.param):
        pytest.skip(f"--strategy {strategy}")
    async with Sidecar(cwd=tmp_path, strategy=request.param, launcher=launcher) as fresh_sidecar:
        yield fresh_sidecar


@pytest.fixture
async def forking(tmp_path: Path, launcher: Launcher) -> AsyncIterator[Sidecar]:
    """A sidecar that chooses by itself."""
    async with Sidecar(cwd=tmp_path, launcher=launcher) as fresh_sidecar:
        yield fresh_sidecar


@pytest.fixture(scope="module")
def connection_file(request: pytest.FixtureRequest, start_kernel: Callable[..., str]) -> str:
    """A user's kernel, which a module's tests share, with what its ``DEFINED`` defines."""
    return start_kernel(request.module.DEFINED)


@pytest.fixture
async def client(connection_file: str) -> AsyncIterator[AsyncKernelClient]:
    """A client of the user's kernel."""
    async with attach(connection_file) as kernel_client:
        yield kernel_client


@pytest.fixture(scope="session")
def kernel_file(
    tmp_path_factory: pytest.TempPathFactory, sandboxing: ChosenSandbox
) -> Iterator[Path]:
    """The connection file of a kernel that tests share: each has branches of its own."""
    folder = tmp_path_factory.mktemp("kernel")
    file = folder / "kernel.json"
    write_connection_file(str(file), transport="ipc", ip=str(folder / "socket"), key=b"secret")
    options = ["-f", str(file), "--cwd", str(folder), "--sandbox", sandboxing.level]
    command = [sys.executable, "-m", "exploracoder_kernel.kernel", *options]
    with subprocess.Popen(command) as kernel:
        yield file
        kernel.terminate()


@contextlib.asynccontextmanager
async def attached(kernel_file: Path) -> AsyncIterator[RemoteSidecar]:
    """A client whose root is a fresh branch; when it leaves, the kernel is as it was."""
    async with RemoteSidecar(connection_file=kernel_file) as remote:
        pristine = remote.root
        remote.root = await remote.fork(pristine)
        yield remote
        for branch in await remote.tree():
            if branch.id != pristine:
                await remote.drop(branch.id)


@pytest.fixture(params=["fork", "replay", "kernel"])
async def executor(
    request: pytest.FixtureRequest, tmp_path: Path, launcher: Launcher, strategy: str
) -> AsyncIterator[Executor]:
    """Whatever runs code: a sidecar with each strategy, and one behind a kernel's protocol."""
    if strategy not in ("auto", request.param):
        pytest.skip(f"--strategy {strategy}")
    if request.param == "kernel":
        async with attached(request.getfixturevalue("kernel_file")) as remote:
            yield remote
        return
    async with Sidecar(cwd=tmp_path, strategy=request.param, launcher=launcher) as fresh_sidecar:
        yield fresh_sidecar


@pytest.fixture(scope="session")
def plain_python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An interpreter in which nothing is installed."""
    folder = tmp_path_factory.mktemp("plain")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    return folder / "bin" / "python"


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder for temporary files of the test's own, in which nothing has been swept yet."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.setattr(tempfile, "tempdir", None)
    sweep.cache_clear()
    yield folder
    sweep.cache_clear()


class Screen:
    """A front end that keeps what it is shown and answers each question with the next line."""

    def __init__(self, *lines: str, allow_stdin: bool = True) -> None:
        self.allow_stdin = allow_stdin
        self.shown: list[dict[str, Any]] = []
        self.questions: list[tuple[str, bool]] = []
        self.has_changed = asyncio.Event()
        self._lines = list(lines)

    def output(self, message: dict[str, Any]) -> None:
        self.shown.append(message)
        self.has_changed.set()

    async def input(self, prompt: str, is_password: bool) -> str:
        self.questions.append((prompt, is_password))
        self.has_changed.set()
        if not self._lines:
            await asyncio.sleep(60)
        return self._lines.pop(0)

    def kinds(self) -> list[str]:
        return [str(message["output_type"]) for message in self.shown]

    def text(self, stream: str = "stdout") -> str:
        return "".join(m["text"] for m in self.shown if m.get("name") == stream)

    async def wait_for(self, condition: Callable[[], bool]) -> None:
        """Until what is shown or asked satisfies a condition."""

        async def wait() -> None:
            while not condition():
                self.has_changed.clear()
                await self.has_changed.wait()

        await asyncio.wait_for(wait(), PATIENCE_S)


@pytest.fixture
def new_screen() -> type[Screen]:
    """Makes front ends."""
    return Screen


@pytest.fixture
def screen() -> Screen:
    """A front end at which nobody answers."""
    return Screen()


def is_alive(pid: int) -> bool:
    """Whether a process of the machine runs; a zombie does not."""
    return any(process.pid == pid for process in processes())


def is_alive_in_sandbox(pid: int, besides: Collection[int] = ()) -> bool:
    """Whether a process that a sandbox of ours knows under this number runs.

    ``besides`` are processes, by the machine's numbers, that do not count.
    """
    ours = set(descendants([os.getpid()])) - set(besides)
    return any(_numbers(real)[1:][-1:] == [pid] for real in ours)


def _numbers(pid: int) -> list[int]:
    """A process's numbers, from the machine's down to that in its own sandbox."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return []
    entry = next((line for line in lines if line.startswith("NSpid:")), "")
    return [int(word) for word in entry.split()[1:]]


@pytest.fixture
def pid_is_alive(sandboxing: ChosenSandbox) -> Callable[[int], bool]:
    """Takes the number that a snippet sees; other tests' servers have sandboxes, too."""
    if sandboxing.mechanism != "bubblewrap":
        return is_alive
    before = frozenset(descendants([os.getpid()]))
    return lambda pid: is_alive_in_sandbox(pid, before)


@pytest.fixture
def is_alive_outside() -> Callable[[int], bool]:
    """Takes the number that the machine sees."""
    return is_alive
