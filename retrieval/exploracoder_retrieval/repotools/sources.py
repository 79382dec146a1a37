"""Modules by their dotted names: the repository's own, and all that its Python can import."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Protocol

from exploracoder_retrieval.errors import UnreadableSource
from exploracoder_retrieval.harvest.compiled import CompiledModules
from exploracoder_retrieval.harvest.modules import ModuleFiles, ModuleFinder
from exploracoder_retrieval.interpreter import Interpreter
from exploracoder_retrieval.repotools.facts import Module
from exploracoder_retrieval.repotools.reading import parse, read_module
from exploracoder_retrieval.repotools.store import FactStore, is_same, read_file


class Sources(Protocol):
    """Finds the facts of a module."""

    def module(self, name: str) -> Module | None:
        """The module of this name, or None."""

    def stub(self, name: str) -> Module | None:
        """The stub that lies beside a module's source, for what is written in C, or None."""

    def file(self, module: Module) -> str | None:
        """The file that a module was read from, as it is shown to people."""


class InstalledSources:
    """What an interpreter can import, each module read when it is first asked for.

    Stubs of the standard library come with jedi and go before its source, because much of it is
    written in C. A compiled module without source and stub is described where the interpreter is
    confined, without the packages around it; one that nothing installed, because it lies in
    ``named`` or in ``more_paths``, the homes of libraries, only if the user said so.
    """

    def __init__(
        self,
        interpreter: Interpreter,
        store: FactStore,
        more_paths: tuple[Path, ...] = (),
        *,
        named: tuple[Path, ...] = (),
    ) -> None:
        self._interpreter = interpreter
        self._store = store
        paths = (*more_paths, *interpreter.search_paths)
        self._homes = more_paths
        self._finder = ModuleFinder(paths, interpreter.builtin_modules, homes=more_paths)
        self._stubs = ModuleFinder(standard_stubs(), frozenset())
        self._compiled = CompiledModules(
            interpreter, lambda name, reason: None, alone=True, named=(*named, *more_paths)
        )
        self._modules: dict[str, Module | None] = {}
        self._stub_modules: dict[str, Module | None] = {}
        self._files: dict[str, Path] = {}

    def module(self, name: str) -> Module | None:
        """The facts of a module, or None when there is no such module, or it cannot be read."""
        if name not in self._modules:
            self._modules[name] = self._read(name)
        return self._modules[name]

    def stub(self, name: str) -> Module | None:
        """The stub beside a module's source, or None."""
        files = self._finder.find(name)
        if files is None or files.source is None or files.stub is None or self.is_standard(name):
            return None
        if name not in self._stub_modules:
            found = self._from(files.stub, files)
            is_stub = {"is_stub": True}
            self._stub_modules[name] = found.model_copy(update=is_stub) if found else None
        return self._stub_modules[name]

    def file(self, module: Module) -> str | None:
        """The file's name from its top package on: where it lies is the user's own business."""
        path = self._files.get(module.name)
        if path is None:
            return None
        path = path.with_suffix(".pyi") if module.is_stub else path
        depth = module.name.count(".") + (2 if path.stem == "__init__" else 1)
        return "/".join(path.parts[-depth:])

    def path(self, module: str) -> Path | None:
        """The file that a module was read from."""
        return self._files.get(module)

    def is_standard(self, module: str) -> bool:
        """Whether a module belongs to the standard library."""
        return module.partition(".")[0] in self._interpreter.standard_modules

    def exists(self, module: str) -> bool:
        """Whether the interpreter could import a module."""
        return self._finder.find(module) is not None or self.is_standard(module)

    def _read(self, name: str) -> Module | None:
        files = self._stubs.find(name) if self.is_standard(name) else None
        files = files or self._finder.find(name)
        if files is None:
            is_builtin = self._finder.is_builtin(name)
            return self._described(name, None) if is_builtin else None
        path = files.source or files.stub
        if path is not None:
            self._files[files.name] = path
            return self._from(path, files)
        if files.compiled is not None:
            return self._described(name, files.compiled)
        return Module(name=name, is_package=True)

    def _from(self, path: Path, files: ModuleFiles) -> Module | None:
        key = str(path)
        try:
            status = path.stat()
        except OSError:
            return None
        kept = self._store.entries(key)
        entry = kept.get(key)
        if entry is None or not is_same(entry, status.st_size, status.st_mtime_ns):
            entry = read_file(
                path,
                files.name,
                is_package=files.is_package,
                version=self._interpreter.version,
                inside=next((home for home in self._homes if path.is_relative_to(home)), None),
            ).entry
            self._store.keep(key, {key: entry})
        return entry.module

    def _described(self, name: str, path: Path | None) -> Module | None:
        self._compiled.describe({name: path})
        stub = self._compiled.stub(name)
        try:
            version = self._interpreter.version
            tree = parse(stub)
            return read_module(tree, name, is_package=False, version=version) if stub else None
        except UnreadableSource:
            return None


class RepositorySources:
    """The modules of a repository, and behind them those that are installed."""

    def __init__(
        self, modules: Mapping[str, Module], files: Mapping[str, str], installed: InstalledSources
    ) -> None:
        self.own = modules
        self.installed = installed
        self._files = files

    def module(self, name: str) -> Module | None:
        """The repository's own module of this name, else the installed one."""
        found = self.own.get(name)
        return found if found is not None else self.installed.module(name)

    def stub(self, name: str) -> Module | None:
        """The stub beside an installed module's source, or None."""
        return None if name in self.own else self.installed.stub(name)

    def file(self, module: Module) -> str | None:
        """The file of a module, the repository's own relative to its top folder."""
        return self._files.get(module.name) or self.installed.file(module)

    def submodules(self, package: str) -> Iterator[str]:
        """The names of the modules directly inside one of the repository's packages."""
        for name in self.own:
            head, _, last = name.rpartition(".")
            if head == package:
                yield last


@lru_cache(maxsize=1)
def standard_stubs() -> tuple[Path, ...]:
    """Where the stubs of the standard library lie: typeshed, as it comes with jedi."""
    spec = importlib.util.find_spec("jedi")
    folders = spec.submodule_search_locations if spec else None
    found = (Path(folder) / "third_party" / "typeshed" / "stdlib" for folder in folders or ())
    return tuple(folder for folder in found if folder.is_dir())
