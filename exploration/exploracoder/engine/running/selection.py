"""Which candidate becomes the experience (ExploraCoder, section 3.4)."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence

from exploracoder_kernel.observation import Observation, Variable

from exploracoder.state import Candidate


def has_good_evidence(candidate: Candidate, wanted_names: Sequence[str] = ()) -> bool:
    """Whether it is sound, uses the library and only existing names, and makes what is wanted."""
    return (
        is_sound(candidate)
        and bool(candidate.apis)
        and not candidate.problems
        and not missing(candidate, wanted_names)
    )


def missing(candidate: Candidate, wanted_names: Sequence[str]) -> tuple[str, ...]:
    """The wanted variables that a candidate did not make."""
    observation = candidate.observation
    made_names = {variable.name for variable in observation.variables} if observation else set()
    return tuple(name for name in wanted_names if name not in made_names)


def is_sound(candidate: Candidate) -> bool:
    """Whether it ran and what it made can be read and is not empty."""
    observation = candidate.observation
    return (
        observation is not None
        and observation.ran
        and not any(variable.preview_error for variable in observation.variables)
        and not _is_empty(observation)
    )


def _is_empty(observation: Observation) -> bool:
    """Whether nothing came out of it: no value, no output, or only None, ``[]``, ``['', '']``."""
    values = [one for one in observation.variables if one.type not in _DEFINITIONS]
    if values:
        return all(_is_nothing(one) for one in values)
    return not (observation.stdout.strip() or observation.result)


def _is_nothing(variable: Variable) -> bool:
    if variable.type == "NoneType" or variable.length == 0:
        return True
    is_container = variable.length is not None or variable.is_lazy
    return is_container and re.search(r"\w", variable.preview) is None


_DEFINITIONS = {"type", "function", "builtin_function_or_method"}


def select(
    candidates: Sequence[Candidate],
    *,
    strategy: str,
    seed: int,
    wanted_names: Sequence[str] = (),
) -> Candidate | None:
    """The candidate that the chain continues from; it should make the variables ``wanted_names``.

    ``random`` is the paper's: any that ran, or any that failed if none ran. ``any`` ignores what
    ran (table 7, without experience selection). ``evidence`` takes the one that shows most. None if
    there is none to choose from.
    """
    if strategy == "any":
        return random.Random(seed).choice(candidates) if candidates else None
    runnable = [candidate for candidate in candidates if candidate.ran]
    if strategy == "random":
        return random.Random(seed).choice(runnable or candidates) if candidates else None
    useful = [one for one in runnable if _does_something(one)]
    return max(
        useful, key=lambda one: (not missing(one, wanted_names), _evidence(one)), default=None
    )


def _does_something(candidate: Candidate) -> bool:
    """Whether it uses an API or makes a variable: printing known values is no experience."""
    observation = candidate.observation
    return bool(candidate.apis or (observation and observation.variables))


def _evidence(candidate: Candidate) -> tuple[bool, bool, int, bool, bool]:
    """The sort key, compared from left to right: more is better, ties go to the earlier draft."""
    observation = candidate.observation
    if observation is None:
        return (False, False, 0, False, False)
    has_preview_error = any(variable.preview_error for variable in observation.variables)
    return (
        observation.ran and not has_preview_error,
        bool(candidate.apis),
        -len(candidate.problems),
        not _is_empty(observation),
        bool(observation.variables),
    )
