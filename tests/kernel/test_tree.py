"""The tree of branches: goals, deciding for one, dropping, memory and what sleeps."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from exploracoder_kernel import budget
from exploracoder_kernel.errors import BranchNotFound, SidecarError
from exploracoder_kernel.run_limits import Limits
from exploracoder_kernel.sidecar import Sidecar
from exploracoder_kernel.sidecar_answers import BranchInfo
from waiting import Sign, until

MEGABYTE = 1 << 20
FILL = "block = bytearray(b'x' * {size})"


def by_id(tree: tuple[BranchInfo, ...]) -> dict[str, BranchInfo]:
    return {info.id: info for info in tree}


class TestDeciding:
    async def test_a_branch_is_listed_with_its_goal(self, sidecar: Sidecar) -> None:
        child = await sidecar.fork(sidecar.root, goal="try a wider window")

        assert by_id(sidecar.tree())[child].goal == "try a wider window"
        assert by_id(sidecar.tree())[sidecar.root].goal == ""

    async def test_promoting_drops_siblings_and_what_came_from_them(self, sidecar: Sidecar) -> None:
        await sidecar.run(sidecar.root, "x = 1")
        loser, winner = [await sidecar.fork(sidecar.root) for _ in range(2)]
        below = await sidecar.fork(loser)
        further = await sidecar.fork(winner)

        await sidecar.promote(winner)

        assert [info.id for info in sidecar.tree()] == [sidecar.root, winner, further]
        assert (await sidecar.run(winner, "x")).result == "1"
        with pytest.raises(BranchNotFound):
            await sidecar.run(below, "x")

    async def test_promoting_the_root_drops_nothing(self, sidecar: Sidecar) -> None:
        child = await sidecar.fork(sidecar.root)

        await sidecar.promote(sidecar.root)

        assert [info.id for info in sidecar.tree()] == [sidecar.root, child]

    async def test_a_promoted_branch_wins_over_a_run_in_its_sibling(self, sidecar: Sidecar) -> None:
        loser, winner = [await sidecar.fork(sidecar.root) for _ in range(2)]
        await sidecar.run(loser, "import time")
        running = asyncio.create_task(sidecar.run(loser, "time.sleep(20)"))
        await asyncio.sleep(0.2)

        await sidecar.promote(winner)

        assert (await running).status == "killed"
        assert (await sidecar.run(winner, "1 + 1")).result == "2"

    async def test_a_branch_can_be_dropped_while_it_is_being_built(self, tmp_path: Path) -> None:
        async with Sidecar(cwd=tmp_path, strategy="replay") as sidecar:
            child = await sidecar.fork(sidecar.root)
            running = asyncio.create_task(sidecar.run(child, "1"))
            await asyncio.sleep(0.05)

            await sidecar.drop(child)

            with pytest.raises(BranchNotFound):
                await running
            assert (await sidecar.run(sidecar.root, "2")).result == "2"

    async def test_a_sidecar_can_be_closed_while_a_branch_is_being_built(
        self, tmp_path: Path
    ) -> None:
        async with Sidecar(cwd=tmp_path, strategy="replay") as sidecar:
            child = await sidecar.fork(sidecar.root)
            running = asyncio.create_task(sidecar.run(child, "1"))
            await asyncio.sleep(0.05)

        with pytest.raises(SidecarError):
            await running

    async def test_children_of_a_dropped_branch_become_its_parents(self, sidecar: Sidecar) -> None:
        await sidecar.run(sidecar.root, "x = 1")
        middle, other = [await sidecar.fork(sidecar.root) for _ in range(2)]
        await sidecar.run(middle, "x = 2")
        child = await sidecar.fork(middle)

        await sidecar.drop(middle)

        assert by_id(sidecar.tree())[child].parent == sidecar.root
        assert (await sidecar.run(child, "x")).result == "2"
        await sidecar.promote(other)
        assert child not in by_id(sidecar.tree())


class TestMemory:
    async def test_measuring_tells_own_memory_from_shared(self, forking: Sidecar) -> None:
        await forking.run(forking.root, FILL.format(size=64 * MEGABYTE))
        child = await forking.fork(forking.root)
        await forking.run(child, "mine = bytearray(b'y' * (32 << 20))")

        branches = by_id(await forking.measure())

        own, shared = branches[child].own_bytes, branches[child].shared_bytes
        assert own is not None and 32 * MEGABYTE <= own < 56 * MEGABYTE
        assert shared is not None and shared >= 64 * MEGABYTE
        root_own = branches[forking.root].own_bytes
        assert root_own is not None and root_own < 32 * MEGABYTE

    async def test_measuring_does_not_wait_for_a_busy_branch(self, forking: Sidecar) -> None:
        child = await forking.fork(forking.root)
        sign = Sign()
        cell = f"{sign.code} import time; time.sleep(60)"
        running = asyncio.create_task(forking.run(child, cell))
        await until(sign.processes)

        branches = by_id(await asyncio.wait_for(forking.measure(), 20))
        await forking.interrupt(child)

        assert branches[child].own_bytes is None
        assert branches[forking.root].own_bytes is not None
        await running

    async def test_a_dead_branch_has_no_memory(self, forking: Sidecar) -> None:
        child = await forking.fork(forking.root)
        await forking.measure()
        await forking.run(child, "import os; os._exit(1)")

        assert by_id(await forking.measure())[child].own_bytes is None


class TestBudget:
    @pytest.fixture(autouse=True)
    def measured_after_each_run(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(budget, "_SHARE_OF_TIME", 0)

    async def test_old_steps_of_a_chain_sleep_and_have_their_values_when_asked(
        self, tmp_path: Path
    ) -> None:
        async with Sidecar(cwd=tmp_path, memory_budget_bytes=48 * MEGABYTE) as sidecar:
            await sidecar.run(sidecar.root, "import os\nstep = -1")
            chain = []
            branch = sidecar.root
            for step in range(20):
                branch = await sidecar.fork(branch)
                cell = f"step = {step}; " + FILL.format(size=8 * MEGABYTE)
                assert (await sidecar.run(branch, cell)).ran
                chain.append(branch)

            states = {info.id: info.state for info in sidecar.tree()}
            assert states[chain[3]] == "dormant"
            assert states[chain[-1]] == "idle"
            assert states[sidecar.root] == "idle"
            await sidecar.run(branch, "1")
            own = [info.own_bytes or 0 for info in await sidecar.measure()]
            assert sum(own) < 56 * MEGABYTE
            for step in (3, 19, 0, 11):
                observation = await sidecar.run(chain[step], "step, len(block)")
                assert observation.result == f"({step}, {8 * MEGABYTE})"
            assert by_id(sidecar.tree())[chain[11]].state == "idle"

    async def test_nothing_sleeps_within_the_budget(self, tmp_path: Path) -> None:
        async with Sidecar(cwd=tmp_path) as sidecar:
            branch = sidecar.root
            for _step in range(5):
                branch = await sidecar.fork(branch)
                await sidecar.run(branch, FILL.format(size=8 * MEGABYTE))

            assert {info.state for info in sidecar.tree()} == {"idle"}

    async def test_leaves_never_sleep(self, tmp_path: Path) -> None:
        async with Sidecar(cwd=tmp_path, memory_budget_bytes=1) as sidecar:
            leaves = [await sidecar.fork(sidecar.root) for _ in range(4)]
            for leaf in leaves:
                await sidecar.run(leaf, FILL.format(size=8 * MEGABYTE))

            states = by_id(sidecar.tree())
            assert {states[leaf].state for leaf in leaves} == {"idle"}

    async def test_a_state_that_its_cells_do_not_tell_stays(self, tmp_path: Path) -> None:
        async with Sidecar(cwd=tmp_path, memory_budget_bytes=1) as sidecar:
            cell = f"{FILL.format(size=8 * MEGABYTE)}\nhalf = 'done'\nwhile True: pass"
            middle = await sidecar.fork(sidecar.root)
            assert (await sidecar.run(middle, cell, Limits(wall_seconds=0.4))).status == "timeout"
            leaf = await sidecar.fork(middle)
            for _ in range(3):
                await sidecar.run(leaf, "1")
                await asyncio.sleep(0.1)

            assert by_id(sidecar.tree())[middle].state == "idle"
            assert (await sidecar.run(leaf, "half")).result == "'done'"

    async def test_a_sleeper_that_comes_out_differently_is_an_observation(
        self, tmp_path: Path
    ) -> None:
        async with Sidecar(cwd=tmp_path, memory_budget_bytes=1) as sidecar:
            middle = await sidecar.fork(sidecar.root)
            once = "from pathlib import Path\nPath('once').touch(exist_ok=False)\n"
            await sidecar.run(middle, once + FILL.format(size=8 * MEGABYTE))
            leaf = await sidecar.fork(middle)
            await sidecar.run(leaf, "block = None")
            assert by_id(sidecar.tree())[middle].state == "dormant"

            observation = await sidecar.run(middle, "1")

            assert observation.error is not None
            assert observation.error.ename == "ReplayError"
            assert (await sidecar.run(leaf, "block is None")).result == "True"


class TestWatchedCells:
    @pytest.mark.parametrize(
        "code",
        [
            "import asyncio\nx = 1\nasyncio.run(asyncio.sleep(0))",
            "import asyncio\nx = 1\ntask = asyncio.create_task(asyncio.sleep(0))",
            "x = 1\nget_ipython().kernel",
            "x = 1\ninput()",
        ],
        ids=["asyncio.run", "a task", "the kernel", "input"],
    )
    async def test_they_end_the_same_way_when_they_run_again(
        self, forking: Sidecar, new_screen: Any, code: str
    ) -> None:
        screen = new_screen(allow_stdin=False)
        first = await forking.run(forking.root, code, front_end=screen)
        death = await forking.run(forking.root, "import os; os._exit(1)", front_end=screen)
        again = await forking.run(forking.root, "x", front_end=screen)

        assert death.status == "killed"
        assert (first.status, again.status, again.result) == (first.status, "ok", "1")
