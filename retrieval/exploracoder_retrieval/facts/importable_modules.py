"""Modules by dotted name: the repository's own, and everything its Python can import."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator, Mapping
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Protocol

from exploracoder_retrieval.errors import UnreadableSource
from exploracoder_retrieval.facts.compiled import CompiledModules
from exploracoder_retrieval.facts.fact_types import Module
from exploracoder_retrieval.facts.module_files import ModuleFiles, ModuleFinder
from exploracoder_retrieval.facts.reading import parse, read_module, uncollected
from exploracoder_retrieval.facts.store import ENTRIES, Entry, FactStore, is_same, read_file, stamp
from exploracoder_retrieval.files import MAX_SOURCE_BYTES
from exploracoder_retrieval.library_python import Interpreter


class Sources(Protocol):
    """Finds the facts of a module."""

    def module(self, name: str) -> Module | None:
        """The module of this name, or None."""

    def stub(self, name: str) -> Module | None:
        """The stub beside a module's source, which covers what is written in C, or None."""

    def file(self, module: Module) -> str | None:
        """The file that a module was read from, as shown to people."""


class InstalledSources:
    """What an interpreter can import, each module read on first use.

    Standard library stubs come with jedi and take precedence over its source, much of which is
    written in C. A compiled module without source or stub is described in the interpreter's
    sandbox, without its parent packages; one that was never installed, because it lies in
    ``named_paths`` or in ``more_paths``, the homes of libraries, only if the user has allowed it.
    """

    def __init__(
        self,
        interpreter: Interpreter,
        store: FactStore,
        more_paths: tuple[Path, ...] = (),
        *,
        named_paths: tuple[Path, ...] = (),
        compiled_modules: CompiledModules | None = None,
    ) -> None:
        paths = (*more_paths, *interpreter.search_paths)
        self.finder = ModuleFinder(
            paths,
            interpreter.builtin_modules,
            homes=more_paths,
            mapped=interpreter.mapped_modules(),
        )
        self._interpreter = interpreter
        self._store = store
        self._homes = more_paths
        self._compiled_modules = compiled_modules or CompiledModules(
            interpreter,
            lambda name, reason: None,
            alone=True,
            named_paths=(*named_paths, *more_paths),
        )
        self._modules: dict[str, Module | None] = {}
        self._stubs: dict[str, Module | None] = {}
        self._files: dict[tuple[str, bool], Path] = {}

    def module(self, name: str) -> Module | None:
        """The facts of a module, or None if there is no such module or it cannot be read."""
        if name not in self._modules:
            self._modules[name] = self._read(name)
        return self._modules[name]

    def stub(self, name: str) -> Module | None:
        """The stub beside the file that a module was read from, or None."""
        if name not in self._stubs:
            files = self.finder.find(name)
            module = self.module(name)
            self._stubs[name] = None
            if files and files.stub and module and self.path(name) != files.stub:
                self._stubs[name] = self._from(files.stub, files, is_stub=True)
        return self._stubs[name]

    def file(self, module: Module) -> str | None:
        """The file's path from its top package on; the folders above it are private to the user."""
        path = self.path(module.name, is_stub=module.is_stub)
        if path is None:
            return None
        depth = module.name.count(".") + (2 if path.stem == "__init__" else 1)
        return "/".join(path.parts[-depth:])

    def path(self, module: str, *, is_stub: bool = False) -> Path | None:
        """The file that a module was read from; None if it was imported to be described."""
        return self._files.get((module, is_stub))

    def is_standard(self, module: str) -> bool:
        """Whether a module belongs to the standard library."""
        return module.partition(".")[0] in self._interpreter.standard_modules

    def exists(self, module: str) -> bool:
        """Whether the interpreter could import a module."""
        return self.finder.find(module) is not None or self.is_standard(module)

    @cached_property
    def _standard(self) -> ModuleFinder:
        return ModuleFinder(standard_stubs(), frozenset())

    def _read(self, name: str) -> Module | None:
        files = self._standard.find(name) if self.is_standard(name) else None
        files = files or self.finder.find(name)
        if files is None:
            return self._described(name, None) if self.finder.is_builtin(name) else None
        path = files.source or files.stub
        if path is not None:
            return self._from(path, files)
        if files.binary is not None:
            return self._described(name, files.binary)
        return Module(name=name, is_package=True)

    def _from(self, path: Path, files: ModuleFiles, *, is_stub: bool = False) -> Module | None:
        module = self._entry(path, files).module
        if module is not None:
            self._files[files.name, is_stub] = path
        return module.model_copy(update={"is_stub": True}) if module and is_stub else module

    def _entry(self, path: Path, files: ModuleFiles) -> Entry:
        key = str(path)
        stored_entry = self._store.load(ENTRIES, key).get(key)
        if stored_entry is not None and is_same(stored_entry, *stamp(path)):
            return stored_entry
        entry = self._read_file(path, files)
        self._store.keep(ENTRIES, key, {key: entry})
        return entry

    @uncollected()
    def _read_file(self, path: Path, files: ModuleFiles, most: int = MAX_SOURCE_BYTES) -> Entry:
        return read_file(
            path,
            files.name,
            is_package=files.is_package,
            version=self._interpreter.version,
            inside=self._border(path),
            most=most,
        ).entry

    def _border(self, path: Path) -> Path | None:
        """The folder that links must not lead out of."""
        return next((home for home in self._homes if path.is_relative_to(home)), None)

    def _described(self, name: str, path: Path | None) -> Module | None:
        self._compiled_modules.describe({name: path})
        text = self._compiled_modules.stub(name)
        try:
            version = self._interpreter.version
            return (
                read_module(parse(text), name, is_package=False, version=version) if text else None
            )
        except UnreadableSource:
            self._compiled_modules.give_up(name, "what it says of itself is not Python")
            return None


class RepositorySources:
    """The modules of a repository, falling back to the installed ones."""

    def __init__(
        self,
        modules: Mapping[str, Module],
        files: Mapping[str, str],
        installed_sources: InstalledSources,
    ) -> None:
        self.own = modules
        self.installed_sources = installed_sources
        self._files = files

    def module(self, name: str) -> Module | None:
        """The repository's own module of this name, else the installed one."""
        own_module = self.own.get(name)
        return own_module if own_module is not None else self.installed_sources.module(name)

    def stub(self, name: str) -> Module | None:
        """The stub beside an installed module's source, or None."""
        return None if name in self.own else self.installed_sources.stub(name)

    def file(self, module: Module) -> str | None:
        """The file of a module; the repository's own are relative to its top folder."""
        return self._files.get(module.name) or self.installed_sources.file(module)

    def submodules(self, package: str) -> Iterator[str]:
        """The names of the modules directly inside one of the repository's packages."""
        for name in self.own:
            head, _, last = name.rpartition(".")
            if head == package:
                yield last


@lru_cache(maxsize=1)
def standard_stubs() -> tuple[Path, ...]:
    """The folders of the standard library's stubs: typeshed, as bundled with jedi."""
    spec = importlib.util.find_spec("jedi")
    folders = spec.submodule_search_locations if spec else None
    candidates = (Path(folder) / "third_party" / "typeshed" / "stdlib" for folder in folders or ())
    return tuple(folder for folder in candidates if folder.is_dir())
