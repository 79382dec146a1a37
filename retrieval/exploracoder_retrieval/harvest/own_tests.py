"""A library's own tests, read as examples of its use. They are never run."""

from __future__ import annotations

import ast
import tokenize
from collections.abc import Iterator
from pathlib import Path

from exploracoder_retrieval.harvest.docs.pieces import Passage, Place

# Enough to see how each part is used; pandas alone has a thousand files of tests.
MAX_FILES = 80
MAX_FILE_BYTES = 150_000
MAX_ALL_BYTES = 1_500_000
MAX_LINES = 40
_FOLDERS = ("tests", "test")


def find_tests(*roots: Path | None) -> list[Path]:
    """Files of tests in ``tests`` folders of a source tree or a package, within the bounds."""
    found: dict[Path, None] = {}
    for root in roots:
        for name in _FOLDERS:
            folder = root / name if root is not None else None
            if folder is not None and folder.is_dir():
                found |= dict.fromkeys(sorted(folder.rglob("test_*.py")))
                found |= dict.fromkeys(sorted(folder.rglob("*_test.py")))
    return list(_bounded(found))


def read_tests(files: list[Path]) -> Iterator[Passage]:
    """The bodies of test functions, each with the imports of its file as context.

    What cannot be parsed is left out: a library may test itself against broken files.
    """
    for file in files:
        try:
            with tokenize.open(file) as source:
                text = source.read()
            tree = ast.parse(text)
        except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
            continue
        lines = text.splitlines()
        imports = "\n".join(
            ast.unparse(node) for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)
        )
        for function in _tests(tree):
            place: Place = {"file": str(file), "line": function.lineno}
            title = function.name.removeprefix("test_").replace("_", " ")
            yield Passage("test", _body(function, lines), title, place, imports)


def _bounded(files: dict[Path, None]) -> Iterator[Path]:
    total = 0
    for file in list(files)[:MAX_FILES]:
        try:
            size = file.stat().st_size
        except OSError:
            continue
        if size <= MAX_FILE_BYTES and total + size <= MAX_ALL_BYTES:
            total += size
            yield file


def _tests(tree: ast.Module) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in tree.body:
        inner = node.body if isinstance(node, ast.ClassDef) else [node]
        for each in inner:
            is_function = isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef)
            if is_function and each.name.startswith("test"):
                yield each


def _body(function: ast.FunctionDef | ast.AsyncFunctionDef, lines: list[str]) -> str:
    import textwrap

    body = function.body
    if len(body) > 1 and isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant):
        body = body[1:]
    last = min(body[-1].end_lineno or body[-1].lineno, body[0].lineno - 1 + MAX_LINES)
    return textwrap.dedent("\n".join(lines[body[0].lineno - 1 : last]))
