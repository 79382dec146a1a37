"""The distributions on an interpreter's search paths, and the packages that each provides."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from importlib import metadata
from pathlib import Path

from exploracoder_retrieval.facts.module_files import has_init, is_in_package

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


class InstalledDistributions:
    """Looks up distributions by their names and by the names that they make importable."""

    def __init__(self, search_paths: tuple[Path, ...]) -> None:
        self._search_paths = search_paths

    def providing(self, import_name: str, named: str) -> Distribution | None:
        """The distribution that a module or namespace is from; None if there are none or several.

        Of several with the same module, it is the one that is ``named``, if any, else the first.
        """
        key = self._key_of(import_name, named)
        return self._describe(key) if key else None

    def import_names(self, distribution: str) -> tuple[str, ...]:
        """The public names to import a distribution by, the most fitting first.

        Several packages in one namespace are imported by what their dotted names have in common,
        unless one of them has the distribution's own name.
        """
        by_top: dict[str, list[str]] = {}
        packages = self._packages.get(normalise(distribution), ())
        for package in packages:
            by_top.setdefault(package.partition(".")[0], []).append(package.replace(".", "/"))
        names = {posixpath.commonpath(each).replace("/", ".") for each in by_top.values()}
        names |= {each for each in packages if normalise(each) == normalise(distribution)}
        return tuple(sorted(names, key=lambda name: _nearness(name, distribution)))

    def names(self) -> frozenset[str]:
        """The names of all distributions and of what they provide."""
        dist_names = {str(dist.metadata["Name"]) for dist in self._by_name.values()}
        return frozenset(dist_names.union(*self._packages.values()))

    def _key_of(self, import_name: str, named: str) -> str | None:
        above, below = [], []
        for key, packages in self._packages.items():
            if any(is_in_package(import_name, each) for each in packages):
                above.append(key)
            elif any(is_in_package(each, import_name) for each in packages):
                below.append(key)
        if (key := normalise(named)) in (*above, *below):
            return key
        if above:
            return above[0]
        if below:
            return below[0] if len(below) == 1 else None
        namesake = normalise(import_name.partition(".")[0])
        return namesake if namesake in self._by_name else None

    def _describe(self, key: str) -> Distribution:
        dist = self._by_name[key]
        text = dist.read_text("METADATA") or dist.read_text("PKG-INFO") or ""
        _, _, readme = text.partition("\n\n")
        return Distribution(
            str(dist.metadata["Name"]), dist.version, readme.strip(), self._packages[key]
        )

    @cached_property
    def _by_name(self) -> dict[str, metadata.Distribution]:
        paths = [str(path) for path in self._search_paths]
        distributions: dict[str, metadata.Distribution] = {}
        for dist in metadata.distributions(path=paths):
            name = dist.metadata["Name"]
            if name:
                distributions.setdefault(normalise(name), dist)
        return distributions

    @cached_property
    def _packages(self) -> dict[str, tuple[str, ...]]:
        return {key: tuple(_packages(dist)) for key, dist in self._by_name.items()}


def normalise(name: str) -> str:
    """A distribution's name, normalised the way the package index compares names."""
    return re.sub(r"[-_.]+", "-", name).lower()


def _packages(dist: metadata.Distribution) -> Iterator[str]:
    for top in dict.fromkeys(_top_level(dist)):
        folder = Path(str(dist.locate_file(top)))
        if folder.is_dir() and not has_init(folder):
            yield from _in_namespace(dist, top)
        else:
            yield top


def _top_level(dist: metadata.Distribution) -> Iterator[str]:
    names = (dist.read_text("top_level.txt") or "").split()
    if names:
        yield from (name for name in names if not name.startswith("_"))
        return
    for file in dist.files or ():
        top = file.parts[0]
        if len(file.parts) == 1:
            top = top.split(".", 1)[0] if file.suffix in {".py", ".so", ".pyd"} else ""
        if top.isidentifier() and not top.startswith("_"):
            yield top


def _in_namespace(dist: metadata.Distribution, top: str) -> Iterator[str]:
    """What a distribution adds to a namespace: its outermost packages, and modules beside them."""
    names: set[str] = set()
    for file in dist.files or ():
        if file.parts[0] == top and file.name.endswith(_MODULE_ENDS):
            module = file.name.partition(".")[0]
            names.add(".".join([*file.parts[:-1], *([module] if module != "__init__" else [])]))
    packages = {
        ".".join(file.parts[:-1])
        for file in dist.files or ()
        if file.name in ("__init__.py", "__init__.pyi")
    }
    for name in sorted(names):
        parts = name.split(".")
        is_inner = any(".".join(parts[:depth]) in packages for depth in range(1, len(parts)))
        if not is_inner and all(part.isidentifier() and part[0] != "_" for part in parts):
            yield name


def _nearness(name: str, distribution: str) -> tuple[bool, int, str]:
    return (normalise(name) != normalise(distribution), len(name), name)
