"""Whether a library's source is still what was indexed, told without reading it."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path

from exploracoder_retrieval.catalog import HARVEST_VERSION
from exploracoder_retrieval.harvest.docs.source import files_of
from exploracoder_retrieval.harvest.own_tests import find_tests
from exploracoder_retrieval.harvest.target import Target
from exploracoder_retrieval.interpreter import Interpreter

_SOURCES = (".py", ".pyi", ".so", ".pyd")
_IGNORED = frozenset({"__pycache__", "tests", "test", "node_modules"})


def fingerprint(target: Target, interpreter: Interpreter) -> str:
    """A hash of version and of the names, sizes and times of the files that a harvest reads."""
    digest = hashlib.sha256()
    head = (HARVEST_VERSION, target.name, target.version, target.source, interpreter.version)
    head += tuple(source.origin for source in target.docs)  # type: ignore[assignment]
    digest.update(repr(head).encode())
    for path, size, time in sorted(_files(target)):
        digest.update(f"{path}\0{size}\0{time}\n".encode("utf-8", "surrogateescape"))
    return digest.hexdigest()


def _files(target: Target) -> Iterator[tuple[str, int, int]]:
    for source in target.docs:
        for each in files_of(source):
            yield _stamp(str(each.path), each.path.stat())
    if target.source == "docs":
        return
    for file in find_tests(target.tree, target.root):
        yield _stamp(str(file), file.stat())
    if target.root.is_dir():
        yield from _walk(str(target.root), 0)
    elif target.root.exists():
        yield _stamp(str(target.root), target.root.stat())
    for file in _beside(target.tree):
        yield _stamp(str(file), file.stat())


def _beside(tree: Path | None) -> Iterator[Path]:
    """Files of a source tree outside the package: README, project file, examples."""
    if tree is None:
        return
    yield from (file for file in tree.glob("[Rr][Ee][Aa][Dd][Mm][Ee]*") if file.is_file())
    yield from (file for file in [tree / "pyproject.toml"] if file.is_file())
    for folder in (tree / "examples", tree / "docs"):
        if folder.is_dir():
            yield from (file for file in folder.rglob("*") if file.suffix in {".py", ".ipynb"})


def _walk(folder: str, depth: int) -> Iterator[tuple[str, int, int]]:
    if depth > 40:  # a symbolic link into its own parents
        return
    try:
        entries = list(os.scandir(folder))
    except OSError:
        return
    for entry in entries:
        if entry.is_dir():
            if entry.name not in _IGNORED and not entry.name.startswith("."):
                yield from _walk(entry.path, depth + 1)
        elif entry.name.endswith(_SOURCES):
            yield _stamp(entry.path, entry.stat())


def _stamp(path: str, status: os.stat_result) -> tuple[str, int, int]:
    return path, status.st_size, status.st_mtime_ns
