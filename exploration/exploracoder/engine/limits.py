"""Counts time and tokens against the user's limits."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from exploracoder.errors import BudgetError
from exploracoder.models.chat import Reply
from exploracoder.models.model_cost import Usage

if TYPE_CHECKING:
    from exploracoder.engine.workbench import Workbench

# The share of a limit that exploring may use up.
_LATE = 0.6


@dataclass(slots=True)
class Limits:
    """How much of an exploration's limits is used up, over all its sessions."""

    bench: Workbench
    _since: float = field(default_factory=time.monotonic)
    _is_uncounted: bool = False

    def start_clock(self) -> None:
        """Start the clock when work begins, so that idle time is not counted."""
        self._since = time.monotonic()

    def count_time(self) -> None:
        """Count the seconds since the clock started, or since the last call."""
        seconds, self._since = self.seconds_used, time.monotonic()
        self.bench.change(seconds_total=seconds)

    def spend(self, part: str, reply: Reply | None = None, seconds_execution: float = 0.0) -> None:
        """Count the tokens and the execution time that a part of the work has used."""
        usage = reply.asked if reply else Usage()
        self._is_uncounted |= usage.calls > 0 and not usage.total_tokens
        self.bench.exploration = self.bench.exploration.with_spending(
            part, usage, seconds_execution
        )

    @property
    def seconds_used(self) -> float:
        """How long the exploration has been worked on."""
        return self.bench.exploration.seconds_total + time.monotonic() - self._since

    @property
    def seconds_left(self) -> float | None:
        """The seconds until the user's limit is reached; None without one."""
        limit = self.bench.settings.max_seconds
        return None if limit is None else max(0.0, limit - self.seconds_used)

    def check_time(self) -> None:
        """Raise BudgetError when the user's limit on seconds has been reached."""
        if self.seconds_left == 0.0:
            raise self.out_of_time()

    def check(self) -> None:
        """Raise BudgetError when the user's limit on seconds or tokens has been reached."""
        self.check_time()
        limit, usage = self.bench.settings.max_tokens, self.bench.exploration.usage
        tokens = usage.total_tokens
        if limit is not None and self._is_uncounted:
            raise BudgetError(
                "The limit on tokens cannot be kept: the model's server does not report them."
                " Everything so far is saved; resume with --max-seconds instead."
            )
        if limit is not None and tokens >= limit:
            raise BudgetError(
                f"The limit of {limit} tokens was reached with {tokens} tokens."
                " Everything so far is saved; resume with a higher --max-tokens."
            )

    def out_of_time(self) -> BudgetError:
        """The error to raise when the limit on seconds has been reached."""
        return BudgetError(
            f"The limit of {self.bench.settings.max_seconds:g} seconds was reached after"
            f" {self.seconds_used:.0f} s."
            " Everything so far is saved; resume with a higher --max-seconds."
        )

    @property
    def is_late(self) -> bool:
        """Whether so much of a limit is used up that the rest is needed for the solution."""
        return self.has_used(_LATE)

    def has_used(self, share: float) -> bool:
        """Whether more than ``share`` of one of the limits is used up."""
        settings = self.bench.settings
        budgets = (
            (settings.max_seconds, self.seconds_used),
            (settings.max_tokens, self.bench.exploration.usage.total_tokens),
        )
        return any(limit is not None and amount > share * limit for limit, amount in budgets)
