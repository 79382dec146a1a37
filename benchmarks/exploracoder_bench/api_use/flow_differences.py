"""Where two data flows differ, in words."""

from __future__ import annotations

from exploracoder_bench.api_use.flow import Flow, Identities

_MOST_DIFFERENCES = 5


def differences(expected: Flow, actual: Flow) -> list[str]:
    """The first places, from the result inwards, where the flows diverge, a clause each."""
    identities = Identities()
    sides = (identities.of(expected), identities.of(actual))
    clauses: list[str] = []
    queue: list[tuple[tuple[str, ...], int, int]] = [((), expected.result, actual.result)]
    while queue and len(clauses) < _MOST_DIFFERENCES:
        path, left, right = queue.pop(0)
        if sides[0][left] == sides[1][right]:
            continue
        node, other = expected.nodes[left], actual.nodes[right]
        is_alike = (node.kind, node.label) == (other.kind, other.label)
        if is_alike and len(node.inputs) == len(other.inputs):
            for (name, inner), (_, theirs) in zip(node.inputs, other.inputs, strict=True):
                step = f"{node.words}: {'its object' if name == 'on' else name}"
                queue.append(((*path, step), inner, theirs))
        else:
            where = " → ".join(path) or "the result"
            came, wanted = in_words(actual, right), in_words(expected, left)
            clauses.append(f"{where} is {came} instead of {wanted}")
    return clauses


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
