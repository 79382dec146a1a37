"""What a method is: the protocol, with what most of them leave as it is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from exploracoder.engine.workbench import Workbench


class Method(Protocol):
    """A way from a task to a solution."""

    @property
    def name(self) -> str:
        """The name on the command line and in reports."""
        ...

    @property
    def published(self) -> Mapping[str, object]:
        """Settings that its source gives values for; they go before the profile's."""
        return {}

    @property
    def overrides(self) -> Mapping[str, object]:
        """Settings that make it this method: nobody can change them."""
        return {}

    @property
    def writes_class(self) -> bool:
        """Whether it writes a class into a repository, and nothing else."""
        return False

    @property
    def plans(self) -> bool:
        """Whether it plans, for which the model is told of the libraries first."""
        return False

    async def run(self, bench: Workbench) -> None:
        """Work until the bench's exploration has a solution, recording each step on the way.

        It goes on from whatever the exploration holds already. Raises BudgetError and ModelError.
        """
        ...
