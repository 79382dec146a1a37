"""What asking a model cost, and for which step."""

from __future__ import annotations

import threading

from pydantic import BaseModel, ConfigDict, NonNegativeFloat, NonNegativeInt


class Usage(BaseModel):
    """Calls, tokens and seconds of one or more requests; ``+`` adds two up.

    A server that reports no token counts leaves them at 0: they are never estimated.
    ``cached_tokens`` is the part of ``prompt_tokens`` that the server did not have to read again.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    calls: NonNegativeInt = 0
    prompt_tokens: NonNegativeInt = 0
    completion_tokens: NonNegativeInt = 0
    cached_tokens: NonNegativeInt = 0
    seconds: NonNegativeFloat = 0.0

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            calls=self.calls + other.calls,
            prompt_tokens=self.prompt_tokens + other.prompt_tokens,
            completion_tokens=self.completion_tokens + other.completion_tokens,
            cached_tokens=self.cached_tokens + other.cached_tokens,
            seconds=self.seconds + other.seconds,
        )

    def minus(self, earlier: Usage) -> Usage:
        """What has been added since ``earlier``, which is part of this."""
        return Usage(
            calls=self.calls - earlier.calls,
            prompt_tokens=self.prompt_tokens - earlier.prompt_tokens,
            completion_tokens=self.completion_tokens - earlier.completion_tokens,
            cached_tokens=self.cached_tokens - earlier.cached_tokens,
            seconds=max(0.0, self.seconds - earlier.seconds),
        )

    @property
    def total_tokens(self) -> int:
        """Prompt and completion tokens together."""
        return self.prompt_tokens + self.completion_tokens


class UsageMeter:
    """Adds up usage by step label; safe to share between tasks and threads.

    What came from the reply cache cost nothing and is counted apart, in ``saved``.
    """

    def __init__(self) -> None:
        self._asked: dict[str, Usage] = {}
        self._saved = Usage()
        self._lock = threading.Lock()

    def record(self, step: str, usage: Usage, *, from_cache: bool = False) -> None:
        """Adds the usage of one reply to a step.

        Args:
            step: A label such as ``plan`` or ``step-3``.
            usage: What the reply says it cost, or cost when it was first asked.
            from_cache: Whether nobody was asked this time.
        """
        with self._lock:
            if from_cache:
                self._saved += usage
            else:
                self._asked[step] = self._asked.get(step, Usage()) + usage

    @property
    def by_step(self) -> dict[str, Usage]:
        """Usage per label, in the order in which the labels first came up."""
        with self._lock:
            return dict(self._asked)

    @property
    def total(self) -> Usage:
        """What was asked of the model, over all steps."""
        return sum(self.by_step.values(), Usage())

    @property
    def saved(self) -> Usage:
        """What the reply cache answered instead of the model."""
        return self._saved
