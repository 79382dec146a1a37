"""Where two data flows differ, in words and as two trees of text."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from itertools import islice

from exploracoder_bench.api_use.flow import Flow, Identities

_MOST_DIFFERENCES = 5
_MOST_ROWS = 40


@dataclass(frozen=True, slots=True)
class Difference:
    """At ``path`` (from the result inwards), what was expected and what came."""

    path: tuple[str, ...]
    expected: str
    actual: str

    def __str__(self) -> str:
        """The difference as a clause."""
        where = " → ".join(self.path) or "the result"
        return f"{where} is {self.actual} instead of {self.expected}"


@dataclass(frozen=True, slots=True)
class _Row:
    indent: int
    words: str
    is_wrong: bool


def differences(expected: Flow, actual: Flow) -> tuple[Difference, ...]:
    """The first places, from the result inwards, where the flows diverge."""
    identities = Identities()
    sides = (identities.of(expected), identities.of(actual))
    places: list[Difference] = []
    queue: list[tuple[tuple[str, ...], int, int]] = [((), expected.result, actual.result)]
    while queue and len(places) < _MOST_DIFFERENCES:
        path, left, right = queue.pop(0)
        if sides[0][left] == sides[1][right]:
            continue
        expected_node, actual_node = expected.nodes[left], actual.nodes[right]
        if (expected_node.kind, expected_node.label) == (
            actual_node.kind,
            actual_node.label,
        ) and len(expected_node.inputs) == len(actual_node.inputs):
            for (name, inner), (_, other) in zip(
                expected_node.inputs, actual_node.inputs, strict=True
            ):
                step = f"{expected_node.words}: {'its object' if name == 'on' else name}"
                queue.append(((*path, step), inner, other))
        else:
            places.append(Difference(path, in_words(expected, left), in_words(actual, right)))
    return tuple(places)


def in_words(flow: Flow, number: int, depth: int = 3) -> str:
    """A value as an expression, truncated below ``depth`` levels."""
    node = flow.nodes[number]
    if node.kind == "outer":
        return f"the argument {node.words}"
    if node.kind == "constant" or (node.kind == "other"):
        return node.words
    if depth == 0:
        return f"{node.words}(…)"
    inner = [f"{name}={in_words(flow, at, depth - 1)}" for name, at in node.inputs[:6]]
    return f"{node.words}({', '.join(inner)})"


def picture_text(expected: Flow, actual: Flow) -> str:
    """Both trees as text, one below the other; lines that differ begin with an arrow."""
    blocks = []
    for title, rows in _sides(expected, actual):
        lines = [f"{'→' if row.is_wrong else ' '} {'  ' * row.indent}{row.words}" for row in rows]
        blocks.append("\n".join([title, *lines]))
    return "\n".join(blocks)


def _sides(expected: Flow, actual: Flow) -> list[tuple[str, list[_Row]]]:
    """Both trees as rows; a row differs when the other tree has something else in its place."""
    trees = {"expected": _places(expected), "got": _places(actual)}
    sides = []
    for (title, own), other in zip(trees.items(), reversed(trees.values()), strict=True):
        matches = {(place.path, place.label) for place in other}
        rows = [
            _Row(len(place.path), place.words, (place.path, place.label) not in matches)
            for place in own[:_MOST_ROWS]
        ]
        if len(own) > _MOST_ROWS:
            rows.append(_Row(0, "…", False))
        sides.append((title, rows))
    return sides


@dataclass(frozen=True, slots=True)
class _Place:
    path: tuple[str, ...]
    words: str
    label: Hashable


def _places(flow: Flow) -> list[_Place]:
    """The tree from the result inwards, truncated: it can be far larger than its flow."""
    return list(islice(_walk(flow, flow.result, ()), _MOST_ROWS + 1))


def _walk(flow: Flow, at: int, path: tuple[str, ...]) -> Iterator[_Place]:
    node = flow.nodes[at]
    words = f"{path[-1]}: {node.words}" if path else node.words
    yield _Place(path, words, (node.kind, node.label))
    if len(path) < _MOST_ROWS:
        for name, inner in node.inputs:
            yield from _walk(flow, inner, (*path, name))
