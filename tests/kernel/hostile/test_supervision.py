"""What a branch may ask of the kernel where somebody supervises, and what the owner believes."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from exploracoder_kernel import sandbox
from exploracoder_kernel.connection import ProtocolError
from exploracoder_kernel.environment import clean_environment
from exploracoder_kernel.errors import SandboxUnavailable
from exploracoder_kernel.launch_command import Command, Setup, start
from exploracoder_kernel.launched_interpreters import LaunchSettings, open_launch
from exploracoder_kernel.presentation import CellRequest
from exploracoder_kernel.run import Run, cell_request
from exploracoder_kernel.run_limits import Limits
from exploracoder_kernel.sandbox import SandboxLimits, bubblewrap, seccomp
from exploracoder_kernel.sidecar import Sidecar

pytestmark = pytest.mark.skipif(bubblewrap.find() is None, reason="bubblewrap is not installed")

CALL = """
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
def call(number):
    answer = libc.syscall(number, -1, -1, -1, -1, -1, -1)
    return ctypes.get_errno() if answer == -1 else answer
"""


@pytest.fixture
async def confined(tmp_path: Path) -> AsyncIterator[Sidecar]:
    """A sidecar in the strict sandbox."""
    choice = sandbox.choose("strict", python=sys.executable, cwd=tmp_path)
    async with Sidecar(cwd=tmp_path, launcher=choice.launcher) as sidecar:
        yield sidecar


async def test_a_sandbox_is_supervised_and_says_so(confined: Sidecar) -> None:
    assert confined.is_supervised
    assert confined.not_supervised_because == ""


async def test_without_a_sandbox_nobody_supervises_and_it_says_why(tmp_path: Path) -> None:
    async with Sidecar(cwd=tmp_path) as sidecar:
        assert not sidecar.is_supervised
        assert sidecar.not_supervised_because == "not asked for"


async def test_forbidden_calls_are_refused_and_unknown_ones_are_not_there(
    confined: Sidecar,
) -> None:
    forbidden = [n for n in map(seccomp.number, seccomp.FORBIDDEN) if n is not None]
    unknown = [n for n in map(seccomp.number, seccomp.ABSENT) if n is not None] + [467, 5000]
    await confined.run(confined.root, CALL)

    observation = await confined.run(
        confined.root, f"{{call(n) for n in {forbidden}}}, {{call(n) for n in {unknown}}}"
    )

    assert observation.result == "({1}, {38})"


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="there are no such calls")
async def test_a_call_in_the_guise_of_another_architecture_ends_the_process(
    confined: Sidecar,
) -> None:
    await confined.run(confined.root, CALL)

    observation = await confined.run(confined.root, "call(0x40000000 + 39)")

    assert observation.status == "killed"
    assert observation.error is not None
    assert "SIGSYS" in observation.error.evalue


async def test_signals_reach_the_branchs_own_processes_and_no_others(confined: Sidecar) -> None:
    other = await confined.fork(confined.root)
    there = (await confined.run(other, "import os; os.getpid()")).result

    observation = await confined.run(
        confined.root,
        "import os, signal, subprocess\n"
        "child = subprocess.Popen(['sleep', '60'])\n"
        "away = subprocess.Popen(['sleep', '60'], start_new_session=True)\n"
        "child.terminate(); os.killpg(away.pid, signal.SIGKILL)\n"
        "codes = child.wait(), away.wait()\n"
        "refused = []\n"
        f"for pid in ({there}, os.getppid(), -1):\n"
        "    try:\n        os.kill(pid, 0)\n"
        "    except PermissionError:\n        refused.append(pid)\n"
        "try:\n    os.kill(30000, 0)\nexcept ProcessLookupError:\n    refused.append('nobody')\n"
        "codes, len(refused)",
    )

    assert observation.result == "((-15, -9), 4)"


async def test_processes_up_to_the_limit_may_be_started_one_after_another(
    confined: Sidecar,
) -> None:
    observation = await confined.run(
        confined.root,
        "import subprocess\n"
        "for _ in range(30):\n"
        "    pair = [subprocess.Popen(['true']) for _ in range(2)]\n"
        "    codes = [one.wait() for one in pair]\n"
        "codes",
        Limits(processes=3),
    )

    assert observation.result == "[0, 0]"
    assert observation.limits_hit == ()


async def test_a_fork_over_the_limit_is_refused_and_the_branch_lives_on(confined: Sidecar) -> None:
    observation = await confined.run(
        confined.root,
        "import subprocess\nstarted = []\n"
        "while True: started.append(subprocess.Popen(['sleep', '60']))",
        Limits(processes=5),
    )

    assert observation.status == "limit"
    assert observation.limits_hit == ("processes",)
    assert observation.error is not None
    assert observation.error.ename == "BlockingIOError"
    after = await confined.run(confined.root, "{one.wait() for one in started}, len(started)")
    assert after.result == "({-9}, 4)"


async def test_of_forks_without_an_end_none_is_left_when_the_cell_has_ended(
    confined: Sidecar,
) -> None:
    observation = await confined.run(confined.root, "import os\nwhile True: os.fork()")
    after = await confined.run(
        confined.root,
        "def is_alive(pid): return open(f'/proc/{pid}/stat').read().rpartition(')')[2][1] != 'Z'\n"
        "[pid for pid in os.listdir('/proc') if pid.isdigit() and is_alive(pid)]",
    )

    assert observation.limits_hit == ("processes",)
    assert after.result == "['1', '2']"


async def test_a_process_number_that_is_not_the_branchs_own_gives_no_power(
    tmp_path: Path,
) -> None:
    choice = sandbox.choose("strict", python=sys.executable, cwd=tmp_path)
    setting = LaunchSettings(
        sys.executable, tmp_path, clean_environment(os.environ), choice.launcher
    )
    root, _start = await open_launch(setting)
    await root.wait_ready()
    other = await root.fork(is_forced=True)
    try:
        with pytest.raises(ProtocolError, match="it is not"):
            root.launch.adopt(other.pid, root.pid)
        keeper = root.launch.adopt(1, root.pid)
        await asyncio.wait_for(keeper, 5)
        root.launch.kill(1)

        request = cell_request("1 + 1", Limits(), CellRequest(), None, may_force=False)
        assert (await Run(other, request, Limits(), None).observe()).result == "2"
    finally:
        for process in (root, other):
            process.close()
        await root.launch.close()


async def test_branches_of_a_sandbox_may_use_half_of_the_machine(confined: Sidecar) -> None:
    observation = await confined.run(
        confined.root,
        "import os\n"
        "half = os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') // 2\n"
        "big = bytearray(half)",
    )

    assert observation.status == "limit"
    assert observation.limits_hit == ("memory_bytes",)


async def test_forks_find_what_their_parent_left_and_nothing_of_their_siblings(
    confined: Sidecar,
) -> None:
    write = (
        "import os\nfor place in ('/dev/shm', '/tmp', os.environ['HOME'], '.'):\n"
        "    open(os.path.join(place, '{}'), 'w').close()"
    )
    find = (
        (
            "[sorted({{'ours', 'theirs', 'mine'}} & {{*os.listdir(place)}})"
            " for place in ('/dev/shm', '/tmp', os.environ['HOME'], '.')]"
        )
        .replace("{{", "{")
        .replace("}}", "}")
    )
    await confined.run(confined.root, write.format("ours"))
    first, second = [await confined.fork(confined.root) for _ in range(2)]
    await confined.run(first, write.format("theirs"))
    await confined.run(second, write.format("mine"))
    late = await confined.fork(confined.root)

    results = [
        (await confined.run(branch, find)).result for branch in (confined.root, second, late)
    ]

    assert results == [str([["ours"]] * 4), str([["mine", "ours"]] * 4), str([["ours"]] * 4)]


class WithBadFilter:
    """Starts an interpreter in a sandbox whose filter no kernel takes."""

    needs_scratch = True
    has_network = True
    limits = SandboxLimits()

    def launch(self, command: Command) -> subprocess.Popen[bytes]:
        filters = {"programs": ["AAAAAAAAAAA="], "decided": {}}
        setup = Setup(task=str(command.cwd), ipython=str(command.scratch), seccomp=filters)
        return start(command, command.arguments(setup), command.environment)


async def test_where_no_filter_can_be_loaded_nothing_runs_and_it_says_why(tmp_path: Path) -> None:
    with pytest.raises(SandboxUnavailable, match="hands no system calls over"):
        async with Sidecar(cwd=tmp_path, launcher=WithBadFilter()):
            pass


async def test_without_a_sandbox_processes_are_counted(tmp_path: Path) -> None:
    async with Sidecar(cwd=tmp_path) as sidecar:
        observation = await sidecar.run(
            sidecar.root,
            "import subprocess, time\n"
            "started = [subprocess.Popen(['sleep', '60']) for _ in range(8)]\n"
            "time.sleep(30)",
            Limits(processes=5),
        )

    assert observation.status == "limit"
    assert observation.error is not None
    assert observation.error.ename == "ProcessLimitError"


async def test_a_storm_of_refused_forks_does_not_hold_up_other_branches(confined: Sidecar) -> None:
    stormy = await confined.fork(confined.root)
    storm = "import os\nwhile True:\n    try: os.fork()\n    except BaseException: pass"
    running = asyncio.create_task(confined.run(stormy, storm, Limits(wall_seconds=20)))
    await asyncio.sleep(1)

    calm = await confined.fork(confined.root)
    observation = await confined.run(calm, "6 * 7")

    assert not running.done()
    assert observation.result == "42"
    assert confined.tree()[-1].created == "fork"
    assert "processes" in (await running).limits_hit
