"""Texts of snippets, cut to what is to run."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from exploracoder.engine.reading.syntax import first_line, parsed, tree

# In lines: more is parsed in vain, again and again.
_LONGEST_STATEMENT = 400


def without_repetition(code: str, earlier: Sequence[str]) -> str:
    """``code`` without the statements which the notebook has run already.

    Models asked for new lines tend to start over; running those lines again would only cost time
    and undo what later lines did. Code that holds nothing new is left as it is.
    """
    body = tree(code).body
    known = {ast.dump(node) for one in earlier for node in tree(one).body}
    is_new = {node: ast.dump(node) not in known for node in body}
    if not any(is_new.values()):
        return code
    repeated = {line for node in body if not is_new[node] for line in _lines(node)}
    repeated -= {line for node in body if is_new[node] for line in _lines(node)}
    kept = [line for n, line in enumerate(code.splitlines(), 1) if n not in repeated]
    return "\n".join(kept).strip("\n")


def _lines(node: ast.stmt) -> range:
    """The numbers of a statement's lines, its decorators included."""
    return range(first_line(node), (node.end_lineno or node.lineno) + 1)


def whole_statements(code: str) -> str:
    """``code`` without an unfinished end: a reply that was cut off at the token limit."""
    lines = code.splitlines()
    ends = range(len(lines), max(0, len(lines) - _LONGEST_STATEMENT), -1)
    heads = ("\n".join(lines[:end]) for end in ends)
    return next((head for head in heads if parsed(head) is not None), code)
