"""What requests to a model cost, in tokens, time and money."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, NonNegativeFloat, NonNegativeInt


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
        """The usage added since ``earlier``, which is included in this one."""
        difference = {name: mine - getattr(earlier, name) for name, mine in self}
        return Usage.model_validate(difference | {"seconds": max(0.0, difference["seconds"])})

    @property
    def total_tokens(self) -> int:
        """Prompt and completion tokens together."""
        return self.prompt_tokens + self.completion_tokens


class Price(BaseModel):
    """Money for a million tokens, in whatever currency."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    prompt: NonNegativeFloat = 0.0
    completion: NonNegativeFloat = 0.0
    currency: Annotated[str, Field(max_length=20, pattern=r"^[^\x00-\x1f\x7f-\x9f]*$")] = ""

    def of(self, prompt_tokens: int, completion_tokens: int) -> float:
        """The cost of these token counts; cached prompt tokens are charged in full."""
        return (prompt_tokens * self.prompt + completion_tokens * self.completion) / 1e6

    @property
    def in_words(self) -> str:
        """The price in words."""
        currency = f" {self.currency}" if self.currency else ""
        return (
            f"{self.prompt:g}{currency} a million prompt tokens, {self.completion:g}{currency}"
            " a million completion tokens"
        )
