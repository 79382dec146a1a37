"""Where modules are on disk, found the way Python finds them, without running any."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType

from exploracoder_retrieval.files import MAX_DEPTH, Skip, entries, folder_trouble, is_folder

_COMPILED = re.compile(r"^(?P<name>[^.]+)(\.[\w-]+)*\.(so|pyd)$")
_NOT_THE_LIBRARY = frozenset(
    {"tests", "test", "docs", "doc", "examples", "example"}
    | {"benchmarks", "scripts", "tools", "build"}
)
_UNPUBLISHED = frozenset({"tests", "test", "conftest", "setup", "vendor", "vendored"})


@dataclass(frozen=True, slots=True)
class ModuleFiles:
    """The files of one module; any may be missing, but not all.

    ``folders`` is where its submodules are searched for: empty for a plain module, possibly several
    for a namespace package.
    """

    name: str
    source: Path | None
    stub: Path | None
    binary: Path | None
    folders: tuple[Path, ...]

    @property
    def is_package(self) -> bool:
        return bool(self.folders)


@dataclass(frozen=True, slots=True)
class _Listing:
    files: frozenset[str]
    folders: frozenset[str]
    binaries: dict[str, str]
    names: frozenset[str]


class ModuleFinder:
    """Finds modules by dotted name under the search paths, in their order.

    Below ``homes``, the folders of libraries given by path, links to folders are not followed;
    elsewhere only links that form a cycle are skipped. ``mapped`` are the places of modules that
    are on no search path, each a folder or a file without its suffix. ``skip_reasons`` records what
    was left out.
    """

    def __init__(
        self,
        search_paths: tuple[Path, ...],
        builtin: frozenset[str],
        *,
        homes: tuple[Path, ...] = (),
        mapped: Mapping[str, Path] = MappingProxyType({}),
    ) -> None:
        self.skip_reasons: dict[str, str] = {}
        self._homes = homes
        self._mapped = mapped
        self._search_paths = search_paths
        self._builtin = builtin
        self._files: dict[str, ModuleFiles | None] = {}
        self._listings: dict[Path, _Listing] = {}

    def find(self, name: str) -> ModuleFiles | None:
        """The module's files, or None if there is no such module."""
        if name.count(".") > MAX_DEPTH:
            return None
        if name not in self._files:
            files = self._look_for(name)
            if files is not None and files.stub is None:
                files = replace(files, stub=self._stub_apart(name))
            self._files[name] = files
        return self._files[name]

    def is_builtin(self, name: str) -> bool:
        """Whether the module is part of the interpreter itself and has no file."""
        return name in self._builtin

    def submodules(self, name: str) -> Iterator[str]:
        """The dotted names of the modules directly inside a package, in alphabetical order."""
        files = self.find(name)
        names: set[str] = set()
        for folder in files.folders if files else ():
            listing = self._listing(folder)
            names |= listing.names
            if not has_init(folder):  # Packages in a namespace need no `__init__` either.
                names |= listing.folders - {"__pycache__"}
        for child in sorted(names):
            if child.isidentifier():
                yield f"{name}.{child}"

    def _stub_apart(self, name: str) -> Path | None:
        """The module's stub in a stub-only distribution (PEP 561)."""
        top, _, rest = name.partition(".")
        for folder in self._search_paths:
            if f"{top}-stubs" in self._listing(folder).folders:
                inner = folder.joinpath(f"{top}-stubs", *rest.split(".")) if rest else None
                package = (inner or folder / f"{top}-stubs") / "__init__.pyi"
                plain = inner.with_suffix(".pyi") if inner is not None else package
                return next((file for file in (package, plain) if file.is_file()), None)
        return None

    def _look_for(self, name: str) -> ModuleFiles | None:
        parent, _, last = name.rpartition(".")
        package = self.find(parent) if parent else None
        folders = self._search_paths if not parent else package.folders if package else ()
        files = self._files_in(name, last, folders)
        if files is None and name in self._mapped:
            place = self._mapped[name]
            files = self._files_in(name, place.name, (place.parent,))
        return files

    def _files_in(self, name: str, last: str, folders: tuple[Path, ...]) -> ModuleFiles | None:
        namespace: list[Path] = []
        for folder in folders:
            listing = self._listing(folder)
            if last in listing.folders:
                inner = folder / last
                if has_init(inner):
                    return _package(name, inner)
                namespace.append(inner)
            if last in listing.binaries or {f"{last}.py", f"{last}.pyi"} & listing.files:
                return _plain(name, last, folder, listing)
        return ModuleFiles(name, None, None, None, tuple(namespace)) if namespace else None

    def _listing(self, folder: Path) -> _Listing:
        if folder not in self._listings:
            inside = next((home for home in self._homes if folder.is_relative_to(home)), None)
            self._listings[folder] = _list(folder, inside, self.skip_reasons.__setitem__)
        return self._listings[folder]


def is_in_package(module: str, package: str) -> bool:
    """Whether a dotted name is a package's own or lies in it."""
    return f"{module}.".startswith(f"{package}.")


def is_published(module_name: str) -> bool:
    """Whether no part of a dotted name below the top is private, a test, or vendored code."""
    return not any(
        part.startswith(("_", "test_")) or part.endswith("_tests") or part in _UNPUBLISHED
        for part in module_name.split(".")[1:]
    )


def _list(folder: Path, inside: Path | None, on_skip: Skip) -> _Listing:
    files: set[str] = set()
    folders: set[str] = set()
    extensions: dict[str, str] = {}
    for entry in entries(folder, on_skip) if folder.is_dir() else ():
        if not is_folder(entry):
            files.add(entry.name)
        elif trouble := folder_trouble(entry, inside):
            on_skip(entry.path, trouble)
        else:
            folders.add(entry.name)
    for file in sorted(files):
        if match := _COMPILED.match(file):
            extensions.setdefault(match["name"], file)
    names = {file.rsplit(".", 1)[0] for file in files if file.endswith((".py", ".pyi"))}
    names |= set(extensions)
    names |= {name for name in folders if has_init(folder / name)}
    return _Listing(
        frozenset(files),
        frozenset(folders),
        extensions,
        frozenset(names - {"__init__", "__main__"}),
    )


def libraries_in(folder: Path) -> list[Path]:
    """The packages of a source tree's folder, or if there are none, its modules."""
    visible = [
        Path(each.path)
        for each in entries(folder)
        if not each.name.startswith((".", "_")) and each.name not in _NOT_THE_LIBRARY
        if not (is_folder(each) and each.is_symlink())
    ]
    packages = [each for each in visible if has_init(each)]
    return packages or [
        each for each in visible if each.suffix == ".py" and each.stem not in {"setup", "conftest"}
    ]


def has_init(folder: Path) -> bool:
    """Whether a folder is a regular package; one without may be part of a namespace."""
    return (folder / "__init__.py").is_file() or (folder / "__init__.pyi").is_file()


def _package(name: str, folder: Path) -> ModuleFiles:
    source, stub = folder / "__init__.py", folder / "__init__.pyi"
    return ModuleFiles(
        name,
        source if source.is_file() else None,
        stub if stub.is_file() else None,
        None,
        (folder,),
    )


def _plain(name: str, last: str, folder: Path, listing: _Listing) -> ModuleFiles:
    source, stub = f"{last}.py", f"{last}.pyi"
    extension = listing.binaries.get(last)
    return ModuleFiles(
        name,
        folder / source if source in listing.files else None,
        folder / stub if stub in listing.files else None,
        folder / extension if extension else None,
        (),
    )
