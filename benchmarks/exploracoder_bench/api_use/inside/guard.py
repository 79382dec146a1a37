"""What a candidate may not say, found in its syntax before anything of it runs."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator

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
        "super",
        "breakpoint",
        "help",
        "exit",
        "quit",
        "memoryview",
        "id",
        "hash",
        "__import__",
    ]
)
_FINE_NAMES = frozenset({"__name__"})
# What named tuples call their functions, so that no field has the same name.
_OF_NAMED_TUPLES = frozenset({"_asdict", "_field_defaults", "_fields", "_make", "_replace"})
_OF_BASE_CLASSES = frozenset({"__init__", "__post_init__"})
_MOST_CHARACTERS = 100_000
# What a candidate's code is called in its frames.
FILE = "candidate"


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
        tree = ast.parse(source, FILE)
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
    private = set(_own_attributes(tree)) | _OF_NAMED_TUPLES
    # A call is walked through before the name in it.
    bases: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield from _about_import(alias.name, modules)
        elif isinstance(node, ast.ImportFrom):
            yield from _about_import("." * node.level + (node.module or ""), modules)
            yield from _about_attributes([alias.name for alias in node.names])
        elif isinstance(node, ast.Attribute):
            is_fine = node.attr in _OF_BASE_CLASSES and _is_base_class(node.value, own)
            yield from () if is_fine else _about_attributes([node.attr], private)
        elif isinstance(node, ast.MatchClass):
            yield from _about_attributes(node.kwd_attrs, private)
        elif isinstance(node, (ast.MatchSequence, ast.MatchMapping)):
            # No value can be asked whether it is a sequence, and none is told that it was.
            yield "matches the pattern of a sequence or mapping, which a value may have or not"
        elif isinstance(node, ast.Call) and _is_base_class(node, own):
            bases.add(id(node.func))
        elif isinstance(node, ast.Name) and id(node) not in bases:
            yield from _about_name(node.id, own)


def _about_import(name: str, modules: frozenset[str]) -> Iterator[str]:
    if name not in modules:
        yield f"imports {name}, which the problem does not give"


def _about_attributes(names: list[str], fine: Collection[str] = ()) -> Iterator[str]:
    for name in names:
        if is_private(name) and name not in fine:
            yield f"reaches for .{name}, which is no part of a library"


def _about_name(name: str, own: set[str]) -> Iterator[str]:
    is_interpreters = name.startswith("__") and name not in _FINE_NAMES
    if (is_interpreters or name in _FORBIDDEN) and name not in own:
        yield f"uses {name}, which no data flow needs"


def _is_base_class(node: ast.expr, own: Collection[str]) -> bool:
    """Whether it is ``super()``, or the older ``super(Class, self)``."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
        return False
    is_super = node.func.id == "super" and "super" not in own
    are_names = all(isinstance(one, ast.Name) for one in node.args)
    return is_super and not node.keywords and len(node.args) in (0, 2) and are_names


def _own_attributes(tree: ast.Module) -> Iterator[str]:
    """Private attributes that the candidate's own classes have: it gives them their values."""
    for node in ast.walk(tree):
        names: list[str] = []
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            names = [node.attr]
        elif isinstance(node, ast.ClassDef):
            names = list(_own_names(ast.Module(node.body, [])))
        yield from (one for one in names if not one.endswith("__") and one not in _FRAMES)


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
