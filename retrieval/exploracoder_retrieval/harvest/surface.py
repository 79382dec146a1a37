"""Which names a library publishes, and under which path each is best known."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from exploracoder_retrieval.facts.fact_types import Module, Variable
from exploracoder_retrieval.facts.module_files import is_published
from exploracoder_retrieval.harvest.public_names import Api, Names

# The results of these calls are for type checkers and logging, not APIs.
_NO_API = ("TypeVar(", "ParamSpec(", "TypeVarTuple(", "NewType(", "getLogger(")


@dataclass(slots=True)
class PublishedApi:
    """One API and the public paths to it, each with whether a list or stub declares it."""

    api: Api
    paths: dict[str, bool] = field(default_factory=dict)

    def ordered_paths(self) -> list[str]:
        """The paths, the best to import it by first.

        Shorter ones go first, then declared ones, then the place of the definition.
        """

        def order(path: str) -> tuple[int, int, str]:
            accident = 0 if self.paths[path] else 1 if path == self.api.path else 2
            return (path.count("."), accident, path)

        return sorted(self.paths, key=order)


class Surface:
    """Walks a library's public modules and collects what they publish."""

    def __init__(self, names: Names) -> None:
        self._names = names
        self._sources = names.sources
        self._export_lists: dict[str, list[str] | None] = {}

    def collect(self, packages: Iterable[str]) -> list[PublishedApi]:
        """Every definition that packages and modules publish once, ordered by best path."""
        entries: dict[str, PublishedApi] = {}
        module_names = (each for package in packages for each in self.modules(package))
        for module in filter(None, map(self._sources.module, module_names)):
            for name, is_declared in self._public_names(module):
                api = self._names.member(module, name)
                if api is not None and is_api(api):
                    entry = entries.setdefault(api.path, PublishedApi(api))
                    entry.paths[f"{module.name}.{name}"] = is_declared
        return sorted(entries.values(), key=lambda entry: entry.ordered_paths()[0])

    def modules(self, name: str) -> Iterator[str]:
        """The public modules of a package, the package itself first."""
        yield name
        exports = set(self._exports(self._sources.module(name)) or ())
        children = [each for each in self._sources.finder.submodules(name) if is_published(each)]
        # A package that lists some of its modules declares the others private, except any that has
        # a list of its own.
        selective = any(child.rpartition(".")[2] in exports for child in children)
        for child in children:
            is_listed = not selective or child.rpartition(".")[2] in exports
            if is_listed or self._exports(self._sources.module(child)) is not None:
                yield from self.modules(child)

    def _exports(self, module: Module | None) -> list[str] | None:
        """The names that a module and its stub list: either may leave some to run time."""
        if module is None:
            return None
        if module.name not in self._export_lists:
            both = (module, self._sources.stub(module.name))
            lists = (self._names.scope.exports(each) or () for each in both if each is not None)
            exports = dict.fromkeys(name for names in lists for name in names)
            self._export_lists[module.name] = list(exports) or None
        return self._export_lists[module.name]

    def _public_names(self, module: Module) -> Iterator[tuple[str, bool]]:
        exports = self._exports(module)
        names = [name for name in exports or () if not name.startswith("_")]
        yield from ((name, True) for name in names)
        stub = self._stub(module)
        if stub is not None:
            stub_names = (name for name in _declared(stub) if name not in names)
            yield from ((name, True) for name in stub_names)
        elif exports is None:
            yield from self._unlisted(module)

    def _stub(self, module: Module) -> Module | None:
        """The module that declares a module's names: its stub, or itself if it is only a stub."""
        path = self._sources.path(module.name)
        is_stub = path is not None and path.suffix == ".pyi"
        return module if is_stub else self._sources.stub(module.name)

    def _unlisted(self, module: Module) -> Iterator[tuple[str, bool]]:
        """What a module defines, and what it is there to bring in."""
        own = _own_names(module)
        yield from ((name, False) for name in sorted(own))
        explicit = {each.name for each in module.imports if each.as_itself and not each.only}
        # A plain module that defines anything, even a private helper, imports for its own use.
        private = (name for name in module.named if name not in module.imported)
        defines = own or any(name == "__getattr__" or not name.startswith("__") for name in private)
        is_facade = module.is_package or not defines
        brought = self._brought(module, frozenset()) if is_facade else explicit
        for name in sorted(brought - own):
            api = self._names.member(module, name) if not name.startswith("_") else None
            if api is None:
                continue
            # Type hints and fallbacks of the standard library are not the library's own.
            is_meant = name in explicit and not self._sources.is_standard(api.path)
            if is_meant or self._sources.owns(api.path):
                # An old place of a name, kept for those who import it from there, declares nothing.
                yield name, module.is_package

    def _brought(self, module: Module, seen_modules: frozenset[str]) -> set[str]:
        """The public names that a module imports, including by star imports."""
        names = {each.name for each in module.imports if not each.only}
        for star in set(module.stars) - seen_modules:
            source = self._sources.module(star)
            if source is not None:
                names |= set(self._exports(source) or ()) or (
                    _own_names(source) | self._brought(source, seen_modules | {star})
                )
        return {name for name in names if not name.startswith("_")}


def _own_names(module: Module) -> set[str]:
    """The public names that a module defines, without variables that are also imported."""
    imported_names = {each.name for each in module.imports}
    names = {each.name for each in module.variables} - imported_names
    names |= {each.name for each in (*module.classes, *module.functions)}
    return {name for name in names if not name.startswith("_")}


def _declared(stub: Module) -> Iterator[str]:
    """What a stub publishes without a list; nothing if it has one, which then counts instead."""
    if stub.exports:
        return
    own = (*stub.classes, *stub.functions, *stub.variables)
    explicit = (each for each in stub.imports if each.as_itself)
    for name in dict.fromkeys(each.name for each in (*own, *explicit)):
        if not name.startswith("_"):
            yield name


def is_api(api: Api) -> bool:
    """Whether a name is meant for callers, and not for type checkers or the library's own log."""
    value = (api.item.value or "") if isinstance(api.item, Variable) else ""
    return not any(maker in value for maker in _NO_API)
