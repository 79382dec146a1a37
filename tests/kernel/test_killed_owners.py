"""Copies of variables do not outlive whoever brought them, however that process ended."""

from __future__ import annotations

import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from exploracoder_kernel.scratch import sweep

OWN = """
from exploracoder_kernel.carrying import OwnVariables

secret = "what a person works with"
source = OwnVariables(["secret"])
os.kill(os.getpid(), 9)
"""

OF_A_KERNEL = """
import asyncio, os, platform, sys
from exploracoder_kernel.user_kernel import UserKernel, attach

async def main():
    async with attach(sys.argv[1]) as client:
        kernel = UserKernel(client, busy_seconds=30, seconds=30)
        packed = kernel.packed(
            ["secret"], {}, python=platform.python_version(), limit_bytes=1_000_000
        )
        async with packed:
            os.kill(os.getpid(), 9)

asyncio.run(main())
"""


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


@pytest.mark.parametrize("script", [OWN, OF_A_KERNEL], ids=["own", "of a kernel"])
def test_what_a_killed_process_had_written_is_removed_at_the_next_start(
    script: str, temporary: Path, start_kernel: Callable[..., str]
) -> None:
    words = [start_kernel("secret = 'what a person works with'")] if script is OF_A_KERNEL else []
    killed = subprocess.run([sys.executable, "-c", script, *words], check=False, timeout=120)
    left = [path for path in temporary.rglob("variables") if path.stat().st_size]
    modes = [path.stat().st_mode & 0o077 for path in temporary.iterdir()]

    sweep()

    assert killed.returncode == -signal.SIGKILL
    assert len(left) == 1, "it was killed while they were there"
    assert modes == [0]
    assert list(temporary.iterdir()) == []
