"""Requests about branches: make, choose and drop them, and look into them."""

from __future__ import annotations

from exploracoder_kernel.answers import BranchInfo
from exploracoder_kernel.kernel import messages
from exploracoder_kernel.kernel.channels import Content
from exploracoder_kernel.kernel.messages import BadRequest
from exploracoder_kernel.kernel.records import Records
from exploracoder_kernel.sidecar import Sidecar


class Branches:
    """Answers them. Which branch is current is known here and nowhere below."""

    def __init__(self, sidecar: Sidecar, records: Records, sandbox: Content) -> None:
        self._sidecar = sidecar
        self._records = records
        self._sandbox = sandbox

    async def fork(self, request: messages.Fork) -> Content:
        """A new branch; the current one stays current."""
        parent = self._records.find(request.branch)
        child = await self._sidecar.fork(parent.id, goal=request.goal)
        self._records.add(parent.fork(child))
        return {"branch": child}

    async def promote(self, request: messages.OneBranch) -> Content:
        """A branch becomes current; its siblings are dropped, with all that came from them."""
        self._records.find(request.branch)
        await self._sidecar.promote(request.branch)
        self._records.current = request.branch
        self._forget_the_dropped()
        return {"branch": request.branch}

    async def go_to(self, request: messages.OneBranch) -> Content:
        """A fresh fork of a branch becomes current, so that the branch stays as it is."""
        made = await self.fork(messages.Fork(branch=request.branch))
        self._records.current = made["branch"]
        return made

    async def drop(self, request: messages.Drop) -> Content:
        """End a branch; the current one only when its parent may be current in its place."""
        if self._records.find(request.branch).id == self._records.current:
            self._records.current = self._instead_of(request)
        await self._sidecar.drop(request.branch)
        self._forget_the_dropped()
        return {"branch": request.branch}

    def _instead_of(self, request: messages.Drop) -> str:
        """The branch to be current when the current one is dropped."""
        parents = {info.id: info.parent for info in self._sidecar.tree()}
        parent = parents.get(request.branch)
        if parent is None or not request.even_current:
            raise BadRequest(
                f"Branch {request.branch!r} is the current one. Go to another first, then drop it."
            )
        return parent

    async def list(self, request: messages.TreeRequest) -> Content:
        """The tree, and how its branches are made and kept in."""
        measured = await self._sidecar.measure() if request.measure else self._sidecar.tree()
        return {
            "branches": [_shown(info) for info in measured],
            "current": self._records.current,
            "root": self._sidecar.root,
            "strategy": self._sidecar.strategy,
            "strategy_reason": self._sidecar.strategy_reason,
            "python_version": self._sidecar.python_version,
            "sandbox": self._sandbox,
        }

    async def variables(self, request: messages.AnyBranch) -> Content:
        """The user's variables in a branch."""
        branch = self._records.find(request.branch).id
        found = await self._sidecar.variables(branch)
        return {"branch": branch, "variables": [one.model_dump(mode="json") for one in found]}

    async def resolve(self, request: messages.Resolve) -> Content:
        """Whether dotted names exist in a branch."""
        branch = self._records.find(request.branch).id
        found = await self._sidecar.resolve(branch, request.names)
        return {"branch": branch, "resolved": [one.model_dump(mode="json") for one in found]}

    async def inspect(self, request: messages.InspectName) -> Content:
        """Type, signature, documentation and place of a dotted name."""
        branch = self._records.find(request.branch).id
        found = await self._sidecar.inspect(branch, request.name)
        return {"branch": branch, "inspection": found.model_dump(mode="json")}

    def _forget_the_dropped(self) -> None:
        self._records.keep_only({info.id for info in self._sidecar.tree()})


def _shown(info: BranchInfo) -> Content:
    return info.model_dump(mode="json")
