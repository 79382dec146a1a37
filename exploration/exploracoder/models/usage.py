"""What asking a model cost."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, NonNegativeFloat, NonNegativeInt


class Usage(BaseModel):
    """Calls, tokens and seconds of one or more requests; ``+`` adds two up.

    A server that reports no token counts leaves them at 0: they are never estimated.
    ``cached_tokens`` is the part of ``prompt_tokens`` that the server did not have to read again.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    calls: NonNegativeInt = 0
    prompt_tokens: NonNegativeInt = 0
    completion_tokens: NonNegativeInt = 0
    cached_tokens: NonNegativeInt = 0
    seconds: NonNegativeFloat = 0.0

    def __add__(self, other: Usage) -> Usage:
        sums = {name: mine + getattr(other, name) for name, mine in self}
        return Usage.model_validate(sums)

    def minus(self, earlier: Usage) -> Usage:
        """What has been added since ``earlier``, which is part of this."""
        left = {name: mine - getattr(earlier, name) for name, mine in self}
        return Usage.model_validate(left | {"seconds": max(0.0, left["seconds"])})

    @property
    def total_tokens(self) -> int:
        """Prompt and completion tokens together."""
        return self.prompt_tokens + self.completion_tokens
