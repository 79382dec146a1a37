"""Names that a module's ``__getattr__`` looks up in a table of modules when they are asked for.

Source: PEP 562, and SPEC 1 of Scientific Python, which ``lazy_loader`` implements.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from exploracoder_retrieval.facts.fact_types import Import


def looked_up_names(body: Sequence[ast.stmt], package: str) -> Iterator[Import]:
    """The names in tables that ``__getattr__`` uses, or that the call which makes it is given.

    A module without dots before it may be the package's or a top-level one: both are tried.
    """
    tables = {
        target.id: node.value
        for node in body
        if isinstance(node, ast.Assign | ast.AnnAssign) and isinstance(node.value, ast.Dict)
        for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
        if isinstance(target, ast.Name)
    }
    for node in filter(is_hook, body):
        for inner in ast.walk(node):
            table = tables.get(inner.id) if isinstance(inner, ast.Name) else inner
            if isinstance(table, ast.Dict):
                for key, value in zip(table.keys, table.values, strict=True):
                    if isinstance(key, ast.Constant) and isinstance(key.value, str):
                        yield from _entry(key.value, value, package)


def is_hook(node: ast.stmt) -> bool:
    """Whether a statement defines ``__getattr__``, also as the result of a call."""
    if isinstance(node, ast.Assign):
        return any(
            isinstance(inner, ast.Name) and inner.id == "__getattr__"
            for target in node.targets
            for inner in ast.walk(target)
        )
    return isinstance(node, ast.FunctionDef) and node.name == "__getattr__"


def _entry(key: str, value: ast.expr, package: str) -> Iterator[Import]:
    """One entry: a name with its module and perhaps its name there, or a module with its names."""
    match value:
        case ast.Constant(value=str(place)):
            module, colon, attribute = place.partition(":")
            yield from _imports(key, module, attribute if colon else key, package, value)
            module, _, last = place.rpartition(".")
            if last == key and module.strip("."):
                yield from _imports(key, module, last, package, value)
        case ast.Tuple(elts=[ast.Constant(value=str(module)), ast.Constant(value=str(name))]):
            yield from _imports(key, module, name, package, value)
        case ast.List(elts=elements) | ast.Set(elts=elements):
            for each in elements:
                if isinstance(each, ast.Constant) and isinstance(each.value, str):
                    yield from _imports(each.value, f".{key}", each.value, package, each)


def _imports(
    name: str, module: str, attribute: str, package: str, node: ast.expr
) -> Iterator[Import]:
    path = module.lstrip(".")
    parents = package.split(".")
    level = len(module) - len(path)
    base = parents[: len(parents) - level + 1] if level else parents
    for full in (".".join([*base, path] if path else base), *(() if level else (path,))):
        if all(part.isidentifier() for part in (*full.split("."), name, attribute)):
            yield Import(
                name=name, module=full, attribute=attribute, line=node.lineno, only="asked"
            )
