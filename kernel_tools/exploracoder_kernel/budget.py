"""How much memory idle branches may hold for themselves, and which give it up first."""

from __future__ import annotations

import time
from collections.abc import Iterable

from exploracoder_kernel.branch.linux import machine_memory
from exploracoder_kernel.states import States
from exploracoder_kernel.tree import Branch, Tree

_SHARE_OF_MACHINE = 4
_SHARE_OF_TIME = 10
_SMALL_SHARE = 200


def default_budget() -> int:
    """A quarter of the machine's memory, in bytes."""
    return machine_memory() // _SHARE_OF_MACHINE


class MemoryBudget:
    """Chooses the branches that lose their process to make room for the others.

    Only branches from which others were made are chosen, least recently used first and the root
    last, since all others can be rebuilt from it. A branch whose process holds state that its
    cells don't reproduce (after an interrupted run) stays.
    """

    def __init__(self, tree: Tree, budget_bytes: int) -> None:
        self._tree = tree
        self._budget_bytes = budget_bytes
        self._next_look = 0.0

    async def make_room(self, states: States, in_use: Branch) -> None:
        """Put old branches to sleep if idle ones exceed the memory budget; never ``in_use``.

        Memory is measured rarely, and only if the processes' total resident memory, as they
        reported it when they ran, exceeds the budget: their own memory is never more than that.
        """
        start = time.monotonic()
        live = (branch.process for branch in self._tree if branch.is_live)
        total_bytes = sum(process.resident_bytes for process in live if process)
        if start < self._next_look or total_bytes <= self._budget_bytes:
            return
        await states.measure()
        for branch in self._too_many(in_use):
            await states.put_to_sleep(branch)
        now = time.monotonic()
        self._next_look = now + _SHARE_OF_TIME * (now - start)

    def _too_many(self, in_use: Branch) -> list[Branch]:
        idle = [branch for branch in self._tree if branch.is_live and not branch.lock.locked()]
        excess = _own(idle) - self._budget_bytes
        if excess <= 0:
            return []
        parents = {branch.parent for branch in self._tree}
        able = [b for b in idle if b.id in parents and b.is_exact and b is not in_use]
        able.sort(key=lambda branch: (branch.parent is None, branch.used_at))
        if _own(able) < excess:  # out of reach: spare those that hold next to nothing
            able = [b for b in able if _own([b]) * _SMALL_SHARE >= self._budget_bytes]
        selection: list[Branch] = []
        while able and _own(selection) < excess:
            selection.append(able.pop(0))
        return selection


def _own(branches: Iterable[Branch]) -> int:
    return sum(branch.own_bytes or 0 for branch in branches)
