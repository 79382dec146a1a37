"""Cells are counted and remembered in memory, and a branch goes on from its parent's count."""

from __future__ import annotations

import pytest
from exploracoder_kernel.sidecar import Sidecar


async def test_results_and_sources_are_remembered(sidecar: Sidecar) -> None:
    await sidecar.run(sidecar.root, "6 * 7")
    await sidecar.run(sidecar.root, "'second'")

    observation = await sidecar.run(sidecar.root, "_, __, _1, Out[1], In[1], _i2")

    assert observation.result == "('second', 42, 42, 42, '6 * 7', \"'second'\")"
    assert observation.execution_count == 3
    assert observation.outputs[0]["execution_count"] == 3


async def test_nothing_of_ours_is_in_the_source(sidecar: Sidecar) -> None:
    await sidecar.run(sidecar.root, "\n\nx = 1")

    assert (await sidecar.run(sidecar.root, "In[1]")).result == "'x = 1'"


async def test_history_and_recall_show_the_cells(sidecar: Sidecar) -> None:
    await sidecar.run(sidecar.root, "x = 1")
    await sidecar.run(sidecar.root, "x + 1")

    history = await sidecar.run(sidecar.root, "%history -n 1-2")
    again = await sidecar.run(sidecar.root, "%rerun 2")

    assert history.stdout.split("\n")[:2] == ["   1: x = 1", "   2: x + 1"]
    assert again.result == "2"


async def test_a_child_counts_on_from_its_parent(sidecar: Sidecar) -> None:
    await sidecar.run(sidecar.root, "'from the root'")
    child = await sidecar.fork(sidecar.root)

    ours = await sidecar.run(sidecar.root, "1")
    theirs = await sidecar.run(child, "_")

    assert (ours.execution_count, theirs.execution_count) == (2, 2)
    assert theirs.result == "'from the root'"


@pytest.mark.parametrize("code", ["", "  \n\n"])
async def test_an_empty_cell_is_not_counted(sidecar: Sidecar, code: str) -> None:
    empty = await sidecar.run(sidecar.root, code)

    assert empty.ran
    assert empty.execution_count is None
    assert (await sidecar.run(sidecar.root, "1")).execution_count == 1


async def test_a_cell_that_fails_is_counted(sidecar: Sidecar) -> None:
    failure = await sidecar.run(sidecar.root, "1 / 0")
    broken = await sidecar.run(sidecar.root, "x = = 1")

    assert (failure.execution_count, broken.execution_count) == (1, 2)


async def test_remembering_takes_no_thread(forking: Sidecar) -> None:
    await forking.run(forking.root, "1")
    child = await forking.fork(forking.root)

    threads = await forking.run(child, "import os; len(os.listdir('/proc/self/task'))")

    assert threads.result == "1"
    assert forking.tree()[1].created == "fork"
