"""What a function's body says of its parameters and of what goes wrong."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

# A module's names with the strings that each lists.
Tables = Mapping[str, Sequence[str]]
_MAX_CHOICES = 24
_MAX_RAISES = 8
_MAX_CHOICE_CHARS = 40


# Most of what nodes hold is of these kinds, and nothing is read of one by itself.
_PASSED = frozenset(
    (
        *(ast.Name, ast.Constant, ast.ClassDef, str, int, type(None)),
        *(ast.Load, ast.Store, ast.Del),
        *ast.operator.__subclasses__(),
        *ast.cmpop.__subclasses__(),
    )
)


def walk_body(body: Sequence[ast.AST]) -> Iterator[ast.AST]:
    """All nodes but names and constants, parents first; what a nested class does is its own."""
    waiting = [node for node in reversed(body) if not isinstance(node, ast.ClassDef)]
    while waiting:
        node = waiting.pop()
        yield node
        # As `ast.iter_child_nodes` goes, in half the time.
        inner: list[ast.AST] = []
        for name in node._fields:
            value: Any = getattr(node, name, None)
            if isinstance(value, list):
                inner += [each for each in value if type(each) not in _PASSED]
            elif type(value) not in _PASSED:
                inner.append(value)
        waiting += reversed(inner)


def read_raises(body: Sequence[ast.AST]) -> tuple[str, ...]:
    """The exceptions that are raised by name, in order; one that was caught has none."""
    names: dict[str, None] = {}
    for node in body:
        if isinstance(node, ast.Raise) and node.exc is not None:
            exception = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
            name = ast.unparse(exception) if isinstance(exception, ast.Name | ast.Attribute) else ""
            if name.rpartition(".")[2][:1].isupper():
                names[name] = None
    return tuple(names)[:_MAX_RAISES]


def read_choices(body: Sequence[ast.AST], tables: Tables) -> dict[str, tuple[str, ...]]:
    """The strings that plain names are compared with, by name.

    What must be in a list, or is looked up in a table, goes before other comparisons, of which a
    single one says too little.
    """
    requirements: dict[str, dict[str, None]] = {}
    comparisons: dict[str, dict[str, None]] = {}
    for node in body:
        for name, choices, is_needed in _comparisons(node, tables):
            if choices:
                strings = requirements if is_needed else comparisons
                strings.setdefault(name, {}).update(dict.fromkeys(choices))
    several = {
        name: strings for name, strings in (comparisons | requirements).items() if len(strings) > 1
    }
    return {name: tuple(strings)[:_MAX_CHOICES] for name, strings in several.items()}


def strings_in(node: ast.expr | None) -> list[str]:
    """The strings that a literal lists, or the keys of a dictionary; empty where others are."""
    match node:
        case ast.Tuple(elts=elements) | ast.List(elts=elements) | ast.Set(elts=elements):
            pass
        case ast.Dict(keys=keys):
            elements = [key for key in keys if key is not None]
        case ast.Call(args=[inner]):  # frozenset({…})
            return strings_in(inner)
        case _:
            return []
    strings = [each.value for each in elements if isinstance(each, ast.Constant)]
    short = [each for each in strings if isinstance(each, str) and len(each) <= _MAX_CHOICE_CHARS]
    return short if len(short) == len(elements) else []


def _comparisons(node: ast.AST, tables: Tables) -> Iterator[tuple[str, Sequence[str], bool]]:
    """A name, what it is compared with, and whether it has to be one of these."""
    match node:
        case ast.Compare(left=ast.Name(id=name), ops=[ast.Eq() | ast.NotEq()], comparators=[one]):
            yield name, strings_in(ast.Tuple(elts=[one])), False
        case ast.Compare(left=ast.Name(id=name), ops=[op], comparators=[listed]):
            if isinstance(op, ast.In | ast.NotIn):
                table = tables.get(listed.id, ()) if isinstance(listed, ast.Name) else ()
                yield name, table or strings_in(listed), isinstance(op, ast.NotIn)
        case ast.Subscript(value=ast.Name(id=table), slice=ast.Name(id=name)):
            yield name, tables.get(table, ()), True
        case ast.Match(subject=ast.Name(id=name), cases=cases):
            values = [one for case in cases for one in _values(case.pattern)]
            yield name, strings_in(ast.Tuple(elts=values)), False


def _values(pattern: ast.pattern) -> list[ast.expr]:
    if isinstance(pattern, ast.MatchOr):
        return [one for inner in pattern.patterns for one in _values(inner)]
    return [pattern.value] if isinstance(pattern, ast.MatchValue) else []
