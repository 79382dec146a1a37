"""Copies of variables do not outlive whoever brought them, however that process ended."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from exploracoder_kernel.scratch import sweep

OWN = """
import os
from exploracoder_kernel.variable_transfer import OwnVariables

secret = "what a person works with"
source = OwnVariables(["secret"])
os.kill(os.getpid(), 9)
"""

OF_A_KERNEL = """
import asyncio, os, sys
from exploracoder_kernel.pickled_variables import PickleRequest
from exploracoder_kernel.user_kernel import UserKernel, attach

async def main():
    async with attach(sys.argv[1]) as client:
        kernel = UserKernel(client)
        await kernel.evaluate(f"owners.append({os.getpid()})")
        await kernel.pickle(
            PickleRequest(names=("secret", "last"), python="3.0", limit_bytes=1_000_000)
        )

asyncio.run(main())
"""

VARIABLES = """
import os
secret = "what a person works with" * 10_000
owners = []
class Last:
    def __reduce__(self):
        os.kill(owners[0], 9)
        return list, ()
last = Last()
"""


def test_what_a_killed_process_had_a_kernel_write_is_removed_at_the_next_start(
    temporary: Path, start_kernel: Callable[..., str]
) -> None:
    process = _run(OF_A_KERNEL, start_kernel(VARIABLES))
    leftovers = [path for path in temporary.rglob("variables") if path.stat().st_size]
    modes = [path.stat().st_mode & 0o077 for path in (*temporary.iterdir(), *leftovers)]

    sweep()

    assert process.returncode == -signal.SIGKILL
    assert len(leftovers) == 1, "it was killed while they were there"
    assert modes == [0, 0]
    assert list(temporary.iterdir()) == []


def test_copies_of_own_variables_have_no_name(temporary: Path) -> None:
    process = _run(OWN)

    assert process.returncode == -signal.SIGKILL
    assert list(temporary.iterdir()) == []


def _run(script: str, *words: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([sys.executable, "-c", script, *words], check=False, timeout=120)
