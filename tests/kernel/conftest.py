"""Real sidecars, and a look at the process table."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest
from exploracoder_kernel.branch.linux import processes
from exploracoder_kernel.sidecar import Sidecar


@pytest.fixture(params=["fork", "replay"])
async def sidecar(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Sidecar]:
    """A sidecar, once with each strategy."""
    async with Sidecar(cwd=tmp_path, strategy=request.param) as opened:
        yield opened


@pytest.fixture
async def forking(tmp_path: Path) -> AsyncIterator[Sidecar]:
    """A sidecar that chooses by itself."""
    async with Sidecar(cwd=tmp_path) as opened:
        yield opened


def is_alive(pid: int) -> bool:
    """Whether a process runs; a zombie does not."""
    return any(process.pid == pid for process in processes())


@pytest.fixture
def wait_until() -> Callable[[Callable[[], bool]], bool]:
    """Wait up to five seconds for a condition."""

    def wait(condition: Callable[[], bool]) -> bool:
        deadline = time.monotonic() + 5
        while not condition() and time.monotonic() < deadline:
            time.sleep(0.01)
        return condition()

    return wait


@pytest.fixture
def pid_is_alive() -> Callable[[int], bool]:
    return is_alive
