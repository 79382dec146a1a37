"""What a function's body says about its parameters and the exceptions it raises."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

# A module's names, each with the strings that it lists.
Tables = Mapping[str, Sequence[str]]
_MAX_CHOICES = 24
_MAX_RAISES = 8
_MAX_CHOICE_CHARS = 40


# Most child nodes and field values are of these types, and none matters on its own.
_PASSED = frozenset(
    (
        *(ast.Name, ast.Constant, ast.ClassDef, str, int, type(None)),
        *(ast.Load, ast.Store, ast.Del),
        *ast.operator.__subclasses__(),
        *ast.cmpop.__subclasses__(),
    )
)


def walk_body(body: Sequence[ast.AST]) -> Iterator[ast.AST]:
    """All nodes except names and constants, parents first; nested classes are skipped."""
    stack = [node for node in reversed(body) if not isinstance(node, ast.ClassDef)]
    while stack:
        node = stack.pop()
        yield node
        # Like `ast.iter_child_nodes`, in half the time.
        inner: list[ast.AST] = []
        for name in node._fields:
            value: Any = getattr(node, name, None)
            if isinstance(value, list):
                inner += [each for each in value if type(each) not in _PASSED]
            elif type(value) not in _PASSED:
                inner.append(value)
        stack += reversed(inner)


def has_yield(body: Sequence[ast.AST]) -> bool:
    """Whether a function with this body is a generator; functions inside it do not count."""
    stack = list(body)
    while stack:
        node = stack.pop()
        if isinstance(node, ast.Yield | ast.YieldFrom):
            return True
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef):
            stack += ast.iter_child_nodes(node)
    return False


def read_raises(body: Sequence[ast.AST]) -> tuple[str, ...]:
    """The exceptions that are raised by name, in order; re-raised ones are left out."""
    names: dict[str, None] = {}
    for node in body:
        if isinstance(node, ast.Raise) and node.exc is not None:
            exception = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
            name = ast.unparse(exception) if isinstance(exception, ast.Name | ast.Attribute) else ""
            if name.rpartition(".")[2][:1].isupper():
                names[name] = None
    return tuple(names)[:_MAX_RAISES]


def read_choices(body: Sequence[ast.AST], tables: Tables) -> dict[str, tuple[str, ...]]:
    """The strings that each plain name is compared with.

    Values that must be in a list, or are looked up in a table, take precedence over other
    comparisons. A name compared with a single string is left out: it says too little.
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
    """The strings in a literal, or a dictionary's keys; empty if it holds anything else."""
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
    """Each compared name, the strings it is compared with, and whether it must be one of them."""
    match node:
        case ast.Compare(left=ast.Name(id=name), ops=[ast.Eq() | ast.NotEq()], comparators=[one]):
            yield name, strings_in(ast.Tuple(elts=[one])), False
        case ast.Compare(left=ast.Name(id=name), ops=[op], comparators=[container]):
            if isinstance(op, ast.In | ast.NotIn):
                table = tables.get(container.id, ()) if isinstance(container, ast.Name) else ()
                yield name, table or strings_in(container), isinstance(op, ast.NotIn)
        case ast.Subscript(value=ast.Name(id=table), slice=ast.Name(id=name)):
            yield name, tables.get(table, ()), True
        case ast.Match(subject=ast.Name(id=name), cases=cases):
            values = [one for case in cases for one in _values(case.pattern)]
            yield name, strings_in(ast.Tuple(elts=values)), False


def _values(pattern: ast.pattern) -> list[ast.expr]:
    if isinstance(pattern, ast.MatchOr):
        return [one for inner in pattern.patterns for one in _values(inner)]
    return [pattern.value] if isinstance(pattern, ast.MatchValue) else []
