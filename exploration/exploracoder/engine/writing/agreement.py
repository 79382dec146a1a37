"""What texts of a solution give, where that can be seen, and which of them give the same."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from exploracoder.engine.exploring import arguments
from exploracoder.engine.reading import stub
from exploracoder.engine.reading.result_names import Value, result_names, shown
from exploracoder.state import Attempt, Exploration


def can_compare(exploration: Exploration) -> bool:
    """Whether what an attempt gives can be seen: results with names, or of an example call."""
    if function_name(exploration):
        return arguments.call_in(exploration) is not None
    return bool(_names(exploration))


def function_name(exploration: Exploration) -> str:
    """The function that is asked for; empty where none is."""
    return stub.function_name(exploration.task.stub) or exploration.task.entry_point or ""


def groups(exploration: Exploration, attempts: Iterable[Attempt]) -> list[list[Attempt]]:
    """The attempts that give something, those that give the same together; the largest group
    first, and of those alike in size the one that was begun first."""
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
    """The variables that the result is in, where no function is asked for."""
    target = stub.assignment_target(exploration.task.stub)
    return (target,) if target else result_names(exploration.task)


def _given(exploration: Exploration, attempt: Attempt) -> dict[str, Value]:
    """What can be compared of an attempt; empty when it failed, or lacks some of what is wanted.

    What a function gives that looks at none of its parameters answers no task: it is often the
    context once more.
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
