"""The distributions on an interpreter's search paths, and the packages that each provides."""

from __future__ import annotations

import ast
import json
import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from exploracoder_retrieval.errors import UnreadableSource
from exploracoder_retrieval.facts.module_files import has_init, is_in_package, libraries_in
from exploracoder_retrieval.facts.reading import parse
from exploracoder_retrieval.files import entries, read_bytes, read_python

_MODULE_ENDS = (".py", ".pyi", ".so", ".pyd")


@dataclass(frozen=True)
class Distribution:
    """An installed distribution: its name on the package index, its version, its README text.

    ``packages`` are its public packages and modules by dotted name: the top-level ones, and those
    that it adds to a namespace shared with other distributions.
    """

    name: str
    version: str
    readme: str
    packages: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Importable:
    """An installed distribution and the name that fits it best of those to import it by."""

    name: str
    version: str
    import_name: str


@dataclass(frozen=True, slots=True)
class _Installed:
    name: str
    version: str
    metadata: metadata.Distribution
    packages: tuple[str, ...]
    mapped: Mapping[str, Path]

    def import_names(self) -> tuple[str, ...]:
        """See `InstalledDistributions.import_names`."""
        by_top: dict[str, list[str]] = {}
        for package in self.packages:
            by_top.setdefault(package.partition(".")[0], []).append(package.replace(".", "/"))
        names = {posixpath.commonpath(each).replace("/", ".") for each in by_top.values()}
        names |= {each for each in self.packages if normalise(each) == normalise(self.name)}
        return tuple(sorted(names, key=lambda name: _nearness(name, self.name)))

    def described(self) -> Distribution | None:
        """The distribution; None if it was just removed."""
        fields = _fields(self.metadata)
        if fields is None or "Version" not in fields:
            return None
        text = self.metadata.read_text("METADATA") or self.metadata.read_text("PKG-INFO") or ""
        _, _, readme = text.partition("\n\n")
        return Distribution(fields["Name"], fields["Version"], readme.strip(), self.packages)


class InstalledDistributions:
    """Looks up distributions by their names and by the names that they make importable.

    What is installed, removed or replaced meanwhile is noticed.
    """

    def __init__(self, search_paths: tuple[Path, ...]) -> None:
        self._search_paths = search_paths
        self._stamps: tuple[tuple[str, int], ...] | None = None
        self._last_read: dict[str, _Installed] = {}

    def providing(self, import_name: str, named: str) -> Distribution | None:
        """The distribution that a module or namespace is from; None if there are none or several.

        Of several with the same module, it is the one that is ``named``, if any, else the first of
        those that name it most closely.
        """
        installed = _providing(self._installed(), import_name, named)
        return installed.described() if installed else None

    def import_names(self, distribution: str) -> tuple[str, ...]:
        """The public names to import a distribution by, the most fitting first.

        Several packages in one namespace are imported by what their dotted names have in common,
        unless one of them has the distribution's own name.
        """
        installed = self._installed().get(normalise(distribution))
        return installed.import_names() if installed else ()

    def importable(self) -> tuple[Importable, ...]:
        """The distributions that can be imported, by name."""
        found = [
            Importable(one.name, one.version, import_names[0])
            for one in self._installed().values()
            if (import_names := one.import_names())
        ]
        return tuple(sorted(found, key=lambda one: one.name.lower()))

    def has(self, distribution: str) -> bool:
        """Whether there is a distribution of this name, however the name is written."""
        return normalise(distribution) in self._installed()

    def mapped_modules(self) -> Mapping[str, Path]:
        """The modules of editable installations that an import hook finds, and where they are."""
        places: dict[str, Path] = {}
        for each in self._installed().values():
            places |= each.mapped
        return places

    def names(self) -> frozenset[str]:
        """The names of all distributions and of what they provide."""
        names: set[str] = set()
        for each in self._installed().values():
            names |= {each.name, *each.packages}
        return frozenset(names)

    def _installed(self) -> dict[str, _Installed]:
        """The distributions by normalised name; of one found twice, the first counts."""
        stamps = tuple(_stamps(self._search_paths))
        if stamps != self._stamps:
            installed: dict[str, _Installed] = {}
            for dist in metadata.distributions(path=[str(path) for path in self._search_paths]):
                fields = _fields(dist)
                if fields is not None and (key := normalise(fields["Name"])) not in installed:
                    packages, mapped = _provided(dist)
                    # Before 3.12, metadata has no `get`.
                    version = fields["Version"] if "Version" in fields else ""  # noqa: SIM401
                    installed[key] = _Installed(fields["Name"], version, dist, packages, mapped)
            self._last_read, self._stamps = installed, stamps
        return self._last_read


def _stamps(search_paths: tuple[Path, ...]) -> Iterator[tuple[str, int]]:
    """Each place of metadata, and when a file was last added to it or removed from it."""
    for path in search_paths:
        with suppress(OSError):
            yield str(path), path.stat().st_mtime_ns
        for entry in entries(path):
            if entry.name.endswith((".dist-info", ".egg-info")):
                with suppress(OSError):
                    yield entry.path, entry.stat().st_mtime_ns


def _providing(by_name: dict[str, _Installed], import_name: str, named: str) -> _Installed | None:
    above, below = {}, {}
    depths: dict[str, int] = {}  # the more specific, the greater
    for key, one in by_name.items():
        if packages := [each for each in one.packages if is_in_package(import_name, each)]:
            above[key] = one
            depths[key] = max(map(len, packages))
        elif any(is_in_package(each, import_name) for each in one.packages):
            below[key] = one
    if (key := normalise(named)) in above | below:
        return by_name[key]
    if above:
        return above[max(above, key=lambda key: depths[key])]
    if below:
        return next(iter(below.values())) if len(below) == 1 else None
    return by_name.get(key) or by_name.get(normalise(import_name.partition(".")[0]))


def normalise(name: str) -> str:
    """A distribution's name, normalised the way the package index compares names."""
    return re.sub(r"[-_.]+", "-", name).lower()


def _fields(dist: metadata.Distribution) -> metadata.PackageMetadata | None:
    """A distribution's metadata; None if there is none, or none that can be read with a name."""
    try:
        fields = dist.metadata
        return fields if "Name" in fields and fields["Name"].strip() else None
    except Exception:  # noqa: BLE001 - what an odd installation raises, nobody says
        return None


def _provided(dist: metadata.Distribution) -> tuple[tuple[str, ...], Mapping[str, Path]]:
    """A distribution's packages, and where they are if only an import hook finds them.

    One that does not say so in the right way has none, which is no reason to miss the others.
    """
    try:
        files = _files(dist)
        folders, mapped = _editable_places(dist, files) if _is_editable(dist) else ([], {})
        packages = [name for name in mapped if _is_public(name)] or list(_packages(dist, files))
    except Exception:  # noqa: BLE001 - what an odd installation raises, nobody says
        return (), {}
    if not packages:
        packages = [each.stem for folder in folders for each in libraries_in(folder)]
    return tuple(packages), mapped


def _files(dist: metadata.Distribution) -> list[metadata.PackagePath]:
    """A distribution's files, as it lists them; empty if it has no list, or an invalid one."""
    try:
        return [file for file in dist.files or () if file.parts]
    except Exception:  # noqa: BLE001 - what an odd installation raises, nobody says
        return []


def _is_editable(dist: metadata.Distribution) -> bool:
    """Source: PEP 610."""
    try:
        return bool(json.loads(dist.read_text("direct_url.json") or "")["dir_info"]["editable"])
    except (ValueError, KeyError, TypeError):
        return False


def _editable_places(
    dist: metadata.Distribution, files: Sequence[metadata.PackagePath]
) -> tuple[list[Path], dict[str, Path]]:
    """What an editable installation adds to the search path, and what its import hook finds.

    Most build backends write a ``.pth`` file. Setuptools writes a hook if folder and package
    differ, with the places in a literal ``MAPPING``. Neither is run.
    """
    folders: list[Path] = []
    mapped: dict[str, Path] = {}
    for file in files:
        path = Path(str(dist.locate_file(file)))
        try:
            if file.suffix == ".pth":
                lines = read_bytes(path).decode().splitlines()
                places = [path.parent / line for line in lines if not _is_code(line)]
                folders += [place for place in places if place.is_dir()]
            elif file.name.startswith("__editable___") and file.name.endswith("_finder.py"):
                mapped |= _mapping(parse(read_python(path)))
        except (UnreadableSource, OSError, ValueError, TypeError):
            continue
    return folders, mapped


def _is_code(line: str) -> bool:
    """Whether a line of a ``.pth`` file names no folder. Source: Python's ``site``."""
    return not line.strip() or line.startswith(("#", "import ", "import\t"))


def _mapping(hook: ast.Module) -> dict[str, Path]:
    for node in hook.body:
        match node:
            case (
                ast.AnnAssign(target=ast.Name("MAPPING"), value=ast.Dict() as value)
                | ast.Assign(targets=[ast.Name("MAPPING")], value=ast.Dict() as value)
            ):
                return {str(name): Path(place) for name, place in ast.literal_eval(value).items()}
    return {}


def _packages(dist: metadata.Distribution, files: Sequence[metadata.PackagePath]) -> Iterator[str]:
    for top in dict.fromkeys(_top_level(dist, files)):
        folder = Path(str(dist.locate_file(top)))
        if folder.is_dir() and not has_init(folder):
            yield from list(_in_namespace(files, top)) or [top]
        else:
            yield top


def _top_level(dist: metadata.Distribution, files: Sequence[metadata.PackagePath]) -> Iterator[str]:
    names = (dist.read_text("top_level.txt") or "").split()
    if names:
        yield from (name for name in names if not name.startswith("_"))
        return
    for file in files:
        top = file.parts[0]
        if len(file.parts) == 1:
            top = top.split(".", 1)[0] if file.suffix in {".py", ".so", ".pyd"} else ""
        if top.isidentifier() and not top.startswith("_"):
            yield top


def _in_namespace(files: Sequence[metadata.PackagePath], top: str) -> Iterator[str]:
    """What a distribution adds to a namespace: its outermost packages, and modules beside them."""
    names: set[str] = set()
    for file in files:
        if file.parts[0] == top and file.name.endswith(_MODULE_ENDS):
            module = file.name.partition(".")[0]
            names.add(".".join([*file.parts[:-1], *([module] if module != "__init__" else [])]))
    packages = {
        ".".join(file.parts[:-1]) for file in files if file.name in ("__init__.py", "__init__.pyi")
    }
    for name in sorted(names):
        parts = name.split(".")
        is_inner = any(".".join(parts[:depth]) in packages for depth in range(1, len(parts)))
        if not is_inner and _is_public(name):
            yield name


def _is_public(name: str) -> bool:
    return all(part.isidentifier() and part[0] != "_" for part in name.split("."))


def _nearness(name: str, distribution: str) -> tuple[bool, int, str]:
    return (normalise(name) != normalise(distribution), len(name), name)
