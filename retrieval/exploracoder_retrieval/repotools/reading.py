"""One Python file, read and never run."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterator, Sequence

from exploracoder_retrieval.errors import UnreadableSource
from exploracoder_retrieval.repotools.conditions import statements
from exploracoder_retrieval.repotools.definitions import (
    FunctionNode,
    read_class,
    read_doc,
    read_function,
    read_variables,
)
from exploracoder_retrieval.repotools.facts import Class, Function, Import, Module


def parse(text: str) -> ast.Module:
    """The syntax of a file.

    Raises:
        UnreadableSource: it is not Python.
    """
    try:
        with warnings.catch_warnings():
            # A stray backslash in somebody's docstring is not our user's business.
            warnings.simplefilter("ignore")
            return ast.parse(text)
    except SyntaxError as error:
        raise UnreadableSource(f"line {error.lineno}: {error.msg}") from None
    except (ValueError, RecursionError, MemoryError) as error:
        raise UnreadableSource(f"it cannot be parsed: {type(error).__name__}") from None


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
    functions = [read_function(one) for one in body if isinstance(one, FunctionNode)]
    package = name if is_package else name.rpartition(".")[0]
    hooks = [one for one in body if isinstance(one, FunctionNode) and one.name == "__getattr__"]
    return Module(
        name=name,
        is_package=is_package,
        doc=read_doc(tree),
        functions=tuple(one for one in functions if one.name != "__getattr__"),
        classes=tuple(_classes(body, version)),
        variables=tuple(read_variables(body)),
        imports=(*_imports(body, package), *(i for hook in hooks for i in _lazy(hook, package))),
        stars=tuple(_stars(body, package)),
        exports=_exports(body),
    )


def functions_of(scope: Module | Class, name: str) -> list[Function]:
    """All definitions of a function: overloads, then the implementation."""
    return [one for one in scope.functions if one.name == name]


def _classes(body: Sequence[ast.stmt], version: tuple[int, ...]) -> Iterator[Class]:
    for node in body:
        if isinstance(node, ast.ClassDef):
            yield read_class(node, version)


def _imports(body: Sequence[ast.stmt], package: str) -> Iterator[Import]:
    for node in body:
        match node:
            case ast.Import(names=aliases):
                for alias in aliases:
                    top = alias.name.partition(".")[0]
                    module = alias.name if alias.asname else top
                    yield Import(
                        name=alias.asname or top, module=module, attribute=None, line=node.lineno
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
    """The names that a module's ``__getattr__`` answers to by importing something.

    Source: PEP 562.
    """
    for node in ast.walk(hook):
        match node:
            case ast.If(test=ast.Compare(ops=[ast.Eq()], comparators=[ast.Constant(str(name))])):
                bound = {one.name: one for one in _imports(node.body, package)}
                for inner in node.body:
                    if isinstance(inner, ast.Return) and isinstance(inner.value, ast.Name):
                        found = bound.get(inner.value.id)
                        if found is not None:
                            yield found.model_copy(update={"name": name})


def _exports(body: Sequence[ast.stmt]) -> tuple[str, ...] | None:
    found: list[str] | None = None
    for node in body:
        match node:
            case ast.Assign(targets=[ast.Name(id="__all__")], value=value):
                found = _strings(value)
            case ast.AnnAssign(target=ast.Name(id="__all__"), value=ast.expr() as value):
                found = _strings(value)
            case ast.AugAssign(target=ast.Name(id="__all__"), value=value):
                found = [*(found or ()), *_strings(value)]
    return None if found is None else tuple(found)


def _strings(node: ast.expr) -> list[str]:
    return [
        inner.value
        for inner in ast.walk(node)
        if isinstance(inner, ast.Constant) and isinstance(inner.value, str)
    ]
