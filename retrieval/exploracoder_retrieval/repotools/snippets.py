"""Cuts a file into the pieces that a search can find.

Source: RepoClassBench, appendix D: classes without the bodies of their methods, module-level
functions with theirs, and plain snippets.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from exploracoder_retrieval.embedded_words import words
from exploracoder_retrieval.facts.definitions import FunctionNode, first_line
from exploracoder_retrieval.facts.fact_types import Snippet

MAX_LINES = 60
_MIN_LINES = 3


def cut(tree: ast.Module, text: str) -> Iterator[Snippet]:
    """The pieces of a file, in order. Methods are snippets, named with their class's name."""
    lines = text.split("\n")
    loose: list[ast.stmt] = []
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            yield from _class(node, lines, "")
        elif isinstance(node, FunctionNode):
            yield _piece("function", node.name, node, lines)
        elif not isinstance(node, ast.Import | ast.ImportFrom):
            loose.append(node)
            continue
        yield from _snippet(loose, lines)
        loose = []
    yield from _snippet(loose, lines)


def _class(node: ast.ClassDef, lines: list[str], prefix: str) -> Iterator[Snippet]:
    name = prefix + node.name
    methods = [one for one in node.body if isinstance(one, FunctionNode)]
    bodies = {
        number
        for one in methods
        for number in range(one.body[0].lineno, (one.end_lineno or one.lineno) + 1)
    }
    own = range(first_line(node), (node.end_lineno or node.lineno) + 1)
    texts = [lines[number - 1] for number in own if number not in bodies]
    texts += [ast.get_docstring(one) or "" for one in methods]
    yield _made("class", name, own, "\n".join(texts))
    for one in methods:
        yield _piece("snippet", f"{name}.{one.name}", one, lines)
    for inner in node.body:
        if isinstance(inner, ast.ClassDef):
            yield from _class(inner, lines, f"{name}.")


def _piece(kind: str, name: str, node: FunctionNode, lines: list[str]) -> Snippet:
    span = range(first_line(node), (node.end_lineno or node.lineno) + 1)
    return _made(kind, name, span, "\n".join(lines[span.start - 1 : span.stop - 1]))


def _snippet(nodes: list[ast.stmt], lines: list[str]) -> Iterator[Snippet]:
    """Statements between definitions, in pieces of whole statements."""
    start = 0
    for number, node in enumerate(nodes):
        is_last = number == len(nodes) - 1
        end = node.end_lineno or node.lineno
        if is_last or (nodes[number + 1].end_lineno or 0) - nodes[start].lineno >= MAX_LINES:
            span = range(nodes[start].lineno, end + 1)
            if len(span) >= _MIN_LINES:
                text = "\n".join(lines[span.start - 1 : span.stop - 1])
                yield _made("snippet", "", span, text)
            start = number + 1


def _made(kind: str, name: str, span: range, text: str) -> Snippet:
    stems = words(f"{name} {name} {text}")
    return Snippet.model_validate(
        {
            "kind": kind,
            "name": name,
            "line": span.start,
            "end_line": span.stop - 1,
            "words": " ".join(stems),
        }
    )
