"""What a name refers to, resolved through imports, aliases, re-exports and base classes."""

from __future__ import annotations

from dataclasses import dataclass

from exploracoder_retrieval.facts.fact_types import Class, Function, Module, Variable
from exploracoder_retrieval.facts.importable_modules import Sources

_MAX_STEPS = 60


@dataclass(frozen=True, slots=True)
class Definition:
    """What a name refers to; if ``item`` is None, the module itself."""

    module: Module
    item: Class | Function | Variable | None

    @property
    def path(self) -> str:
        """The dotted path at which it is defined."""
        if self.item is None:
            return self.module.name
        qualname = self.item.name if isinstance(self.item, Variable) else self.item.qualname
        return f"{self.module.name}.{qualname}"


class Scope:
    """Resolves names against modules. Nothing is imported."""

    def __init__(self, sources: Sources) -> None:
        self.sources = sources
        self._definitions: dict[tuple[str, bool, str], Definition | None] = {}
        self._exports: dict[str, frozenset[str]] = {}

    def resolve(self, module: Module, name: str) -> Definition | None:
        """What the dotted ``name`` refers to in a module, builtins included."""
        first, *rest = name.split(".")
        definition = self.member(module, first)
        if definition is None:
            definition = self._builtin(first)
        for part in rest:
            if definition is None:
                return None
            definition = self._inside(definition, part)
        return definition

    def at(self, path: str) -> Definition | None:
        """What a full dotted path refers to: ``package.module.Class.method``."""
        parts = path.split(".")
        for count in range(len(parts), 0, -1):
            module = self.sources.module(".".join(parts[:count]))
            if module is None:
                continue
            definition: Definition | None = Definition(module, None)
            for part in parts[count:]:
                definition = self._inside(definition, part) if definition else None
            if definition is not None:
                return definition
        return None

    def member(self, module: Module, name: str, steps: int = 0) -> Definition | None:
        """What ``name`` refers to at the top level of a module; None if it is not defined there."""
        key = (module.name, module.is_stub, name)
        if key in self._definitions:
            return self._definitions[key]
        self._definitions[key] = None  # an import cycle ends here
        if steps < _MAX_STEPS:
            self._definitions[key] = self._look(module, name, steps + 1)
        return self._definitions[key]

    def _look(self, module: Module, name: str, steps: int) -> Definition | None:
        own = _defined(Definition(module, None), name)
        if own is not None and not isinstance(own.item, Variable):
            return own
        definition = self._imported(module, name, steps)
        if definition is None and own is not None:
            definition = self._variable(own, steps)
        if definition is None:
            definition = self._starred(module, name, steps)
        if definition is None and module.is_package:
            inner = self.sources.module(f"{module.name}.{name}")
            definition = Definition(inner, None) if inner else None
        if definition is None and not module.is_stub:
            return self._declared(module, name, steps)
        return definition

    def _builtin(self, name: str) -> Definition | None:
        builtins = self.sources.module("builtins")
        return self.member(builtins, name) if builtins else None

    def _declared(self, module: Module, name: str, steps: int) -> Definition | None:
        """What the module's stub declares under a name that its code does not show."""
        stub = self.sources.stub(module.name)
        return self._look(stub, name, steps) if stub else None

    def _imported(self, module: Module, name: str, steps: int) -> Definition | None:
        for one in module.imported.get(name, ()):
            source = self._source(one.module, module)
            if one.attribute is None:
                if source is not None:
                    return Definition(source, None)
                continue
            if source is not None and source.name != module.name:
                definition = self.member(source, one.attribute, steps)
                if definition is not None:
                    return definition
            inner = self.sources.module(f"{one.module}.{one.attribute}")
            if inner is not None:
                return Definition(inner, None)
        return None

    def _variable(self, own: Definition, steps: int) -> Definition:
        """The class, function or module that a variable is an alias of, or the variable itself."""
        item = own.item
        if isinstance(item, Variable) and item.alias and item.alias != item.name:
            first, *rest = item.alias.split(".")
            target = self.member(own.module, first, steps)
            for part in rest:
                target = self._inside(target, part) if target else None
            # A variable set to another variable is a variable in its own right.
            if target is not None and not isinstance(target.item, Variable):
                return target
        return own

    def _starred(self, module: Module, name: str, steps: int) -> Definition | None:
        for star in module.stars:
            source = self._source(star, module)
            if source is None or source.name == module.name:
                continue
            if not self.is_exported(source, name):
                continue
            definition = self.member(source, name, steps)
            if definition is not None:
                return definition
        return None

    def _source(self, name: str, importer: Module) -> Module | None:
        """A module as ``importer`` sees it: stubs import from stubs if there are any."""
        stub = self.sources.stub(name) if importer.is_stub else None
        return stub or self.sources.module(name)

    def exports(
        self, module: Module, seen_modules: frozenset[str] = frozenset()
    ) -> list[str] | None:
        """A module's ``__all__``, with other modules' lists expanded; None if it has none."""
        if module.exports is None or module.name in seen_modules:
            return None
        names: dict[str, None] = {}
        for name in module.exports:
            owner, _, last = name.rpartition(".")
            if last == "__all__":
                other = self.resolve(module, owner)
                names |= dict.fromkeys(
                    (self.exports(other.module, seen_modules | {module.name}) if other else None)
                    or ()
                )
            else:
                names[name] = None
        return list(names) or None

    def is_exported(self, module: Module, name: str) -> bool:
        """Whether ``from module import *`` binds a name."""
        if module.name not in self._exports:
            self._exports[module.name] = frozenset(self.exports(module) or ())
        names = self._exports[module.name]
        return name in names if names else not name.startswith("_")

    def inside(self, module: Module, qualname: str) -> Definition | None:
        """What a module itself defines under a qualified name, such as a nested class's."""
        definition: Definition | None = Definition(module, None)
        for part in qualname.split("."):
            definition = _defined(definition, part) if definition else None
        return definition

    def _inside(self, owner: Definition, name: str) -> Definition | None:
        return self.member(owner.module, name) if owner.item is None else _defined(owner, name)


def _defined(owner: Definition, name: str) -> Definition | None:
    """What a module or class itself defines under a name."""
    scope = owner.module if owner.item is None else owner.item
    if isinstance(scope, Function | Variable):
        return None
    items = scope.named.get(name)
    return Definition(owner.module, items[0]) if items else None
