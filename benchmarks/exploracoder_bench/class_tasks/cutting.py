"""Cut a class out of its file, and describe it without its bodies."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from exploracoder.engine.reading.syntax import first_line, lines_of
from exploracoder.engine.running.placing import placed
from exploracoder.errors import InputError

_INDENT = "    "
# Longer values are left out of declarations.
_VALUE_CHARS = 80


@dataclass(frozen=True, slots=True)
class Cut:
    """A file without a class, the class's source, and a description of it."""

    rest: str
    code: str
    description: str


def cut(file: Path, name: str) -> Cut:
    """Cut the top-level class ``name`` out of ``file``'s text.

    Raises InputError when it is not there.
    """
    try:
        text = file.read_text(encoding="utf-8-sig")
        body = ast.parse(text).body
    except (OSError, ValueError, SyntaxError) as error:
        raise InputError(f"{file.name} cannot be read: {error}.") from error
    classes = [node for node in body if isinstance(node, ast.ClassDef) and node.name == name]
    if len(classes) != 1:
        raise InputError(
            f"{file.name} has {len(classes)} classes {name} at its top level, not one."
        )
    node = classes[0]
    code = "\n".join(lines_of(text)[first_line(node) - 1 : node.end_lineno]) + "\n"
    return Cut(rest=placed(text, "", name), code=code, description=describe(node))


def describe(node: ast.ClassDef) -> str:
    """What the class's author says about it: signatures, docstrings, and assignments in its body.

    No model writes it, so it says nothing that the class does not; a method without a docstring is
    described by its signature alone. It is prose, as in the paper: text that merely looks like code
    gets copied verbatim.
    """
    return "\n".join(_class(node)) + "\n"


def _class(node: ast.ClassDef) -> list[str]:
    bases = [ast.unparse(one) for one in (*node.bases, *node.keywords)]
    base_words = f", derived from `{', '.join(bases)}`" if bases else ""
    lines = [f"The class `{node.name}`{base_words}{_decorated(node)}."]
    if doc := _doc(node):
        lines += ["", "What it is for:", "", *_indented(doc)]
    if attributes := [
        _assigned(one) for one in node.body if isinstance(one, ast.Assign | ast.AnnAssign)
    ]:
        lines += ["", "Its attributes:", "", *_indented(attributes)]
    members = [_member(one) for one in node.body]
    if any(members):
        lines += ["", "What it defines, all of it to be written in full:"]
        lines += [line for member in members if member for line in ("", *member)]
    return lines


def _member(node: ast.stmt) -> list[str]:
    """A method or nested class as a list item."""
    if isinstance(node, ast.ClassDef):
        first, *rest = _class(node)
        return [f"- {first}", *_indented(rest)]
    if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        return []
    word = "The coroutine" if isinstance(node, ast.AsyncFunctionDef) else "The method"
    returns = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    head = f"- {word} `{node.name}({ast.unparse(node.args)}){returns}`{_decorated(node)}"
    doc = _doc(node)
    return [f"{head}:", "", *_indented(doc)] if doc else [f"{head}."]


def _decorated(node: ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) -> str:
    decorators = [f"`@{ast.unparse(one)}`" for one in node.decorator_list]
    return f", decorated with {' and '.join(decorators)}" if decorators else ""


def _doc(node: ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) -> list[str]:
    return (ast.get_docstring(node) or "").splitlines()


def _indented(lines: Sequence[str]) -> list[str]:
    return [f"{_INDENT}{line}" if line else "" for line in lines]


def _assigned(node: ast.Assign | ast.AnnAssign) -> str:
    whole = ast.unparse(node)
    if node.value is None or len(ast.unparse(node.value)) <= _VALUE_CHARS:
        return whole
    return f"{whole[: -len(ast.unparse(node.value))]}..."
