"""The client of a kernel does what a sidecar does."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from exploracoder_kernel.errors import BranchNotFound, SidecarError
from exploracoder_kernel.kernel.remote import RemoteSidecar
from exploracoder_kernel.observation import CellRun
from exploracoder_kernel.sidecar import Sidecar
from waiting import until

Console = Any


@pytest.fixture
async def remote(tmp_path: Path) -> AsyncIterator[RemoteSidecar]:
    """A kernel of its own, behind its client."""
    async with RemoteSidecar(cwd=tmp_path) as sidecar:
        yield sidecar


@pytest.mark.parametrize(
    "snippet",
    [
        "print('a')\nx = [1, 2]\nx",
        "y = 1\ny / 0",
        "import sys; print('e', file=sys.stderr); sys.exit(3)",
        "import IPython.display as show; show.display(show.HTML('<b>x</b>'))",
        "if True print(1)",
        "z = (n for n in range(9))",
    ],
)
async def test_it_observes_what_a_sidecar_observes(
    remote: RemoteSidecar, tmp_path: Path, snippet: str
) -> None:
    async with Sidecar(cwd=tmp_path) as sidecar:
        there = await sidecar.run(await sidecar.fork(sidecar.root), snippet)

    here = await remote.run(await remote.fork(remote.root), snippet)

    timeless = {"seconds": 0.0}
    assert here.model_copy(update=timeless) == there.model_copy(update=timeless)


async def test_branches_are_made_chosen_and_dropped(remote: RemoteSidecar) -> None:
    await remote.run(remote.root, "x = 1")
    loser, winner = [await remote.fork(remote.root, goal=goal) for goal in ("a", "b")]

    await remote.promote(winner)
    step = await remote.go_to(remote.root)
    await remote.drop(winner)

    assert await remote.current() == step
    assert [branch.id for branch in await remote.tree()] == [remote.root, step]
    assert [variable.name for variable in await remote.variables(step)] == ["x"]
    with pytest.raises(BranchNotFound, match=loser):
        await remote.run(loser, "x")


async def test_questions_are_answered(remote: RemoteSidecar) -> None:
    await remote.run(remote.root, "import math")

    (name,) = await remote.resolve(remote.root, ["math.sqrt"])
    inspection = await remote.inspect(remote.root, "math.sqrt")

    assert name.exists
    assert inspection.found
    assert all(branch.own_bytes for branch in await remote.measure())


async def test_a_branch_that_is_dropped_while_it_is_current_leaves_its_parent_so(
    remote: RemoteSidecar,
) -> None:
    step = await remote.go_to(remote.root)

    await remote.drop(step)

    assert await remote.current() == remote.root
    with pytest.raises(SidecarError, match="is the current one"):
        await remote.drop(remote.root)


async def test_a_cell_that_somebody_runs_by_hand_is_told(console: Console) -> None:
    cell_runs: list[CellRun] = []
    client = console.manager.client()
    async with RemoteSidecar(client=client, on_cell_run=cell_runs.append) as remote:
        base = await remote.fork(remote.root)
        await remote.run(base, "x = 20")
        await remote.bind({"s1": base})

        await console.run("y = 2 * x\ny", subtask="s1", role="candidate")
        await until(lambda: cell_runs)
        there = await remote.run(cell_runs[0].branch, "y + 2")

    (run,) = cell_runs
    assert (run.subtask, run.observation.result) == ("s1", "40")
    assert [variable.name for variable in run.observation.variables] == ["y"]
    assert there.result == "42"


@pytest.mark.parametrize("delay", [0.0, 0.02, 0.3])
async def test_a_cancelled_run_is_stopped(remote: RemoteSidecar, delay: float) -> None:
    running = asyncio.create_task(remote.run(remote.root, "while True: pass"))
    await asyncio.sleep(delay)

    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running

    assert (await remote.run(remote.root, "1")).result == "1"


async def test_it_attaches_to_a_running_kernel_and_leaves_it_running(console: Console) -> None:
    await console.run("x = 5")

    file = Path(console.manager.connection_file)
    async with RemoteSidecar(connection_file=file) as remote:
        observation = await remote.run(remote.root, "x")

    assert observation.result == "5"
    assert (await console.run("x")).outputs[0]["data"]["text/plain"] == "5"


async def test_a_kernel_that_dies_is_an_error_that_says_so(console: Console) -> None:
    client = console.manager.client()
    async with RemoteSidecar(client=client) as remote:
        running = asyncio.create_task(remote.run(remote.root, "while True: pass"))
        await asyncio.sleep(0.3)

        # Itself alone, or the end of its branch could be reported before its own.
        os.kill(console.manager.provisioner.pid, signal.SIGKILL)

        with pytest.raises(SidecarError, match="has ended"):
            await asyncio.wait_for(running, 20)


async def test_a_kernel_that_jupyter_does_not_know_is_an_error() -> None:
    with pytest.raises(SidecarError, match="knows no kernel 'nothing'"):
        async with RemoteSidecar("nothing"):
            pass


async def test_a_connection_file_that_is_missing_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(SidecarError, match=r"gone\.json"):
        async with RemoteSidecar(connection_file=tmp_path / "gone.json"):
            pass
