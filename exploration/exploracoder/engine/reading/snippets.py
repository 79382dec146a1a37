"""Texts of snippets, cut to what is to run."""

from __future__ import annotations

import ast
from collections.abc import Sequence

# In lines: more is parsed in vain, again and again.
_LONGEST_STATEMENT = 400


def without_repetition(code: str, earlier: Sequence[str]) -> str:
    """``code`` without the statements which the notebook has run already.

    Models asked for new lines tend to start over; running those lines again would only cost time
    and undo what later lines did. Code that holds nothing new is left as it is.
    """
    try:
        body = ast.parse(code).body
        known = {ast.dump(node) for one in earlier for node in ast.parse(one).body}
    except (SyntaxError, ValueError):
        return code
    is_new = {node: ast.dump(node) not in known for node in body}
    if not any(is_new.values()):
        return code
    repeated = {line for node in body if not is_new[node] for line in _lines(node)}
    repeated -= {line for node in body if is_new[node] for line in _lines(node)}
    kept = [line for n, line in enumerate(code.splitlines(), 1) if n not in repeated]
    return "\n".join(kept).strip("\n")


def _lines(node: ast.stmt) -> range:
    """The numbers of a statement's lines, its decorators included."""
    heads = [one.lineno for one in getattr(node, "decorator_list", ())]
    return range(min([node.lineno, *heads]), (node.end_lineno or node.lineno) + 1)


def whole_statements(code: str) -> str:
    """``code`` without an unfinished end: a reply that was cut off at the token limit."""
    lines = code.splitlines()
    for end in range(len(lines), max(0, len(lines) - _LONGEST_STATEMENT), -1):
        head = "\n".join(lines[:end])
        try:
            ast.parse(head)
        except (SyntaxError, ValueError):
            continue
        return head
    return code
