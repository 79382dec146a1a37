"""A library's own tests, read as examples of its use. They are never run."""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Iterator
from pathlib import Path

from exploracoder_retrieval.errors import UnreadableSource
from exploracoder_retrieval.facts.reading import parse, uncollected
from exploracoder_retrieval.files import Skip, read_python, walk
from exploracoder_retrieval.harvest.docs.code import import_lines
from exploracoder_retrieval.harvest.docs.pieces import Passage, Place

# Enough to see how each part is used; pandas alone has a thousand test files.
MAX_FILES = 80
MAX_FILE_BYTES = 150_000
MAX_ALL_BYTES = 1_500_000
MAX_LINES = 40
_FOLDERS = ("tests", "test")


def find_tests(
    tree: Path | None, package: Path, inside: Path | None, on_skip: Skip | None = None
) -> list[Path]:
    """Test files of a source tree and of all ``tests`` folders in the package, within bounds.

    If there are too many, they are sampled evenly. ``inside`` is as in `walk`.
    """
    tops = [tree / name for name in _FOLDERS if (tree / name).is_dir()] if tree is not None else []
    paths = {path: None for top in tops for path in _files(top, inside, on_skip)}
    if package.is_dir():
        for path in _files(package, inside, on_skip):
            if not set(_FOLDERS).isdisjoint(path.parent.relative_to(package).parts):
                paths[path] = None
    files = list(paths)
    return list(_bounded(files[:: -(-len(files) // MAX_FILES)] if files else []))


def _files(top: Path, inside: Path | None, on_skip: Skip | None) -> Iterator[Path]:
    entries = walk(top, _is_test, _is_left_out, inside=inside, on_skip=on_skip)
    # A folder's files before those of its subfolders: the order decides which are sampled.
    yield from sorted((Path(entry.path) for entry in entries), key=_place)


def _place(file: Path) -> list[tuple[bool, str]]:
    return [*((True, part) for part in file.parts[:-1]), (False, file.name)]


def _is_test(name: str) -> bool:
    return name.endswith(".py") and (name.startswith("test_") or "_test." in name)


def _is_left_out(folder: str) -> bool:
    return folder.startswith((".", "__"))


def read_tests(files: list[Path], inside: Path | None) -> Iterator[Passage]:
    """The bodies of test functions, each with the imports of its file as context.

    What cannot be parsed is left out: a library may test itself against broken files.
    """
    for file in files:
        try:
            yield from _read(file, inside)
        except UnreadableSource:
            continue


@uncollected()
def _read(file: Path, inside: Path | None) -> list[Passage]:
    text = read_python(file, MAX_FILE_BYTES, inside=inside)
    tree, lines = parse(text), text.splitlines()
    imports = "\n".join(import_lines(tree))
    passages = []
    for function in _tests(tree):
        place: Place = {"file": str(file), "line": function.lineno}
        title = function.name.removeprefix("test_").replace("_", " ")
        passages.append(Passage("test", _body(function, lines), title, place, imports))
    return passages


def _bounded(files: list[Path]) -> Iterator[Path]:
    total = 0
    for file in files:
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
        functions = (
            each for each in inner if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef)
        )
        yield from (each for each in functions if each.name.startswith("test"))


def _body(function: ast.FunctionDef | ast.AsyncFunctionDef, lines: list[str]) -> str:
    body = function.body
    if len(body) > 1 and isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant):
        body = body[1:]
    last = min(body[-1].end_lineno or body[-1].lineno, body[0].lineno - 1 + MAX_LINES)
    return textwrap.dedent("\n".join(lines[body[0].lineno - 1 : last]))
