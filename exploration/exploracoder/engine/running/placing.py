"""Puts a class into the text of the file that it belongs to. Nothing is run or written."""

from __future__ import annotations

import ast
from pathlib import Path

from exploracoder.engine.reading.syntax import first_line, lines_of, tree, without_future
from exploracoder.errors import InputError
from exploracoder.state import Target

_FUTURE = "from __future__ import "


def target_text(target: Target) -> str:
    """The current text of the target's file; empty if there is no such file.

    Raises InputError if it cannot be read or is not Python.
    """
    path = Path(target.root) / target.file
    try:
        text = path.read_text(encoding="utf-8") if path.exists() else ""
        compile(text, str(path), "exec", dont_inherit=True)
    except (OSError, ValueError, SyntaxError) as error:
        raise InputError(f"{path} cannot be used: {error}.") from error
    return text


def placed(source: str, code: str, name: str) -> str:
    """``source``, a file's text, with ``code`` in place of the class ``name``.

    Where it has none, ``code`` goes before the first statement that reads the name on import, or
    else to the end: it may need all that stands before. The file's imports from ``__future__`` stay
    first, joined by those of the code. Code that is not Python is put in as it is: compiling the
    file says what is wrong with it.
    """
    rest, features = without_future(code)
    lines, own_features = lines_of(source), without_future(source)[1]
    place = _span(source, name)
    if place is None:
        is_deferred = "annotations" in (*features, *own_features)
        place = (_first_read(source, name, has_annotations=not is_deferred),) * 2
    whole = "\n".join([*lines[: place[0]], *lines_of(rest.strip("\n")), *lines[place[1] :]])
    missing = [feature for feature in features if feature not in own_features]
    return _with_future(whole, missing) + "\n"


def _span(source: str, name: str) -> tuple[int, int] | None:
    """The lines of a class at the top level, decorators included, counting from 0."""
    for node in reversed(ast.parse(source).body):
        if isinstance(node, ast.ClassDef) and node.name == name:
            return first_line(node) - 1, node.end_lineno or node.lineno
    return None


def _first_read(source: str, name: str, *, has_annotations: bool) -> int:
    """The line, from 0, above the first statement that reads ``name`` on import, or the end."""
    end = 0
    for node in ast.parse(source).body:
        first = first_line(node) - 1
        if first >= end:
            # Comments above a statement stay with it, except those above the first.
            above = end or first
        if _reads(node, name, has_annotations=has_annotations):
            return above
        end = node.end_lineno or node.lineno
    return len(lines_of(source))


def _reads(statement: ast.stmt, name: str, *, has_annotations: bool) -> bool:
    """Whether a statement reads a name as it runs, annotations included if they are evaluated."""
    nodes: list[ast.AST] = [statement]
    while nodes:
        node = nodes.pop()
        if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load):
            return True
        later = _later(node) if has_annotations else _later(node) | {"annotation", "returns"}
        for field, value in ast.iter_fields(node):
            parts = value if isinstance(value, list) else [value]
            nodes += [one for one in parts if isinstance(one, ast.AST) and field not in later]
    return False


def _later(node: ast.AST) -> set[str]:
    """The fields of a syntax node that are not evaluated when it is reached."""
    test = node.test if isinstance(node, ast.If) else None
    is_typing = "TYPE_CHECKING" in (getattr(test, "id", ""), getattr(test, "attr", ""))
    if is_typing or isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
        return {"body", "type_params"}
    # `ast.TypeAlias` came with Python 3.12.
    return {"type_params", "value"} if type(node).__name__ == "TypeAlias" else {"type_params"}


def _with_future(code: str, features: list[str]) -> str:
    """Code with imports from ``__future__`` where they are allowed: after its docstring."""
    if not features:
        return code
    body, lines = tree(code).body, lines_of(code)
    has_doc = bool(body) and ast.get_docstring(ast.Module(body=body[:1], type_ignores=[]))
    end = (body[0].end_lineno or 0) if has_doc else 0
    return "\n".join([*lines[:end], _FUTURE + ", ".join(features), *lines[end:]])
