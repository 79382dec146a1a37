"""What may be asked of a branch without running a cell."""

from __future__ import annotations

import contextlib
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any

from exploracoder_kernel.answers import Completions, Inspection, ResolvedName
from exploracoder_kernel.errors import SidecarError
from exploracoder_kernel.observation import Variable


class Questions(ABC):
    """The questions to a branch; each raises as ``_ask`` does."""

    @abstractmethod
    async def _ask(self, branch_id: str, op: str, **fields: Any) -> dict[str, Any]:
        """Send a question to a branch's process.

        Raises:
            BranchNotFound: There is no such branch.
            SidecarError: The branch could not answer.
        """

    @property
    @abstractmethod
    def _may_force(self) -> bool:
        """Whether a branch may look into lazy objects in a fork of itself."""

    async def variables(self, branch_id: str) -> tuple[Variable, ...]:
        """The user's variables in a branch."""
        answer = await self._ask(branch_id, "variables", may_force=self._may_force)
        with _checking(branch_id):
            return tuple(Variable.model_validate(variable) for variable in answer["variables"])

    async def resolve(self, branch_id: str, names: Sequence[str]) -> tuple[ResolvedName, ...]:
        """Whether dotted names such as ``df.groupby`` exist, as seen from a branch."""
        answer = await self._ask(branch_id, "resolve", names=list(names))
        with _checking(branch_id):
            return tuple(ResolvedName.model_validate(name) for name in answer["resolved"])

    async def complete(self, branch_id: str, code: str, cursor: int) -> Completions:
        """What may stand at ``cursor`` (characters from the start of ``code``)."""
        answer = await self._ask(branch_id, "complete", code=code, cursor=cursor)
        with _checking(branch_id):
            return Completions.model_validate(answer)

    async def is_complete(self, branch_id: str, code: str) -> tuple[str, str]:
        """Whether a console would run the code now, as the Jupyter protocol says it.

        Returns:
            ``complete``, ``incomplete``, ``invalid`` or ``unknown``; the indent of the next line.
        """
        answer = await self._ask(branch_id, "is_complete", code=code)
        with _checking(branch_id):
            return str(answer["status"]), str(answer["indent"])

    async def inspect_at(
        self, branch_id: str, code: str, cursor: int, detail: int = 0
    ) -> dict[str, Any]:
        """What a front end shows of the name at ``cursor``: a mime bundle, empty for nothing.

        With ``detail`` 1 it holds the source, too.
        """
        answer = await self._ask(branch_id, "inspect_at", code=code, cursor=cursor, detail=detail)
        with _checking(branch_id):
            return dict(answer["bundle"])

    async def inspect(self, branch_id: str, name: str) -> Inspection:
        """Type, signature, documentation and place of a dotted name."""
        answer = await self._ask(branch_id, "inspect", name=name)
        with _checking(branch_id):
            return Inspection.model_validate(answer)


@contextlib.contextmanager
def _checking(branch_id: str) -> Iterator[None]:
    """A snippet may have changed what answers in the branch's process."""
    try:
        yield
    except (LookupError, TypeError, ValueError) as error:
        raise SidecarError(
            f"Branch {branch_id} gave an answer that is none: a snippet has changed it. Drop it."
        ) from error
