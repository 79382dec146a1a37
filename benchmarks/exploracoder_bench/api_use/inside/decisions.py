"""How conditions on unknown values turn out: as planned, and the same when asked again."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

# Each comparison in terms of another: which one, whether its sides are swapped, whether it is
# negated. NaN, for which neither x < y nor x >= y holds, is ignored.
_COMPARISONS: Mapping[str, tuple[str, bool, bool]] = {
    "lt": ("lt", False, False),
    "gt": ("lt", True, False),
    "ge": ("lt", False, True),
    "le": ("lt", True, True),
    "eq": ("eq", False, False),
    "ne": ("eq", False, True),
}


@dataclass
class Trees:
    """Numbers for values: the same for two that are computed in the same way."""

    _numbers: dict[Hashable, int] = field(default_factory=dict)
    _of_nodes: list[int] = field(default_factory=list)

    def add(self, kind: str, label: object, inputs: Sequence[Sequence[Any]]) -> None:
        """Add the next node; ``inputs`` are names and numbers of earlier nodes."""
        key: Hashable = (kind, repr(label), tuple((name, self.of(at)) for name, at in inputs))
        if kind == "other":
            # Two functions, say, may look alike without being equal.
            key = (kind, len(self._of_nodes))
        self._of_nodes.append(self._numbers.setdefault(key, len(self._numbers)))

    def of(self, node: int) -> int:
        """The number of a node's tree."""
        return self._of_nodes[node]


@dataclass
class Decisions:
    """The answers of one run.

    Attributes:
        planned_answers: The first answers, one after another; later ones are False.
        answers: The number of each node whose truth was asked for, and the answer.
    """

    planned_answers: Sequence[bool] = ()
    answers: list[tuple[int, bool]] = field(default_factory=list)
    _truths: dict[Hashable, bool] = field(default_factory=dict)

    def answer(self, number: int, node: Sequence[Any], trees: Trees) -> bool:
        """Whether this node is true; a repeated question gets the same answer."""
        question, is_denied = _question(number, node, trees)
        if question in self._truths:
            return self._truths[question] is not is_denied
        at = len(self.answers)
        answer = self.planned_answers[at] if at < len(self.planned_answers) else False
        self.answers.append((number, answer))
        self._truths[question] = answer is not is_denied
        return answer


def _question(number: int, node: Sequence[Any], trees: Trees) -> tuple[Hashable, bool]:
    kind, label, inputs = node
    if kind != "operation" or label not in _COMPARISONS or len(inputs) != 2:
        return ("true", trees.of(number)), False
    comparison, is_turned, is_denied = _COMPARISONS[label]
    sides = [trees.of(at) for _, at in inputs]
    if comparison == "eq":
        sides.sort()
    elif is_turned:
        sides.reverse()
    return (comparison, *sides), is_denied
