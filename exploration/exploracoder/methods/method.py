"""The protocol of methods, with defaults that most of them keep."""

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
        """Settings with values from its source; they take precedence over the profile's."""
        return {}

    @property
    def overrides(self) -> Mapping[str, object]:
        """Settings that define this method; they cannot be changed."""
        return {}

    @property
    def writes_class(self) -> bool:
        """Whether it writes a class into a repository, and nothing else."""
        return False

    @property
    def plans(self) -> bool:
        """Whether it plans; the model is then briefed on the libraries first."""
        return False

    async def run(self, bench: Workbench) -> None:
        """Work until the bench's exploration has a solution, recording each step on the way.

        It continues from whatever the exploration already holds. Raises BudgetError and ModelError.
        """
        ...
