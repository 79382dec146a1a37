"""How long a reasoning model should think before it answers."""

from __future__ import annotations

import os
from typing import Literal, get_args

from exploracoder.errors import InputError

ReasoningEffort = Literal["none", "minimal", "low", "medium", "high"]
EFFORTS: tuple[ReasoningEffort, ...] = get_args(ReasoningEffort)


def find_effort(choice: str | None) -> ReasoningEffort | None:
    """The effort chosen here or in the environment; None leaves it to the server.

    Raises InputError if there is no such effort.
    """
    effort = choice or os.environ.get("EXPLORACODER_REASONING_EFFORT")
    if not effort:
        return None
    if effort not in EFFORTS:
        raise InputError(f"There is no reasoning effort {effort!r}. Known: {', '.join(EFFORTS)}.")
    return effort
