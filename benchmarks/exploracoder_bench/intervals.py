"""How sure a mean over problems is: intervals from resampling problems, and the sign test."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

RESAMPLES = 2000
CONFIDENCE = 0.95
_SEED = 20_260_101
_SAME = 1e-12


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean over problems with its interval; ``problems`` counts those with enough samples."""

    value: float
    low: float
    high: float
    problems: int

    def __str__(self) -> str:
        """In per cent."""
        if not self.problems:
            return "-"
        return f"{self.value:.1%} [{self.low:.1%}, {self.high:.1%}]"


def bootstrap(values: Sequence[float], *, least: float = 0.0) -> Estimate:
    """The mean of shares, from ``least`` to 1, with a percentile interval from resampling problems.

    The result is deterministic. If all values are equal, resampling would call them certain;
    ``_alike`` gives the interval instead.
    """
    return ratio([(value, 1.0) for value in values], least=least)


def ratio(pairs: Sequence[tuple[float, float]], *, least: float = 0.0) -> Estimate:
    """The sum of the first values over that of the second, with an interval as above.

    A resample whose second sum is zero is left out.
    """
    shares = [part / whole for part, whole in pairs if whole]
    if shares and max(shares) - min(shares) < _SAME:
        return _alike(shares[0], len(shares), least)
    return _resampled(pairs)


def mean_amount(values: Sequence[float]) -> Estimate:
    """The mean of amounts, such as seconds, with an interval from resampling problems."""
    return _resampled([(value, 1.0) for value in values])


def sign_test(better: int, worse: int) -> float:
    """The exact probability that a fair coin, tossed per problem, is at least as one-sided.

    Ties say nothing and are not counted.
    """
    throws, fewer = better + worse, min(better, worse)
    one_side = sum(math.comb(throws, heads) for heads in range(fewer + 1))
    return min(1.0, 2 * one_side / (1 << throws))


def _alike(value: float, problems: int, least: float) -> Estimate:
    """A share that all problems have, with the interval for other problems like them.

    By Wilson's interval for none of ``problems``, at most ``z² / (n + z²)`` of all problems differ,
    and those may have any share from ``least`` to 1. For 0 and 1 that is Wilson's interval itself.
    Source: Wilson 1927.
    """
    square = NormalDist().inv_cdf((1 + CONFIDENCE) / 2) ** 2
    others = square / (problems + square)
    low, high = value - others * (value - least), value + others * (1 - value)
    return Estimate(value, low, high, problems)


def _resampled(pairs: Sequence[tuple[float, float]]) -> Estimate:
    if not sum(whole for _, whole in pairs):
        return Estimate(math.nan, math.nan, math.nan, 0)
    import numpy as np

    parts, wholes = np.asarray(pairs, dtype=float).T
    generator = np.random.default_rng(_SEED)
    draws = generator.integers(0, len(pairs), size=(RESAMPLES, len(pairs)))
    tops, bottoms = parts[draws].sum(axis=1), wholes[draws].sum(axis=1)
    edge = (1 - CONFIDENCE) / 2
    values = tops[bottoms > 0] / bottoms[bottoms > 0]
    low, high = np.quantile(values, [edge, 1 - edge])
    return Estimate(float(parts.sum() / wholes.sum()), float(low), float(high), len(pairs))
