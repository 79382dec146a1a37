"""Calls of a function that was written: what is called in a code, and whether anything is."""

from __future__ import annotations

import ast

from exploracoder.engine.reading.syntax import DEFINITIONS, IMPORTS, tree


def called_in(code: str) -> str:
    """The calls that a code prints, keeps or makes, without what they are done with.

    The last line where it makes none that could be told.
    """
    lines = code.strip().splitlines()
    found = [ast.unparse(call) for node in tree(code).body for call in _calls(node)]
    return ", ".join(dict.fromkeys(found)) or (lines[-1] if lines else "")


def only_defines(code: str) -> bool:
    """Whether a code defines functions or classes, and does nothing else but import."""
    body = [node for node in tree(code).body if not _is_docstring(node)]
    has_definition = any(isinstance(node, DEFINITIONS) for node in body)
    return has_definition and all(isinstance(node, (*DEFINITIONS, *IMPORTS)) for node in body)


def _calls(node: ast.stmt) -> list[ast.Call]:
    match getattr(node, "value", None):
        case ast.Call(func=ast.Name(id="print"), args=[*printed]):
            return [one for one in printed if isinstance(one, ast.Call)]
        case ast.Call() as call:
            return [call]
    return []


def _is_docstring(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
