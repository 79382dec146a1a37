"""The numbers of processes begin anew in a sandbox that has had all of them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from exploracoder_kernel import sandbox
from exploracoder_kernel.branch.linux import descendants
from exploracoder_kernel.sandbox import bubblewrap
from exploracoder_kernel.sidecar import Sidecar

pytestmark = pytest.mark.skipif(bubblewrap.find() is None, reason="bubblewrap is not installed")

STARTS = """
import os, subprocess
left = [subprocess.Popen(["sleep", "60"], start_new_session=number % 2 == 0) for number in range(4)]
hit = []
for target in (targets["root"], targets["other"], os.getppid()):
    for kill in (os.kill, os.killpg):
        try:
            kill(target, 0)
            hit.append(target)
        except OSError:
            pass
hit
"""


def keeper() -> int:
    """The first process of the sandbox that this process has started."""
    for pid in descendants([os.getpid()]):
        status = Path(f"/proc/{pid}/status").read_text().splitlines()
        numbers = next(line.split()[1:] for line in status if line.startswith("NSpid:"))
        if numbers[1:] == ["1"]:
            return pid
    raise LookupError("There is no sandbox.")


def jump_to_the_last_number() -> None:
    """Let the next processes of the sandbox have the highest numbers, and those after them low."""
    command = ["nsenter", "--target", str(keeper()), "--pid", "sh", "-c"]
    jump = "echo $(($(cat /proc/sys/kernel/pid_max) - 8)) > /proc/sys/kernel/ns_last_pid"
    process = subprocess.run([*command, jump], capture_output=True, text=True)
    if process.returncode:
        pytest.skip(f"only the superuser can set a process's number: {process.stderr.strip()}")


async def test_a_branch_reaches_no_other_when_numbers_begin_anew(tmp_path: Path) -> None:
    choice = sandbox.choose(
        "strict", python=sys.executable, cwd=tmp_path, mechanisms=("bubblewrap",)
    )
    async with Sidecar(cwd=tmp_path, launcher=choice.launcher) as sidecar:
        root = (await sidecar.run(sidecar.root, "import os; os.getpid()")).result
        other = await sidecar.fork(sidecar.root)
        beside = (await sidecar.run(other, "kept = 1; os.getpid()")).result
        await sidecar.run(sidecar.root, f"targets = {{'root': {root}, 'other': {beside}}}")
        jump_to_the_last_number()

        numbers, hits = [], []
        for _ in range(5):
            branch = await sidecar.fork(sidecar.root)
            numbers.append(int((await sidecar.run(branch, "os.getpid()")).result or 0))
            hits.append((await sidecar.run(branch, STARTS)).result)
            if len(hits) % 2:
                await sidecar.drop(branch)

        assert max(numbers) > 1000 + min(numbers)
        assert hits == ["[]"] * 5
        assert (await sidecar.run(other, "kept")).result == "1"
        assert {info.created for info in sidecar.tree()} == {"root", "fork"}
