"""What the engine needs of whatever runs code: a tree of process states, here or in a kernel."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from exploracoder_kernel.answers import BranchInfo, Inspection, ResolvedName
from exploracoder_kernel.limits import Limits
from exploracoder_kernel.observation import Observation, Variable
from exploracoder_kernel.pickled_variables import PickledVariables, Unpickled


class Executor(Protocol):
    """Runs snippets in branches. ``Sidecar`` is one, and so is ``RemoteSidecar``.

    All methods raise ``BranchNotFound`` when a branch that they name is not there, and another
    ``SidecarError`` when the processes can't be asked.
    """

    @property
    def root(self) -> str:
        """The branch that all others come from."""
        ...

    @property
    def strategy(self) -> str:
        """How branches are made: ``fork`` or ``replay``; single ones may differ."""
        ...

    @property
    def strategy_reason(self) -> str:
        """Why they are made that way, in words."""
        ...

    @property
    def python_version(self) -> str:
        """That of the user's interpreter."""
        ...

    async def run(self, branch_id: str, code: str, limits: Limits | None = None) -> Observation:
        """Run a snippet in a branch; a cancelled run is interrupted."""
        ...

    async def fork(self, branch_id: str, *, goal: str = "") -> str:
        """A new branch with the state that ``branch_id`` has now."""
        ...

    async def drop(self, branch_id: str) -> None:
        """End a branch; branches made from it stay, and become its parent's."""
        ...

    async def promote(self, branch_id: str) -> None:
        """Decide for a branch: its siblings and all that come from them are dropped."""
        ...

    async def variables(self, branch_id: str) -> tuple[Variable, ...]:
        """The user's variables in a branch."""
        ...

    async def resolve(self, branch_id: str, names: Sequence[str]) -> tuple[ResolvedName, ...]:
        """Whether dotted names such as ``df.groupby`` exist, as seen from a branch."""
        ...

    async def inspect(self, branch_id: str, name: str) -> Inspection:
        """Type, signature, documentation and place of a dotted name."""
        ...

    async def interrupt(self, branch_id: str) -> None:
        """Stop what runs in a branch; nothing happens when nothing runs."""
        ...

    async def measure(self) -> tuple[BranchInfo, ...]:
        """The tree, oldest branch first, with the memory that each idle branch holds now."""
        ...

    async def unpickle(self, branch_id: str, pickled: PickledVariables) -> Unpickled:
        """Take variables of the user's kernel into a branch; ``carry`` is what to call.

        Their file belongs to the executor from then on.
        """
        ...


if TYPE_CHECKING:
    from exploracoder_kernel.kernel.remote import RemoteSidecar
    from exploracoder_kernel.sidecar import Sidecar

    # The type checker holds both to the protocol here.
    _EXECUTORS: tuple[type[Executor], ...] = (Sidecar, RemoteSidecar)
