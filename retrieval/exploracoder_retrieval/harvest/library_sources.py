"""The modules of the library being described, and of the libraries that it re-exports from."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from exploracoder_retrieval.facts.compiled import CompiledModules
from exploracoder_retrieval.facts.fact_types import Module
from exploracoder_retrieval.facts.importable_modules import InstalledSources
from exploracoder_retrieval.facts.module_files import ModuleFiles, is_in_package, is_published
from exploracoder_retrieval.facts.store import Entry, FactStore
from exploracoder_retrieval.files import MAX_SOURCE_BYTES, Skip
from exploracoder_retrieval.harvest.target import Target
from exploracoder_retrieval.library_python import Interpreter

# For one library and what it re-exports from others; the largest have a tenth of this.
MAX_ALL_BYTES = 400_000_000


class LibrarySources(InstalledSources):
    """Modules from their source, else from the compiled module itself, else from a stub.

    Nothing is kept on disk. What cannot be read is reported to ``on_skip``.
    """

    def __init__(self, target: Target, interpreter: Interpreter, on_skip: Skip) -> None:
        homes = () if target.home is None else (target.home,)
        paths = () if target.named is None else (target.named,)
        compiled_modules = CompiledModules(
            interpreter, on_skip, alone=bool(paths), named_paths=paths
        )
        store = FactStore(None, interpreter.version)
        super().__init__(interpreter, store, homes, compiled_modules=compiled_modules)
        self._target = target
        self._on_skip = on_skip
        self._left_bytes = MAX_ALL_BYTES
        self._is_asked = False

    def owns(self, path: str) -> bool:
        """Whether a dotted path lies in the distribution that the library is from."""
        return any(is_in_package(path, each) for each in self._target.packages)

    def declared(self, name: str) -> Module | None:
        """The stub of a compiled module, or None."""
        files = self.finder.find(name)
        return self._from(files.stub, files, is_stub=True) if files and files.stub else None

    def is_foreign_and_compiled(self, name: str) -> bool:
        """Whether a module belongs to another library and could only be read by importing it."""
        if name.partition(".")[0] == self._target.import_name.partition(".")[0]:
            return False
        files = self.finder.find(name)
        if files is None:
            return self.finder.is_builtin(name)
        return files.source is None and files.binary is not None

    def _read(self, name: str) -> Module | None:
        files = self.finder.find(name)
        if files is None:
            return self._described(name, None) if self.finder.is_builtin(name) else None
        module = self._from(files.source, files) if files.source else None
        if module is None and files.binary:
            module = self._described(name, files.binary)
        if module is None and files.stub:
            module = self._from(files.stub, files)
        return module or (Module(name=name, is_package=True) if files.folders else None)

    def _border(self, path: Path) -> Path | None:
        return self._target.border(path)

    def _entry(self, path: Path, files: ModuleFiles) -> Entry:
        entry = self._read_file(path, files, min(MAX_SOURCE_BYTES, self._left_bytes))
        self._left_bytes -= entry.size if entry.sha256 else 0
        if entry.problem:
            self._on_skip(str(path), entry.problem)
        return entry

    def _described(self, name: str, path: Path | None) -> Module | None:
        if not self._is_asked:
            # One process for the whole library: most of its time goes into imports.
            self._is_asked = True
            self._compiled_modules.describe({**dict(self._own_compiled_files()), name: path})
        return super()._described(name, path)

    def _own_compiled_files(self) -> Iterator[tuple[str, Path | None]]:
        stack = list(self._target.modules)
        while stack:
            name = stack.pop()
            files = self.finder.find(name)
            if files is None or not is_published(name.replace("._", ".")):
                continue
            if files.binary and not files.source:
                yield name, files.binary
            if files.folders:
                stack += list(self.finder.submodules(name))


class StubbedSources:
    """The same modules, but for other libraries' compiled modules only their stubs.

    Importing them just for what an annotation names is not worth a process: compiled modules
    describe no data classes and no lists of strings.
    """

    def __init__(self, sources: LibrarySources) -> None:
        self.file = sources.file
        self._sources = sources
        self._declarations: dict[str, Module | None] = {}

    def module(self, name: str) -> Module | None:
        """A module, or the stub that declares it."""
        if not self._sources.is_foreign_and_compiled(name):
            return self._sources.module(name)
        if name not in self._declarations:
            self._declarations[name] = self._sources.declared(name)
        return self._declarations[name]

    def stub(self, name: str) -> Module | None:
        """The stub beside a module that was read."""
        is_unasked = self._sources.is_foreign_and_compiled(name)
        return None if is_unasked else self._sources.stub(name)
