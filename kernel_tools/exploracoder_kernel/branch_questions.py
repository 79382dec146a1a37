"""The questions that a branch answers without running a cell."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from exploracoder_kernel.branch_process import BranchDied
from exploracoder_kernel.errors import SidecarError
from exploracoder_kernel.observation import Variable
from exploracoder_kernel.sidecar_answers import Completions, Inspection, ResolvedName
from exploracoder_kernel.states import States
from exploracoder_kernel.tree import Tree

_Answer = TypeVar("_Answer")


class Questions:
    """Asks branches about their state.

    Each method raises ``BranchNotFound`` if there is no such branch, and another ``SidecarError``
    if the branch could not answer.
    """

    def __init__(self, tree: Tree, states: States) -> None:
        self._tree = tree
        self._states = states

    async def variables(self, branch_id: str) -> tuple[Variable, ...]:
        """The user's variables in a branch."""

        def read(answer: dict[str, Any]) -> tuple[Variable, ...]:
            return tuple(Variable.model_validate(variable) for variable in answer["variables"])

        return await self._ask(branch_id, read, "variables", may_force=self._states.may_force)

    async def resolve(self, branch_id: str, names: Sequence[str]) -> tuple[ResolvedName, ...]:
        """Whether dotted names such as ``df.groupby`` exist, as seen from a branch."""

        def read(answer: dict[str, Any]) -> tuple[ResolvedName, ...]:
            return tuple(ResolvedName.model_validate(name) for name in answer["resolved"])

        return await self._ask(branch_id, read, "resolve", names=list(names))

    async def complete(self, branch_id: str, code: str, cursor: int) -> Completions:
        """The completions at ``cursor`` (characters from the start of ``code``)."""
        read = Completions.model_validate
        return await self._ask(branch_id, read, "complete", code=code, cursor=cursor)

    async def is_complete(self, branch_id: str, code: str) -> tuple[str, str]:
        """Whether a console would run the code now, in the terms of the Jupyter protocol.

        Returns:
            ``complete``, ``incomplete``, ``invalid`` or ``unknown``; the indent of the next line.
        """

        def read(answer: dict[str, Any]) -> tuple[str, str]:
            return str(answer["status"]), str(answer["indent"])

        return await self._ask(branch_id, read, "is_complete", code=code)

    async def inspect_at(
        self, branch_id: str, code: str, cursor: int, detail: int = 0
    ) -> dict[str, Any]:
        """What a front end shows about the name at ``cursor``: a MIME bundle, empty if unknown.

        With ``detail`` 1 it includes the source.
        """

        def read(answer: dict[str, Any]) -> dict[str, Any]:
            return dict(answer["bundle"])

        arguments = {"code": code, "cursor": cursor, "detail": detail}
        return await self._ask(branch_id, read, "inspect_at", **arguments)

    async def inspect(self, branch_id: str, name: str) -> Inspection:
        """Type, signature, documentation and location of a dotted name."""
        return await self._ask(branch_id, Inspection.model_validate, "inspect", name=name)

    async def _ask(
        self, branch_id: str, read: Callable[[dict[str, Any]], _Answer], op: str, **fields: Any
    ) -> _Answer:
        branch = self._tree.find(branch_id)
        async with branch.lock:
            process = await self._states.live(branch)
            try:
                return read(await process.ask(op, **fields))
            except BranchDied as death:
                await self._states.bury(branch)
                raise SidecarError(f"Branch {branch_id} ended over a question. {death}") from death
            except (LookupError, TypeError, ValueError) as error:
                raise SidecarError(
                    f"Branch {branch_id} gave an answer that is none: a snippet has changed it."
                    " Drop it."
                ) from error
