"""Which candidate becomes the experience (ExploraCoder, section 3.4)."""

from __future__ import annotations

import random
from collections.abc import Sequence

from exploracoder.state import Candidate


def has_good_evidence(candidate: Candidate) -> bool:
    """Whether it ran, used the library, showed something, and nothing about it looks wrong."""
    observation = candidate.observation
    return (
        observation is not None
        and observation.ran
        and bool(candidate.apis)
        and not candidate.problems
        and not any(variable.preview_error for variable in observation.variables)
        and bool(observation.variables or observation.stdout.strip() or observation.result)
    )


def select(
    candidates: Sequence[Candidate], *, strategy: str, keep_failed: bool, seed: int
) -> Candidate | None:
    """The candidate that the chain goes on from.

    ``random`` is the paper's: any that ran, or any that failed when none ran. ``evidence`` takes
    the one that shows most. None when none ran and a failed one is not wanted in the chain.
    """
    ran = [candidate for candidate in candidates if candidate.ran]
    pool = ran or (list(candidates) if keep_failed else [])
    if not pool:
        return None
    if strategy == "random":
        return random.Random(seed).choice(pool)
    return max(pool, key=_evidence)


def _evidence(candidate: Candidate) -> tuple[bool, bool, int, bool, bool, int]:
    """Compared from left to right; more is better."""
    observation = candidate.observation
    if observation is None:
        return (False, False, 0, False, False, 0)
    broken = any(variable.preview_error for variable in observation.variables)
    return (
        observation.ran and not broken,
        bool(candidate.apis),
        -len(candidate.problems),
        bool(observation.variables),
        bool(observation.stdout.strip() or observation.result),
        -len(candidate.code.splitlines()),
    )
