"""Compares the results of several attempts, where they can be seen, and groups equal ones."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from exploracoder.engine.exploring import arguments
from exploracoder.engine.reading import stub
from exploracoder.engine.reading.result_names import Value, result_names, shown
from exploracoder.state import Attempt, Exploration


def can_compare(exploration: Exploration) -> bool:
    """Whether an attempt's results can be seen: in named variables, or in an example call."""
    if stub.wanted_function(exploration.task):
        return arguments.call_in(exploration) is not None
    return bool(_names(exploration))


def groups(exploration: Exploration, attempts: Iterable[Attempt]) -> list[list[Attempt]]:
    """The attempts that give a result, grouped by it; the largest group comes first, and among
    equally large ones the one that was begun first."""
    pairs: list[tuple[dict[str, Value], list[Attempt]]] = []
    for attempt in attempts:
        values = _given(exploration, attempt)
        same = next((members for group_values, members in pairs if group_values == values), None)
        if same is not None:
            same.append(attempt)
        elif values:
            pairs.append((values, [attempt]))
    return sorted((members for _, members in pairs), key=len, reverse=True)


def _names(exploration: Exploration) -> Sequence[str]:
    """The variables that hold the result, if no function is requested."""
    return stub.target_names(exploration.task.stub) or result_names(exploration.task)


def _given(exploration: Exploration, attempt: Attempt) -> dict[str, Value]:
    """The values of an attempt that can be compared; empty if it failed or lacks a wanted one.

    The result of a function that reads none of its parameters solves no task: it often just
    repeats the context.
    """
    if not attempt.leaves_no_doubt or attempt.problems:
        return {}
    if not stub.reads_parameters(attempt.code, exploration.task.stub):
        return {}
    if attempt.call is not None:
        names: Sequence[str] = (arguments.RESULT,)
        values = dict(shown(attempt.call.observation))
    else:
        names = _names(exploration)
        values = dict(shown(attempt.observation))
    return {name: values[name] for name in names} if set(names) <= set(values) else {}
