"""Reads one Python file without running it."""

from __future__ import annotations

import ast
import gc
import sys
import warnings
from collections.abc import Iterator, Sequence, Set
from contextlib import contextmanager

from exploracoder_retrieval.errors import UnreadableSource
from exploracoder_retrieval.facts.conditions import statements
from exploracoder_retrieval.facts.definitions import (
    FunctionNode,
    read_class,
    read_doc,
    read_function,
    read_variables,
)
from exploracoder_retrieval.facts.fact_types import Import, Module
from exploracoder_retrieval.facts.function_bodies import Tables, strings_in
from exploracoder_retrieval.facts.lazy_names import is_hook, looked_up_names

_MAX_TEXT_CHARS = 20_000
# Warnings about a file's syntax are said to come from a module of the name it is parsed under.
_PARSED_NAME = "exploracoder_parsed_source"


@contextmanager
def uncollected() -> Iterator[None]:
    """Disable the garbage collector while a tree is built, read and dropped.

    It would traverse the tree over and over, a quarter of the time, and find no cycle.
    """
    is_collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if is_collecting:
            gc.enable()


def parse(text: str, version: tuple[int, ...] = (0,)) -> ast.Module:
    """The syntax tree of a file that is for a Python of ``version``, if that is known.

    Raises:
        UnreadableSource: it is not Python, or not to the Python that reads it, which is older.
    """
    try:
        _ignore_warnings()
        with uncollected():
            return ast.parse(text, _PARSED_NAME)
    except SyntaxError as error:
        raise UnreadableSource(f"line {error.lineno}: {error.msg}{_age(version)}") from None
    except (ValueError, RecursionError, MemoryError) as error:
        raise UnreadableSource(f"it cannot be parsed: {type(error).__name__}") from None


def _age(version: tuple[int, ...]) -> str:
    """A remark if our Python is older than the one a file is for, and may not know its syntax."""
    if version[:2] <= sys.version_info[:2]:
        return ""
    own, other = (".".join(map(str, each[:2])) for each in (sys.version_info, version))
    return f" (it was read with Python {own}, and the library is for Python {other})"


def _ignore_warnings() -> None:
    """A stray backslash in somebody's docstring is not our user's problem.

    ``catch_warnings`` would be for the whole process: threads that overlap can leave the filters of
    one to all others for good. This filter matches nothing but what is parsed here.
    """
    first = next(iter(warnings.filters), None)
    if first is None or getattr(first[3], "pattern", None) != _PARSED_NAME:
        warnings.filterwarnings("ignore", module=_PARSED_NAME)


def parse_or_none(text: str) -> ast.Module | None:
    """The syntax tree of a file or of a part of one; None if it is not Python."""
    try:
        return parse(text)
    except UnreadableSource:
        return None


def read_module(
    tree: ast.Module, name: str, *, is_package: bool, version: tuple[int, ...]
) -> Module:
    """What a file defines, imports and publishes, for a Python of ``version``.

    Raises:
        UnreadableSource: it is nested too deeply.
    """
    try:
        return _read(tree, name, is_package, version)
    except RecursionError:
        raise UnreadableSource("it is nested too deeply") from None


def _read(tree: ast.Module, name: str, is_package: bool, version: tuple[int, ...]) -> Module:
    body = list(statements(tree.body, version))
    tables = dict(_tables(body))
    package = name if is_package else name.rpartition(".")[0]
    functions = [node for node in body if isinstance(node, FunctionNode)]
    classes = [node for node in body if isinstance(node, ast.ClassDef)]
    hooks = [node for node in functions if node.name == "__getattr__"]
    looked_up = tuple(looked_up_names(body, package))
    return Module(
        name=name,
        is_package=is_package,
        doc=read_doc(tree),
        functions=tuple(read_function(each, tables) for each in functions),
        classes=tuple(read_class(each, version, tables) for each in classes),
        variables=tuple(read_variables(body)),
        imports=(
            *_imports(body, package, for_types=set(_lines_for_types(tree, body))),
            *(lazy_import for hook in hooks for lazy_import in _lazy(hook, package)),
            *looked_up,
        ),
        stars=tuple(_stars(body, package)),
        exports=_exports(body, tables, [each.name for each in looked_up]),
        texts=dict(_texts(body)),
    )


def _assignments(body: Sequence[ast.stmt]) -> Iterator[tuple[ast.expr, ast.expr]]:
    for node in body:
        match node:
            case ast.Assign(targets=[target], value=value):
                yield target, value
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                yield target, value


def _tables(body: Sequence[ast.stmt]) -> Iterator[tuple[str, list[str]]]:
    """Names, each with the strings that it lists or has as keys."""
    for target, value in _assignments(body):
        if isinstance(target, ast.Name) and (strings := strings_in(value)):
            yield target.id, strings


def _texts(body: Sequence[ast.stmt]) -> Iterator[tuple[str, str]]:
    for target, value in _assignments(body):
        match target, value:
            case ast.Name() | ast.Subscript(), ast.Constant(value=str(text)) if " " in text:
                if len(text) <= _MAX_TEXT_CHARS:
                    yield ast.unparse(target), text


def _lines_for_types(tree: ast.Module, body: Sequence[ast.stmt]) -> Iterator[int]:
    """The lines that only type checkers reach.

    A module that puts a lazy one in its place has at run time what these lines import.
    """
    if any(map(_replaces_itself, body)):
        return
    for node in tree.body:
        match node:
            case ast.If(test=ast.Name("TYPE_CHECKING") | ast.Attribute(attr="TYPE_CHECKING")):
                yield from range(node.lineno, (node.body[-1].end_lineno or node.lineno) + 1)


def _replaces_itself(node: ast.stmt) -> bool:
    match node:
        case ast.Assign(
            targets=[ast.Subscript(ast.Attribute(attr="modules"), ast.Name("__name__"))]
        ):
            return True
    return False


def _imports(
    body: Sequence[ast.stmt], package: str, *, for_types: Set[int] = frozenset()
) -> Iterator[Import]:
    for node in body:
        match node:
            case ast.Import(names=aliases):
                for alias in aliases:
                    top = alias.name.partition(".")[0]
                    module = alias.name if alias.asname else top
                    yield Import(
                        name=alias.asname or top,
                        module=module,
                        attribute=None,
                        line=node.lineno,
                        only="types" if node.lineno in for_types else "",
                    )
            case ast.ImportFrom(names=aliases):
                module = _absolute(node, package)
                for alias in aliases:
                    if alias.name != "*":
                        yield Import(
                            name=alias.asname or alias.name,
                            module=module,
                            attribute=alias.name,
                            line=node.lineno,
                            as_itself=alias.asname == alias.name,
                            only="types" if node.lineno in for_types else "",
                        )


def _stars(body: Sequence[ast.stmt], package: str) -> Iterator[str]:
    for node in body:
        if isinstance(node, ast.ImportFrom) and any(one.name == "*" for one in node.names):
            yield _absolute(node, package)


def _absolute(node: ast.ImportFrom, package: str) -> str:
    if not node.level:
        return node.module or ""
    parts = package.split(".")
    base = ".".join(parts[: len(parts) - node.level + 1])
    return f"{base}.{node.module}" if node.module else base


def _lazy(hook: FunctionNode, package: str) -> Iterator[Import]:
    """The names that a module's ``__getattr__`` resolves by importing something.

    Source: PEP 562.
    """
    for node in ast.walk(hook):
        match node:
            case ast.If(test=ast.Compare(ops=[ast.Eq()], comparators=[ast.Constant(str(name))])):
                bound = {one.name: one for one in _imports(node.body, package)}
                for inner in node.body:
                    if isinstance(inner, ast.Return) and isinstance(inner.value, ast.Name):
                        binding = bound.get(inner.value.id)
                        if binding is not None:
                            yield binding.model_copy(update={"name": name, "only": "asked"})


def _exports(
    body: Sequence[ast.stmt], tables: Tables, looked_up: Sequence[str]
) -> tuple[str, ...] | None:
    """The names in ``__all__``; None if there is none, or only running it would tell."""
    names: list[str] = []
    for node in body:
        match node:
            case ast.Assign(targets=[ast.Name(id="__all__")], value=value):
                names = _listed(value, tables)
            case ast.Assign(targets=[ast.Tuple(elts=[*_, ast.Name(id="__all__")])], value=value):
                names = [*_attached(value, tables), *looked_up] if is_hook(node) else []
            case ast.AnnAssign(target=ast.Name(id="__all__"), value=ast.expr() as value):
                names = _listed(value, tables)
            case ast.AugAssign(target=ast.Name(id="__all__"), value=value):
                names += _listed(value, tables)
            case ast.Expr(value=ast.Call(ast.Attribute(ast.Name("__all__")), [value])):
                names += _listed(value, tables)  # extend, append
    return tuple(dict.fromkeys(names)) or None


def _attached(value: ast.expr, tables: Tables) -> list[str]:
    """The modules that ``__getattr__, __dir__, __all__ = attach(…)`` is given besides a table."""
    arguments = (
        [*value.args, *(one.value for one in value.keywords)] if isinstance(value, ast.Call) else []
    )
    literals = [one for one in arguments if isinstance(one, ast.List | ast.Set | ast.Tuple)]
    return [name for one in literals for name in _listed(one, tables)]


def _listed(node: ast.expr, tables: Tables) -> list[str]:
    """The names that an expression lists; ``other.__all__`` stands for another module's list."""
    match node:
        case ast.Constant(value=str(name)):
            return [name]
        case ast.List(elts=parts) | ast.Tuple(elts=parts) | ast.Set(elts=parts):
            return [name for part in parts for name in _listed(part, tables)]
        case ast.BinOp(left=left, op=ast.Add() | ast.BitOr(), right=right):
            return [*_listed(left, tables), *_listed(right, tables)]
        case ast.Call(func=ast.Attribute(value=inner, attr="keys"), args=[]):
            return _listed(inner, tables)
        case ast.Starred(value=inner) | ast.Call(args=[inner]):
            return _listed(inner, tables)
        case ast.Attribute(attr="__all__"):
            return [ast.unparse(node)]
        case ast.Name(id=name):
            return list(tables.get(name, ()))
    return []
