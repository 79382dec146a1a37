"""The papers' systems, their baselines, and ours, behind one protocol."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Protocol

from exploracoder.errors import InputError

if TYPE_CHECKING:
    from exploracoder.engine.workbench import Workbench


class Method(Protocol):
    """A way from a task to a solution."""

    @property
    def name(self) -> str:
        """The name on the command line and in reports."""
        ...

    @property
    def overrides(self) -> Mapping[str, object]:
        """Settings that the method fixes, whatever the profile says."""
        ...

    async def run(self, bench: Workbench) -> None:
        """Work until the bench's exploration has a solution, recording each step on the way.

        It goes on from whatever the exploration holds already. Raises BudgetError and ModelError.
        """
        ...


def find_method(name: str) -> Method:
    """The method of this name; InputError when there is none."""
    from exploracoder.methods.direct import Direct
    from exploracoder.methods.docprompting import DocPrompting
    from exploracoder.methods.exploration import ExploraCoder

    known: dict[str, Method] = {
        method.name: method for method in (ExploraCoder(), Direct(), DocPrompting())
    }
    if name not in known:
        raise InputError(f"There is no method {name!r}. Methods: {', '.join(known)}.")
    return known[name]
