"""The names under which a task wants its results."""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Iterable, Iterator

from exploracoder_kernel.observation import Observation

from exploracoder.engine.reading import syntax
from exploracoder.state import Task

_QUOTED = re.compile(r"`([A-Za-z_]\w*)`")
# "into `a`", "as `a` and `b`", "make `a`", "a list `a`" after a verb that makes something.
_INTO = re.compile(
    r"\b(?:into|in|as|named?|call(?:ed)?|variables?|to|make|create|define|build|assign|set)\s+"
    r"(?:(?:it|them|an?|the|list|dict|set|table|variables?|results?|of|named|called)\s+)*"
    r"`[A-Za-z_]\w*`(?:\s*(?:,|and|, and|or)\s*`[A-Za-z_]\w*`)*",
    re.IGNORECASE,
)


def result_names(task: Task) -> tuple[str, ...]:
    """The variables that the solution has to make, in the order in which they are named.

    A check says it best: the names that it reads and nothing else defines. Without one, they are
    the identifiers in backticks that the task's words want assigned: others may be columns,
    options, or anything else with a name. Empty if a function is requested.
    """
    if task.entry_point:
        return ()
    context_names = _bound(task.context)
    if task.check:
        own = _bound(task.check) | set(dir(builtins))
        names = [name for name in _in_order(task.check) if name not in own]
    else:
        names = [name for match in _INTO.finditer(task.text) for name in _QUOTED.findall(match[0])]
    return tuple(name for name in dict.fromkeys(names) if name not in context_names)


def wanted_in(goal: str, task: Task, bound: Iterable[str]) -> tuple[str, ...]:
    """The results that a subtask's goal names: in backticks, or, if they do not exist yet, in any
    way."""
    there = set(bound)
    return tuple(
        name
        for name in result_names(task)
        if f"`{name}`" in goal or (name not in there and re.search(rf"\b{re.escape(name)}\b", goal))
    )


Value = tuple[str, tuple[int, ...] | None, int | None, str]


def shown(observation: Observation) -> Iterator[tuple[str, Value]]:
    """Each variable that a run made, with what was seen of its value, in a comparable form."""
    for one in observation.variables:
        if one.preview and not one.preview_error:
            yield one.name, (one.type, one.shape, one.length, one.preview)


def _in_order(code: str) -> list[str]:
    names = [node for node in ast.walk(syntax.tree(code)) if isinstance(node, ast.Name)]
    return [node.id for node in sorted(names, key=lambda node: (node.lineno, node.col_offset))]


def _bound(code: str) -> set[str]:
    """The names that code binds, including its parameters."""
    tree = syntax.tree(code)
    return syntax.bound(tree) | syntax.parameters(tree)
