"""Requests that create, choose, drop and inspect branches."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import validate_call

from exploracoder_kernel.errors import BranchNotFound
from exploracoder_kernel.kernel.branch_records import Record, Records
from exploracoder_kernel.kernel.request_contents import (
    BadRequest,
    Content,
    ExecuteRequest,
    RequestOptions,
)
from exploracoder_kernel.sandbox import ChosenSandbox
from exploracoder_kernel.sidecar import Sidecar


class Branches:
    """Answers requests about branches; no layer below this one knows which branch is current.

    The arguments of a ``validate_call`` method are the fields of the request of that name; a
    missing, unknown or wrongly typed field is a ``ValidationError``.
    """

    def __init__(self, sidecar: Sidecar, records: Records, sandbox: ChosenSandbox) -> None:
        self._sidecar = sidecar
        self._records = records
        self._sandbox = sandbox
        self._bindings: Mapping[str, str] = {}

    @validate_call
    async def fork(self, branch: str | None = None, goal: str = "") -> Content:
        """Create a branch; the current one stays current. ``goal`` says what it is for."""
        parent = self._records.find(branch)
        child = await self._sidecar.fork(parent.id, goal=goal)
        self._records.add(parent.fork(child))
        return {"branch": child}

    @validate_call
    async def promote(self, branch: str) -> Content:
        """Make a branch current, and drop its siblings with all their descendants."""
        self._records.find(branch)
        await self._sidecar.promote(branch)
        self._records.current = branch
        self._forget_the_dropped()
        return {"branch": branch}

    @validate_call
    async def go_to(self, branch: str) -> Content:
        """Make a fresh fork of a branch current, so that the branch itself stays as it is."""
        answer = await self.fork(branch)
        self._records.current = str(answer["branch"])
        return answer

    @validate_call
    async def drop(self, branch: str, even_current: bool = False) -> Content:
        """End a branch; the current one only if its parent may become current instead."""
        if self._records.find(branch).id == self._records.current:
            parent = {info.id: info.parent for info in self._sidecar.tree()}[branch]
            if parent is None or not even_current:
                raise BadRequest(
                    f"Branch {branch!r} is the current one. Go to another first, then drop it."
                )
            self._records.current = parent
        await self._sidecar.drop(branch)
        self._forget_the_dropped()
        return {"branch": branch}

    @validate_call
    async def list(self, measure: bool = True) -> Content:
        """The tree, and how its branches are created and sandboxed.

        With ``measure``, the memory that each branch holds is measured first.
        """
        infos = await self._sidecar.measure() if measure else self._sidecar.tree()
        sandbox = self._sandbox
        return {
            "branches": infos,
            "current": self._records.current,
            "root": self._sidecar.root,
            "strategy": self._sidecar.strategy,
            "strategy_reason": self._sidecar.strategy_reason,
            "python_version": self._sidecar.python_version,
            "sandbox": {
                "level": sandbox.level,
                "mechanism": sandbox.mechanism,
                "reason": sandbox.reason,
            },
        }

    @validate_call
    async def variables(self, branch: str | None = None) -> Content:
        """The user's variables in a branch."""
        branch_id = self._records.find(branch).id
        user_variables = await self._sidecar.variables(branch_id)
        return {"branch": branch_id, "variables": user_variables}

    @validate_call
    async def resolve(self, names: tuple[str, ...], branch: str | None = None) -> Content:
        """Whether dotted names exist in a branch."""
        branch_id = self._records.find(branch).id
        resolved_names = await self._sidecar.resolve(branch_id, names)
        return {"branch": branch_id, "resolved": resolved_names}

    @validate_call
    async def inspect(self, name: str, branch: str | None = None) -> Content:
        """Type, signature, documentation and location of a dotted name."""
        branch_id = self._records.find(branch).id
        inspection = await self._sidecar.inspect(branch_id, name)
        return {"branch": branch_id, "inspection": inspection}

    @validate_call
    async def bind(self, cells: dict[str, str]) -> Content:
        """Set the branch from which each subtask's cell starts, replacing earlier bindings.

        If one of the branches does not exist, the earlier bindings stay.
        """
        for branch in cells.values():
            self._records.find(branch)
        self._bindings = cells
        return {"cells": cells}

    def base_of(self, cell: ExecuteRequest, options: RequestOptions) -> Record | None:
        """The branch that a subtask's cell starts from; None if the cell runs like any other.

        A dropped branch has lost its bindings, since no other ever gets its name.
        """
        is_candidate = options.branch is None and not cell.silent and bool(cell.code.strip())
        branch = self._bindings.get(options.subtask or "") if is_candidate else None
        try:
            return None if branch is None else self._records.find(branch)
        except BranchNotFound:
            return None

    def _forget_the_dropped(self) -> None:
        self._records.keep_only({info.id for info in self._sidecar.tree()})
