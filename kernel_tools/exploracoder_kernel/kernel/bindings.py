"""From which branch the cells of an exploration's notebook start, subtask by subtask."""

from __future__ import annotations

from collections.abc import Mapping

from exploracoder_kernel.errors import BranchNotFound
from exploracoder_kernel.kernel import messages
from exploracoder_kernel.kernel.channels import Content
from exploracoder_kernel.kernel.records import Record, Records


class Bindings:
    """The table of them, which whoever steers the exploration keeps up to date."""

    def __init__(self, records: Records) -> None:
        self._records = records
        self._branches: Mapping[str, str] = {}

    async def replace(self, request: messages.Bind) -> Content:
        """Take a new table; the old one stays where a branch of the new one is not there.

        Raises:
            BranchNotFound: It names such a branch.
        """
        for branch in request.cells.values():
            self._records.find(branch)
        self._branches = dict(request.cells)
        return {"cells": dict(self._branches)}

    def base_of(self, cell: messages.Execute, wishes: messages.Wishes) -> Record | None:
        """The branch that a cell starts from; None: it runs in a branch like any other.

        A branch that was dropped has lost its bindings, since no other ever gets its name.
        """
        is_candidate = wishes.branch is None and not cell.silent and bool(cell.code.strip())
        branch = self._branches.get(wishes.subtask or "") if is_candidate else None
        if branch is None:
            return None
        try:
            return self._records.find(branch)
        except BranchNotFound:
            return None
