"""A source tree, indexed: its modules, and its classes and functions by name."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import TypeVar

from exploracoder_retrieval.errors import IndexUnavailable, UnreadableSource
from exploracoder_retrieval.facts.fact_types import Class, Function, Module, Snippet
from exploracoder_retrieval.facts.importable_modules import InstalledSources, RepositorySources
from exploracoder_retrieval.facts.lineage import Lineages, LocatedClass
from exploracoder_retrieval.facts.scope import Definition, Scope
from exploracoder_retrieval.facts.store import SNIPPETS, FactStore
from exploracoder_retrieval.files import read_python
from exploracoder_retrieval.harvest.target import Target
from exploracoder_retrieval.library_python import Interpreter
from exploracoder_retrieval.repotools.callables import FoundCallable
from exploracoder_retrieval.repotools.indexing import Index, Progress, index_tree, lost_snippets
from exploracoder_retrieval.repotools.python_files import (
    SourceFile,
    SourceTree,
    find_tree,
    source_files,
)
from exploracoder_retrieval.repotools.standard import StandardNames

FoundT = TypeVar("FoundT", LocatedClass, FoundCallable)
_TESTS = frozenset({"tests", "test", "testing", "conftest"})


class Repository:
    """The source tree that the tools look into. Nothing in it is written or imported."""

    def __init__(
        self,
        tree: SourceTree,
        index: Index,
        files: Sequence[SourceFile],
        installed_sources: InstalledSources,
        store: FactStore,
        skipped_files: Sequence[tuple[str, str]] = (),
    ) -> None:
        self.tree = tree
        self.files_read = index.files_read
        self._files = tuple(files)
        unread = ((path, e.problem) for path, e in index.entries.items() if e.problem)
        self.skipped_files = (*unread, *skipped_files)
        self._index = index
        self._store = store
        self._file_of = {one.module: one.path for one in reversed(files)}
        modules = {name: index.entries[path].module for name, path in self._file_of.items()}
        own = {name: module for name, module in modules.items() if module is not None}
        self.sources = RepositorySources(own, self._file_of, installed_sources)
        self.scope = Scope(self.sources)
        self.lineages = Lineages(self.scope)
        self.standard = StandardNames(installed_sources, store)

    @classmethod
    def open(
        cls,
        root: str | Path | Target,
        interpreter: Interpreter,
        *,
        cache: Path | None = None,
        progress: Progress | None = None,
    ) -> Repository:
        """Open a folder, a file, or a library, indexing it or bringing its index up to date.

        Facts are kept below ``cache``; without one they are not kept. A file is read again if its
        size or mtime has changed; if its content has not, its facts are reused.

        Raises:
            LibraryNotFound: there is no such folder and no such library.
            UnreadableSource: it has no Python source.
            IndexUnavailable: ``cache`` cannot be written.
        """
        tree = find_tree(root, interpreter)
        store = FactStore(cache, interpreter.version)
        skipped_files: dict[str, str] = {}
        files = list(source_files(tree, skipped_files.__setitem__))
        if not files:
            raise UnreadableSource(f"{tree.start} has no Python file.")
        index = index_tree(tree, files, store, interpreter.version, progress)
        paths = () if tree.inside is None else (tree.inside,)
        installed_sources = InstalledSources(interpreter, store, named_paths=paths)
        left_out = [(os.path.relpath(path, tree.base), why) for path, why in skipped_files.items()]
        return cls(tree, index, files, installed_sources, store, left_out)

    def is_current(self) -> bool:
        """Whether the tree still has the files it was opened with, judging by size and mtime."""
        return tuple(source_files(self.tree)) == self._files

    def text(self, module: str) -> list[str] | None:
        """The lines of a module, the repository's own or an installed one; None without source."""
        relative = self._file_of.get(module)
        path = (
            self.tree.base / relative if relative else self.sources.installed_sources.path(module)
        )
        if path is None:
            return None
        try:
            return read_python(path, inside=self.tree.inside if relative else None).split("\n")
        except UnreadableSource:
            return None

    def classes(self, name: str) -> list[LocatedClass]:
        """The classes that ``name`` refers to: by name, by the end of their path, or by alias."""
        own = self._classes.get(name.rpartition(".")[2], [])
        matches = [one for one in own if f".{one.path}".endswith(f".{name}")]
        return matches or list(self._aliased(name))

    def functions(self, name: str) -> list[FoundCallable]:
        """The module-level functions of this name, or else those with it as an alias."""
        matches = self._functions.get(name.rpartition(".")[2], [])
        if "." in name:
            paths = [(one, f".{one.module.name}.{one.item.qualname}") for one in matches]
            matches = [one for one, path in paths if path.endswith(f".{name}")]
        if matches:
            return matches
        aliases = [self.scope.member(module, name) for module in self.binders(name)]
        aliases.append(self.scope.at(name) if "." in name else None)
        return _functions_at(aliases)

    def methods(self, name: str) -> list[FoundCallable]:
        """The methods of this name, of all classes."""
        return self._methods.get(name, [])

    def class_names(self) -> list[str]:
        """The names of all classes, aliases included."""
        bound = {one.name for module in self.sources.own.values() for one in module.imports}
        return sorted({*self._classes, *(name for name in bound if name[:1].isupper())})

    def function_names(self) -> list[str]:
        """The names of all functions and methods."""
        return sorted({*self._functions, *self._methods})

    @cached_property
    def usage(self) -> Counter[tuple[str, str]]:
        """How often the repository's files import each name from a module; "" is the module."""
        return Counter(
            (one.module, one.attribute or "")
            for module in self.sources.own.values()
            for one in module.imports
        )

    @cached_property
    def snippets(self) -> list[tuple[str, Snippet]]:
        """The pieces of all files, each with its file."""
        pieces = self._index.snippets
        if pieces is None:
            pieces = self._store.load(SNIPPETS, self._index.key)
        if lost := lost_snippets(self.tree, self._files, self._index, pieces):
            pieces = pieces | lost
            with suppress(IndexUnavailable):  # they are cut again next time
                self._store.keep(SNIPPETS, self._index.key, pieces)
        return [
            (path, piece)
            for path, entry in self._index.entries.items()
            for piece in pieces.get(entry.sha256, ())
        ]

    def _aliased(self, name: str) -> Iterator[LocatedClass]:
        """Classes that some module binds to this name, nearest to the top first."""
        last = name.rpartition(".")[2]
        seen_paths: set[str] = set()
        definitions = [self.scope.at(name)] if "." in name else []
        if "." not in name:
            definitions += [self.scope.member(module, last) for module in self.binders(last)]
        for one in definitions:
            if one is not None and isinstance(one.item, Class):
                cls = LocatedClass(one.module, one.item)
                if cls.path not in seen_paths:
                    seen_paths.add(cls.path)
                    yield cls

    def binders(self, name: str) -> list[Module]:
        """Modules that bind a name, then those that may by a star import, each by depth."""
        return [*self._bound.get(name, ()), *self._bound["*"]]

    @cached_property
    def tops(self) -> frozenset[str]:
        """The top-level names of its modules."""
        return frozenset(name.partition(".")[0] for name in self.sources.own)

    @cached_property
    def _bound(self) -> dict[str, list[Module]]:
        own = self.sources.own
        by_name: dict[str, list[Module]] = {"*": []}
        order = sorted(own, key=lambda name: (is_test(name), name.count("."), name))
        for module in (own[name] for name in order):
            bound = (*module.imports, *module.variables, *module.classes, *module.functions)
            for name in dict.fromkeys(one.name for one in bound):
                by_name.setdefault(name, []).append(module)
            if module.stars:
                by_name["*"].append(module)
            package, _, last = module.name.rpartition(".")
            if package in own:
                by_name.setdefault(last, []).append(own[package])
        return by_name

    @cached_property
    def _classes(self) -> dict[str, list[LocatedClass]]:
        own = self.sources.own.values()
        return _by_name(LocatedClass(one, item) for one in own for item in _nested(one.classes))

    @cached_property
    def _functions(self) -> dict[str, list[FoundCallable]]:
        own = self.sources.own.values()
        return _by_name(FoundCallable(one, item) for one in own for item in one.functions)

    @cached_property
    def _methods(self) -> dict[str, list[FoundCallable]]:
        owners = ((one, c) for one in self.sources.own.values() for c in _nested(one.classes))
        return _by_name(FoundCallable(one, item) for one, c in owners for item in c.functions)


def is_test(module: str) -> bool:
    """Whether a module belongs to a repository's tests."""
    return any(one in _TESTS or one.startswith("test_") for one in module.split("."))


def _by_name(all_found: Iterable[FoundT]) -> dict[str, list[FoundT]]:
    by_name: dict[str, list[FoundT]] = {}
    for one in all_found:
        by_name.setdefault(one.item.name, []).append(one)
    return by_name


def _nested(classes: Sequence[Class]) -> Iterator[Class]:
    for item in classes:
        yield item
        yield from _nested(item.classes)


def _functions_at(definitions: Sequence[Definition | None]) -> list[FoundCallable]:
    functions: dict[str, list[FoundCallable]] = {}
    for one in definitions:
        if one is not None and isinstance(one.item, Function):
            same = [f for f in one.module.functions if f.qualname == one.item.qualname]
            functions[one.path] = [FoundCallable(one.module, f) for f in same or [one.item]]
    return [function for group in functions.values() for function in group]
