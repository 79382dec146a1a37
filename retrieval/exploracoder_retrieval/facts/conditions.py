"""Which branch of an ``if`` a given Python takes, as far as can be told without running it."""

from __future__ import annotations

import ast
import operator
import os
import sys
from collections.abc import Iterator, Sequence
from typing import Any

_COMPARE = {
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}


def statements(body: Sequence[ast.stmt], version: tuple[int, ...]) -> Iterator[ast.stmt]:
    """The statements of a scope, including those in blocks that may run.

    Tests of ``sys.version_info``, ``sys.platform`` or ``os.name`` are evaluated; if a test cannot
    be, both branches count, and so do all parts of a ``try``.
    """
    for node in body:
        match node:
            case ast.If(test=test, body=then, orelse=other):
                verdict = truth(test, version)
                if verdict is not False:
                    yield from statements(then, version)
                if verdict is not True:
                    yield from statements(other, version)
            case ast.Try(body=block, handlers=handlers, orelse=other, finalbody=last):
                for part in (block, *(one.body for one in handlers), other, last):
                    yield from statements(part, version)
            case ast.With(body=inner) | ast.AsyncWith(body=inner):
                yield node
                yield from statements(inner, version)
            case ast.For(body=inner, orelse=other) | ast.While(body=inner, orelse=other):
                yield node
                yield from statements([*inner, *other], version)
            case _:
                yield node


def truth(test: ast.expr, version: tuple[int, ...]) -> bool | None:
    """The value of a test; None if only running it could tell."""
    match test:
        case ast.Constant(value=value):
            return bool(value)
        case ast.UnaryOp(op=ast.Not(), operand=inner):
            verdict = truth(inner, version)
            return None if verdict is None else not verdict
        case ast.BoolOp(op=op, values=values):
            return _joined(op, [truth(value, version) for value in values])
        case ast.Compare(left=left, ops=[op], comparators=[right]):
            return _compared(left, op, right, version)
        case ast.Call(func=ast.Attribute(value=value, attr="startswith"), args=[ast.Constant(v)]):
            return sys.platform.startswith(str(v)) if _is(value, "sys.platform") else None
    return None


def _joined(op: ast.boolop, verdicts: list[bool | None]) -> bool | None:
    decisive = isinstance(op, ast.Or)
    if decisive in verdicts:
        return decisive
    return None if None in verdicts else not decisive


def _compared(
    left: ast.expr, op: ast.cmpop, right: ast.expr, version: tuple[int, ...]
) -> bool | None:
    compare = _COMPARE.get(type(op))
    if compare is None:
        return None
    try:
        literal = ast.literal_eval(right)
        if _is(left, "sys.version_info") and isinstance(literal, tuple):
            return bool(compare(version[: len(literal)], literal))
        known = _known(left, version)
        if known is not None and isinstance(literal, type(known)):
            return bool(compare(known, literal))
    except (ValueError, TypeError):
        pass
    return None


def _known(node: ast.expr, version: tuple[int, ...]) -> Any:
    """A part of the version, or the platform; None for any other expression."""
    match node:
        case ast.Subscript(value=whole, slice=ast.Slice(None, ast.Constant(int(end)), None)):
            return version[:end] if _is(whole, "sys.version_info") else None
        case ast.Attribute() | ast.Subscript():
            parts: dict[str, int | str] = {
                "sys.version_info[0]": version[0],
                "sys.version_info.major": version[0],
                "sys.version_info[1]": version[1],
                "sys.version_info.minor": version[1],
                "sys.platform": sys.platform,
                "os.name": os.name,
            }
            return parts.get(ast.unparse(node))
    return None


def _is(node: ast.expr, text: str) -> bool:
    return isinstance(node, ast.Attribute | ast.Subscript) and ast.unparse(node) == text
