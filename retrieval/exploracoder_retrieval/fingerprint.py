"""Tells whether a library's source is still what was indexed, without reading it."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from exploracoder_retrieval.catalog import HARVEST_VERSION
from exploracoder_retrieval.files import walk
from exploracoder_retrieval.harvest.docs.source import files_of
from exploracoder_retrieval.harvest.own_tests import find_tests
from exploracoder_retrieval.harvest.target import Target
from exploracoder_retrieval.harvest.usage_sources import example_files
from exploracoder_retrieval.library_python import Interpreter

_IGNORED = frozenset({"__pycache__", "tests", "test", "node_modules"})


def fingerprint(target: Target, interpreter: Interpreter) -> str:
    """A hash of the version and of the names, sizes and mtimes of the files that a harvest reads.

    A harvest that imported a named folder's compiled modules has the fingerprint of one that did
    not, plus a suffix: it can serve in place of that one.
    """
    digest = hashlib.sha256()
    head = (HARVEST_VERSION, target.name, target.version, target.source, interpreter.version)
    head += tuple(source.origin for source in target.docs)  # type: ignore[assignment]
    digest.update(repr(head).encode())
    for path, size, time in sorted((*_files(target), *_stubs(target, interpreter))):
        digest.update(f"{path}\0{size}\0{time}\n".encode("utf-8", "surrogateescape"))
    is_imported = interpreter.imports_named and target.named is not None
    return digest.hexdigest() + ("+imported" if is_imported else "")


def _files(target: Target) -> Iterator[tuple[str, int, int]]:
    for source in target.docs:
        yield from _stamps(each.path for each in files_of(source))
    if target.source == "docs":
        return
    yield from _stamps(find_tests(target.tree, target.root, target.named))
    if target.root.is_dir():
        for entry in walk(target.root, _is_source, _is_ignored, inside=target.named):
            yield _stamp(entry.path, entry.stat())
    else:
        yield from _stamps([target.root])
    yield from _stamps(_beside(target.tree))


def _stubs(target: Target, interpreter: Interpreter) -> Iterator[tuple[str, int, int]]:
    """Stubs outside the package: the one beside a plain module, and those installed apart."""
    if target.source == "docs":
        return
    if not target.root.is_dir():
        yield from _stamps([target.root.with_name(f"{target.import_name.split('.')[-1]}.pyi")])
    tops = {module.split(".")[0] for module in target.modules}
    for folder in filter(None, (target.home, *interpreter.search_paths)):
        inside = target.home if folder == target.home else None
        for top in tops:
            for entry in walk(folder / f"{top}-stubs", _is_source, _is_ignored, inside=inside):
                yield _stamp(entry.path, entry.stat())


def _beside(tree: Path | None) -> Iterator[Path]:
    """Files of a source tree outside the package: README, project file, examples."""
    if tree is None:
        return
    yield from tree.glob("[Rr][Ee][Aa][Dd][Mm][Ee]*")
    yield tree / "pyproject.toml"
    yield from example_files(tree)


def _is_source(name: str) -> bool:
    return name.endswith((".py", ".pyi", ".so", ".pyd"))


def _is_ignored(folder: str) -> bool:
    return folder in _IGNORED or folder.startswith(".")


def _stamps(files: Iterable[Path]) -> Iterator[tuple[str, int, int]]:
    for file in files:
        with suppress(OSError):
            yield _stamp(str(file), file.stat())


def _stamp(path: str, status: os.stat_result) -> tuple[str, int, int]:
    return path, status.st_size, status.st_mtime_ns
