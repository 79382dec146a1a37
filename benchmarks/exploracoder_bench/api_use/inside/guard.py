"""What a candidate may not say, found in its syntax before anything of it runs."""

from __future__ import annotations

import ast
from collections.abc import Iterator

# They lead from a harmless object to the interpreter's own, though no underscore warns of it.
_FRAMES = frozenset(
    [
        "gi_frame",
        "gi_code",
        "gi_yieldfrom",
        "cr_frame",
        "cr_code",
        "cr_await",
        "cr_origin",
        "ag_frame",
        "ag_code",
        "ag_await",
        "tb_frame",
        "tb_next",
        "f_back",
        "f_globals",
        "f_locals",
        "f_builtins",
        "f_code",
        "f_trace",
        "mro",
    ]
)
_FORBIDDEN = frozenset(
    [
        "eval",
        "exec",
        "compile",
        "open",
        "input",
        "globals",
        "locals",
        "vars",
        "dir",
        "setattr",
        "delattr",
        "type",
        "object",
        "super",
        "breakpoint",
        "help",
        "exit",
        "quit",
        "memoryview",
        "id",
        "__import__",
    ]
)
_FINE_NAMES = frozenset({"__name__"})
_MOST_CHARACTERS = 100_000


class RefusedError(Exception):
    """The candidate is not run; the text says why, after 'it'."""


def parse(source: str, modules: frozenset[str]) -> ast.Module:
    """The syntax of a candidate that may run.

    Args:
        source: The candidate's program.
        modules: The names that it may import.

    Raises:
        RefusedError: It is not Python, or does what no answer needs.
    """
    if len(source) > _MOST_CHARACTERS:
        raise RefusedError(f"is longer than {_MOST_CHARACTERS:,} characters")
    try:
        tree = ast.parse(source, "candidate")
    except (SyntaxError, ValueError) as error:
        line = getattr(error, "lineno", None)
        where = f" in line {line}" if line else ""
        raise RefusedError(f"is not Python{where}: {getattr(error, 'msg', error)}") from error
    except (RecursionError, MemoryError) as error:
        raise RefusedError("is nested too deep") from error
    for reason in _reasons(tree, modules):
        raise RefusedError(reason)
    return tree


def is_private(name: str) -> bool:
    """Whether an attribute is the interpreter's business."""
    return name.startswith("_") or name in _FRAMES


def _reasons(tree: ast.Module, modules: frozenset[str]) -> Iterator[str]:
    own = set(_own_names(tree))
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield from _about_import(alias.name, modules)
        elif isinstance(node, ast.ImportFrom):
            yield from _about_import("." * node.level + (node.module or ""), modules)
            yield from _about_attributes([alias.name for alias in node.names])
        elif isinstance(node, ast.Attribute):
            yield from _about_attributes([node.attr])
        elif isinstance(node, ast.MatchClass):
            yield from _about_attributes(node.kwd_attrs)
        elif isinstance(node, ast.Name):
            yield from _about_name(node.id, own)


def _about_import(name: str, modules: frozenset[str]) -> Iterator[str]:
    if name not in modules:
        yield f"imports {name}, which the problem does not give"


def _about_attributes(names: list[str]) -> Iterator[str]:
    for name in names:
        if is_private(name):
            yield f"reaches for .{name}, which is no part of a library"


def _about_name(name: str, own: set[str]) -> Iterator[str]:
    is_interpreters = name.startswith("__") and name not in _FINE_NAMES
    if (is_interpreters or name in _FORBIDDEN) and name not in own:
        yield f"uses {name}, which no data flow needs"


def _own_names(tree: ast.Module) -> Iterator[str]:
    """Names that the candidate gives a meaning itself: they hide what Python means by them."""
    for node in ast.walk(tree):
        if isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            yield node.name
        elif isinstance(node, ast.alias):
            yield node.asname or node.name
