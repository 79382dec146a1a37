"""Data flow: how a result comes from arguments, constants and calls, whatever the program says.

Two programs have the same data flow when their results are the same tree. Whether a value is
computed once and used twice, or computed twice, makes no difference: functions that exist only in
documentation are assumed to be deterministic.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from exploracoder_bench.api_use.expressions import Constant, Expression, Outer

_KINDS = ("outer", "call", "constant", "list", "tuple", "dict", "operation", "new", "other")


@dataclass(frozen=True, slots=True)
class Node:
    """A value: its kind, a wording, a label to compare by, and its inputs."""

    kind: str
    words: str
    label: Hashable
    inputs: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Flow:
    """Nodes, each after its inputs, and the index of the result."""

    nodes: tuple[Node, ...]
    result: int

    def unused_calls(self) -> int:
        """How many calls do not reach the result."""
        used_numbers = set(self._reached())
        calls = (at for at, node in enumerate(self.nodes) if node.kind in ("call", "new"))
        return sum(at not in used_numbers for at in calls)

    def _reached(self) -> Iterator[int]:
        stack, seen_numbers = [self.result], {self.result}
        while stack:
            at = stack.pop()
            yield at
            fresh = {number for _, number in self.nodes[at].inputs} - seen_numbers
            seen_numbers |= fresh
            stack += fresh


class MalformedError(ValueError):
    """A record that the recorder cannot have made."""


@dataclass(slots=True)
class Identities:
    """Assigns equal trees the same number, across flows, without expanding them."""

    _numbers: dict[Hashable, int] = field(default_factory=dict)

    def of(self, flow: Flow) -> list[int]:
        """The identity of each node."""
        identities: list[int] = []
        for node in flow.nodes:
            inputs = tuple((name, identities[number]) for name, number in node.inputs)
            key = (node.kind, node.label, inputs)
            identities.append(self._numbers.setdefault(key, len(self._numbers)))
        return identities


def same(expected: Flow, actual: Flow) -> bool:
    """Whether the results are the same tree."""
    identities = Identities()
    return identities.of(expected)[expected.result] == identities.of(actual)[actual.result]


def of_expression(expression: Expression, order: Sequence[Outer]) -> Flow:
    """The data flow that a problem asks for; ``order`` is that of its function's arguments."""
    places = {outer.name: place for place, outer in enumerate(order)}
    nodes: list[Node] = []

    def add(part: Expression) -> int:
        nodes.append(_node_of(part, places, add))
        return len(nodes) - 1

    result = add(expression)
    return Flow(tuple(nodes), result)


def _node_of(part: Expression, places: Mapping[str, int], add: Callable[[Expression], int]) -> Node:
    if isinstance(part, Outer):
        return Node("outer", part.name, places[part.name])
    if isinstance(part, Constant):
        return Node("constant", repr(part.value), constant_label(part.value))
    name = f"{part.library}.{part.function}"
    on = [] if part.on is None else [("on", add(part.on))]
    arguments = [(argument, add(value)) for argument, value in part.arguments]
    return Node("call", name, name, (*on, *arguments))


def of_record(nodes: Any, result: Any) -> Flow:
    """The data flow in a record. Raises MalformedError when the record is not one.

    The record comes from a process in which a candidate ran: nothing in it is trusted.
    """
    if not isinstance(nodes, list) or type(result) is not int or not 0 <= result < len(nodes):
        raise MalformedError("it has no result")
    return Flow(tuple(_read(at, node) for at, node in enumerate(nodes)), result)


def _read(at: int, node: Any) -> Node:
    if not (isinstance(node, list) and len(node) == 3 and node[0] in _KINDS):
        raise MalformedError(f"node {at} is none")
    kind, label, inputs = node
    if not isinstance(inputs, list):
        raise MalformedError(f"node {at} has no inputs")
    pairs = tuple(_input(at, pair) for pair in inputs)
    if kind == "constant":
        value = _constant(label)
        return Node(kind, _cut(repr(value)), constant_label(value))
    if kind == "outer":
        if not (isinstance(label, list) and len(label) == 2 and type(label[0]) is int):
            raise MalformedError(f"node {at} is no argument")
        return Node(kind, _cut(str(label[1])), label[0])
    return Node(kind, _cut(str(label) or kind), str(label), pairs)


def _input(at: int, pair: Any) -> tuple[str, int]:
    is_pair = isinstance(pair, list) and len(pair) == 2 and isinstance(pair[0], str)
    if not is_pair or type(pair[1]) is not int or not 0 <= pair[1] < at:
        raise MalformedError(f"node {at} comes before what goes into it")
    return pair[0], pair[1]


def _constant(label: Any) -> Any:
    if not (isinstance(label, list) and len(label) == 2 and isinstance(label[1], str)):
        raise MalformedError("a constant without a value")
    text = label[1]
    if label[0] in ("float", "complex"):
        try:
            return float(text) if label[0] == "float" else complex(text)
        except ValueError as error:
            raise MalformedError("a number that is none") from error
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError) as error:
        raise MalformedError("a constant that is none") from error


def constant_label(value: Any) -> Hashable:
    """The key by which constants are compared: 5 equals 5.0, but neither "5" nor True."""
    if isinstance(value, (int, float, complex)) and not isinstance(value, bool):
        return ("number", "nan" if value != value else value)
    return (type(value).__name__, value)


def _cut(text: str) -> str:
    return text if len(text) <= 80 else f"{text[:60]}…{text[-15:]}"
