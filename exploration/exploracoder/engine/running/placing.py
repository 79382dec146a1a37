"""Puts a class into the text of the file that it belongs to. Nothing is run or written."""

from __future__ import annotations

import ast
from pathlib import Path

from exploracoder.engine.reading.syntax import first_line, tree
from exploracoder.errors import InputError
from exploracoder.state import Target

_FUTURE = "from __future__ import "
# The fields of syntax nodes that are not evaluated where a file asks for it from ``__future__``.
_ANNOTATIONS = frozenset({"annotation", "returns"})


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

    Where it has none, ``code`` goes before the first statement that needs the class as the file is
    imported, or else to the end: it may need all that stands before.
    The file's imports from ``__future__`` stay first, joined by those of the code. Code that is not
    Python is put in as it is: compiling the file says what is wrong with it.
    """
    rest, features = _without_future(code)
    lines = source.splitlines()
    first, last = _span(source, name) or (_first_need(source, name),) * 2
    whole = "\n".join([*lines[:first], *rest.strip("\n").splitlines(), *lines[last:]])
    missing = [feature for feature in features if feature not in _without_future(source)[1]]
    return _with_future(whole, missing) + "\n"


def _span(source: str, name: str) -> tuple[int, int] | None:
    """The lines of a class at the top level, decorators included, counting from 0."""
    for node in reversed(ast.parse(source).body):
        if isinstance(node, ast.ClassDef) and node.name == name:
            return first_line(node) - 1, node.end_lineno or node.lineno
    return None


def _first_need(source: str, name: str) -> int:
    """The line, from 0, of the first statement that needs ``name`` on import, or past the last."""
    annotations = "annotations" in _without_future(source)[1]
    for node in ast.parse(source).body:
        if _needs(node, name, _ANNOTATIONS if annotations else frozenset()):
            return first_line(node) - 1
    return len(source.splitlines())


def _needs(node: ast.AST, name: str, unread: frozenset[str]) -> bool:
    """Whether a statement reads a name as it runs; the fields ``unread`` of a node are not run."""
    if isinstance(node, ast.Name):
        return node.id == name and isinstance(node.ctx, ast.Load)
    is_function = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
    parts = []
    for field, value in ast.iter_fields(node):
        if field not in unread and not (is_function and field == "body"):
            parts += value if isinstance(value, list) else [value]
    return any(isinstance(one, ast.AST) and _needs(one, name, unread) for one in parts)


def _without_future(code: str) -> tuple[str, list[str]]:
    """Code without its imports from ``__future__``, and the features that they name."""
    body = tree(code).body
    imports = [
        one for one in body if isinstance(one, ast.ImportFrom) and one.module == "__future__"
    ]
    import_lines = {
        line for one in imports for line in range(one.lineno, (one.end_lineno or one.lineno) + 1)
    }
    rest = [line for number, line in enumerate(code.splitlines(), 1) if number not in import_lines]
    return "\n".join(rest), [alias.name for one in imports for alias in one.names]


def _with_future(code: str, features: list[str]) -> str:
    """Code with imports from ``__future__`` where they are allowed: after its docstring."""
    if not features:
        return code
    body, lines = tree(code).body, code.splitlines()
    has_doc = bool(body) and ast.get_docstring(ast.Module(body=body[:1], type_ignores=[]))
    end = (body[0].end_lineno or 0) if has_doc else 0
    return "\n".join([*lines[:end], _FUTURE + ", ".join(features), *lines[end:]])
