"""The Python files of a repository, and their module names."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from exploracoder_retrieval.errors import LibraryNotFound, UnreadableSource
from exploracoder_retrieval.files import Skip, walk
from exploracoder_retrieval.harvest.target import Target, find_target
from exploracoder_retrieval.library_python import Interpreter

_NOT_SOURCE = frozenset({"__pycache__", "node_modules", "site-packages"})
_SOURCE_FOLDERS = frozenset({"src", "lib"})


@dataclass(frozen=True, slots=True)
class SourceTree:
    """Where files are read: only below ``start``. ``base`` is what their paths are relative to.

    ``is_installed`` says that it is an installed library's, found by name.
    """

    base: Path
    start: Path
    is_installed: bool = False

    @property
    def inside(self) -> Path | None:
        """The path that links must not lead out of; None if the tree is installed."""
        return None if self.is_installed else self.start


@dataclass(frozen=True, slots=True)
class SourceFile:
    """One file; ``path`` is relative to the tree's base, with forward slashes."""

    path: str
    module: str
    is_package: bool
    size: int
    mtime_ns: int


def find_tree(root: str | Path | Target, interpreter: Interpreter) -> SourceTree:
    """The tree of a folder, a file, or an installed library's name; folders take precedence.

    For a library that was already found, it is the library's own folder or file.

    Raises:
        LibraryNotFound: it is none of these.
        UnreadableSource: it exists but has no Python source.
    """
    if isinstance(root, Target):
        if root.source == "docs":
            raise UnreadableSource(
                f"Of {root.name} there is documentation alone, and no source to look into."
            )
        return _tree(root.root, root.name, is_installed=root.source == "installed")
    text = str(root)
    path = Path(os.path.expanduser(text))
    is_name = not isinstance(root, Path) and os.sep not in text and not text.startswith((".", "~"))
    is_installed = bool(is_name and text and not os.path.isdir(path))
    if is_installed:
        path = find_target(text, interpreter).root
    if not text or not os.path.exists(path):
        raise LibraryNotFound(
            f"There is no folder {text!r}. Give the top folder of a repository, or the name of an"
            " installed library."
        )
    return _tree(path, text, is_installed=is_installed)


def _tree(path: Path, name: str, *, is_installed: bool) -> SourceTree:
    if not path.exists():
        raise LibraryNotFound(f"{name} is not there any more: there is no {path}.")
    if path.is_file() and path.suffix not in {".py", ".pyi"}:
        raise UnreadableSource(f"{name} has no Python source to look into: it is {path.name}.")
    path = path.resolve()
    return SourceTree(_base(path), path, is_installed)


def source_files(tree: SourceTree, on_skip: Skip | None = None) -> Iterator[SourceFile]:
    """All Python files of a tree, in alphabetical order, without reading them.

    Virtual environments, hidden folders and files, and installed packages inside are left out, as
    are stubs that have their source beside them.
    """
    if tree.start.is_file():
        files = [(str(tree.start), tree.start.stat())]
    else:
        # The walk has already called stat() on each entry, so this works even if one was removed.
        entries = walk(tree.start, _is_source, _is_left_out, inside=tree.inside, on_skip=on_skip)
        files = [(entry.path, entry.stat()) for entry in entries]
    paths = {path for path, _ in files}
    for path, status in files:
        if path.endswith(".py") or path[:-1] not in paths:
            yield _file(tree, path, status)


def module_name(path: str) -> str:
    """The dotted name of the module in a file: ``src/pkg/mod.py`` is ``pkg.mod``."""
    parts = path.rsplit(".", 1)[0].split("/")
    if len(parts) > 1 and parts[0] in _SOURCE_FOLDERS:
        parts = parts[1:]
    if parts[-1] == "__init__":
        parts = parts[:-1]
    return ".".join(parts)


def _base(path: Path) -> Path:
    """The folder to import the code in ``path`` from: the one above its top package, if any."""
    base = path.parent if path.is_file() else path
    while (base / "__init__.py").is_file() and base != base.parent:
        base = base.parent
    return base


def _is_source(name: str) -> bool:
    return name.endswith((".py", ".pyi")) and not name.startswith(".")


def _is_left_out(folder: str) -> bool:
    return folder in _NOT_SOURCE or folder.startswith(".")


def _file(tree: SourceTree, path: str, status: os.stat_result) -> SourceFile:
    relative = os.path.relpath(path, tree.base).replace(os.sep, "/")
    return SourceFile(
        path=relative,
        module=module_name(relative),
        is_package=relative.rpartition("/")[2].startswith("__init__."),
        size=status.st_size,
        mtime_ns=status.st_mtime_ns,
    )
