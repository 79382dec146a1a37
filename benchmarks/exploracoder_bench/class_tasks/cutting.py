"""A class taken out of its file, and told of without its bodies."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from pathlib import Path

from exploracoder.engine.placing import placed
from exploracoder.errors import InputError

_INDENT = "    "
# Longer values are no part of a declaration.
_VALUE_CHARS = 80


@dataclass(frozen=True, slots=True)
class Cut:
    """A file without a class, the class's text, and what is said of it."""

    rest: str
    code: str
    description: str


def cut(file: Path, name: str) -> Cut:
    """Take the class ``name``, which stands at the top level, out of ``file``'s text.

    Raises InputError when it is not there.
    """
    try:
        text = file.read_text(encoding="utf-8")
        body = ast.parse(text).body
    except (OSError, ValueError, SyntaxError) as error:
        raise InputError(f"{file.name} cannot be read: {error}.") from error
    found = [node for node in body if isinstance(node, ast.ClassDef) and node.name == name]
    if len(found) != 1:
        raise InputError(f"{file.name} has {len(found)} classes {name} at its top level, not one.")
    node = found[0]
    first = min([node.lineno, *(one.lineno for one in node.decorator_list)])
    code = "\n".join(text.splitlines()[first - 1 : node.end_lineno]) + "\n"
    return Cut(rest=placed(text, "", name), code=code, description=describe(node))


def describe(node: ast.ClassDef) -> str:
    """What the class's author says of it: heads, docstrings, and what is assigned in its body.

    No model writes it, so nothing is in it that the class does not say; a method without a
    docstring is known by its head alone.
    """
    lines = [f"The class {node.name}, with its members and without their bodies:", ""]
    return "\n".join([*lines, *_class(node)]) + "\n"


def _class(node: ast.ClassDef) -> list[str]:
    bases = [ast.unparse(one) for one in (*node.bases, *node.keywords)]
    head = f"class {node.name}({', '.join(bases)}):" if bases else f"class {node.name}:"
    inside = _doc(node)
    inside += [""] if inside else []
    for one in node.body:
        if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef):
            inside += ["", *_function(one)]
        elif isinstance(one, ast.ClassDef):
            inside += ["", *_class(one)]
        elif isinstance(one, ast.Assign | ast.AnnAssign):
            inside.append(_assigned(one))
    return [*_decorators(node), head, *(f"{_INDENT}{line}" if line else "" for line in inside)]


def _function(node: ast.FunctionDef | ast.AsyncFunctionDef) -> list[str]:
    word = "async def" if isinstance(node, ast.AsyncFunctionDef) else "def"
    returns = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    head = f"{word} {node.name}({ast.unparse(node.args)}){returns}"
    inside = (f"{_INDENT}{line}" if line else "" for line in _doc(node))
    return [*_decorators(node), head, *inside]


def _decorators(node: ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) -> list[str]:
    return [f"@{ast.unparse(one)}" for one in node.decorator_list]


def _doc(node: ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) -> list[str]:
    return (ast.get_docstring(node) or "").splitlines()


def _assigned(node: ast.Assign | ast.AnnAssign) -> str:
    whole = ast.unparse(node)
    if node.value is None or len(ast.unparse(node.value)) <= _VALUE_CHARS:
        return whole
    return f"{whole[: -len(ast.unparse(node.value))]}..."
