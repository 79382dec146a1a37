"""Fork or replay: chosen by what is found in the process, and shown."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from exploracoder_kernel.sidecar import Sidecar

THREAD = (
    "import threading\n"
    "thread = threading.Thread(target=threading.Event().wait, daemon=True, name='waiter')\n"
    "thread.start()"
)


async def test_a_branch_with_a_thread_is_built_by_replay_and_says_why(forking: Sidecar) -> None:
    await forking.run(forking.root, f"x = 3\n{THREAD}")

    child = await forking.fork(forking.root)

    info = forking.tree()[1]
    assert (info.created, info.note) == ("replay", "2 threads are alive in the process (waiter)")
    assert (await forking.run(child, "x")).result == "3"


async def test_a_branch_without_threads_is_forked(forking: Sidecar) -> None:
    await forking.run(forking.root, "import numpy as np\nx = np.arange(10) @ np.arange(10)")

    await forking.fork(forking.root)

    assert forking.tree()[1].created == "fork"


async def test_tasks_that_wait_in_the_event_loop_are_not_forked_away(forking: Sidecar) -> None:
    await forking.run(
        forking.root,
        "import asyncio\nasync def later():\n    await asyncio.sleep(60)\n"
        "task = asyncio.create_task(later())\nawait asyncio.sleep(0)",
    )

    await forking.fork(forking.root)

    assert "event loop" in forking.tree()[1].note


async def test_parent_and_child_have_event_loops_of_their_own(forking: Sidecar) -> None:
    snippet = "import asyncio\nawait asyncio.sleep(0.01)\n'done'"
    await forking.run(forking.root, snippet)

    child = await forking.fork(forking.root)

    assert (await forking.run(child, snippet)).result == "'done'"
    assert (await forking.run(forking.root, snippet)).result == "'done'"


async def test_replay_that_comes_out_differently_is_an_observation(tmp_path: Path) -> None:
    async with Sidecar(cwd=tmp_path, strategy="replay") as sidecar:
        await sidecar.run(
            sidecar.root, "from pathlib import Path\nPath('once').touch(exist_ok=False)"
        )
        child = await sidecar.fork(sidecar.root)

        observation = await sidecar.run(child, "1")

        assert observation.error is not None
        assert observation.error.ename == "ReplayError"
        assert "came out differently" in observation.error.evalue


async def test_cells_that_failed_are_part_of_a_replayed_state(tmp_path: Path) -> None:
    async with Sidecar(cwd=tmp_path, strategy="replay") as sidecar:
        await sidecar.run(sidecar.root, "x = 1\nraise ValueError")
        child = await sidecar.fork(sidecar.root)

        assert (await sidecar.run(child, "x")).result == "1"


async def test_a_setting_is_obeyed_and_the_reason_told(tmp_path: Path) -> None:
    async with Sidecar(cwd=tmp_path, strategy="replay") as sidecar:
        assert (sidecar.strategy, sidecar.strategy_reason) == ("replay", "replay was asked for")


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux forks")
async def test_linux_forks_by_itself(forking: Sidecar) -> None:
    assert forking.strategy == "fork"
    assert forking.strategy_reason.startswith("Linux forks")
