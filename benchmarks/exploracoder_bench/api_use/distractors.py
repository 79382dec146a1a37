"""Which functions a problem documents, and in which order."""

from __future__ import annotations

import random
from collections.abc import Sequence

from exploracoder.errors import InputError

from exploracoder_bench.api_use.expressions import Call, Expression, calls
from exploracoder_bench.api_use.invented_libraries import Shelf
from exploracoder_bench.api_use.noise import Key

MIDDLE = "middle"
# The functions of a composition are shuffled in among the distractors.
MIXED = "mixed"


def keys_of(expression: Expression) -> list[Key]:
    """The functions that an expression calls, each once."""
    return list(dict.fromkeys((one.library, one.function) for one in calls(expression)))


def documented(
    shelf: Shelf,
    target: Call,
    shots: Sequence[Call],
    *,
    distractors: int,
    place: int | str,
    rng: random.Random,
) -> list[Key]:
    """The functions of the documentation, in its order.

    Args:
        shelf: The libraries; distractors come from those that target and shots use.
        target: What is asked for.
        shots: The solved examples; their functions count as distractors.
        distractors: How many functions besides the target's.
        place: How many of those come before the target's, which then lie side by side;
            ``middle``; or ``mixed``: the target's are shuffled in among them.
        rng: Makes all choices. The target's functions are shuffled: the order of its calls would
            give the answer away.

    Raises:
        InputError: There are too few functions, or there is no such place.
    """
    target_keys = keys_of(target)
    shot_keys = [key for shot in shots for key in keys_of(shot) if key not in target_keys]
    others = list(dict.fromkeys(shot_keys))
    libraries = dict.fromkeys([key[0] for key in [*target_keys, *others]])
    free = [
        (id, function.name)
        for id in libraries
        for function in shelf.find(id).functions
        if (id, function.name) not in (*target_keys, *others)
    ]
    missing = max(0, distractors - len(others))
    if missing > len(free):
        raise InputError(
            f"{distractors} distractors are asked for, and {', '.join(libraries)} has only"
            f" {len(free) + len(others)}. Ask for fewer."
        )
    others += rng.sample(free, missing)
    rng.shuffle(others)
    rng.shuffle(target_keys)
    if place == MIXED:
        keys = [*target_keys, *others]
        rng.shuffle(keys)
        return keys
    at = len(others) // 2 if place == MIDDLE else place
    if not isinstance(at, int) or not 0 <= at <= len(others):
        raise InputError(
            f"There is no place {place!r} among {len(others)} distractors. Say 0 to {len(others)},"
            f" '{MIDDLE}' or '{MIXED}'."
        )
    return [*others[:at], *target_keys, *others[at:]]
