"""What a run costs, and when the next sample could cost more than may be spent."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from exploracoder.models.model_cost import Price, Usage

from exploracoder_bench.results import RunResult


class Budget:
    """The money that samples may cost, and have cost, counted or not; ``limit`` None is no limit.

    What a sample may cost is estimated from earlier ones: as much as the most expensive one of its
    method or, while there is none, of all methods.
    """

    def __init__(
        self, price: Price, limit: float | None, results: Iterable[RunResult], briefing: Usage
    ) -> None:
        """``results`` are those kept already, ``briefing`` what was asked before any sample."""
        self._price = price
        self._limit = limit
        self._total_cost = price.of(briefing.prompt_tokens, briefing.completion_tokens)
        self._dearest: dict[str, float] = {}
        for result in results:
            self.add(result)

    @property
    def is_limited(self) -> bool:
        """Whether there is a limit."""
        return self._limit is not None

    def add(self, result: RunResult) -> None:
        """Count a sample that has ended."""
        cost = self._price.of(result.prompt_tokens, result.completion_tokens)
        self._total_cost += cost
        # One that could not ask the model says nothing about what the next may cost.
        if cost:
            self._dearest[result.method] = max(cost, self._dearest.get(result.method, 0.0))

    def could_pass(self, method: str, running_methods: Sequence[str]) -> bool:
        """Whether a sample of ``method``, with those running, could cost more than is left.

        Nothing is known about the first one: it may start alone.
        """
        if self._limit is None:
            return False
        if not self._dearest:
            return bool(running_methods) or self._total_cost >= self._limit
        return self._total_cost + sum(map(self._may_cost, (*running_methods, method))) > self._limit

    def in_words(self, method: str) -> str:
        """What was spent, and what a sample of ``method`` may cost."""
        currency = f" {self._price.currency}" if self._price.currency else ""
        return (
            f"{self._total_cost:.4g} of {self._limit:.4g}{currency} are spent, and the next sample,"
            f" of {method}, may cost {self._may_cost(method):.4g}"
        )

    def _may_cost(self, method: str) -> float:
        return self._dearest.get(method, max(self._dearest.values(), default=0.0))
