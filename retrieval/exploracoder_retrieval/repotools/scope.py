"""What a name means: followed through imports, aliases, re-exports and base classes."""

from __future__ import annotations

from dataclasses import dataclass

from exploracoder_retrieval.repotools.facts import Class, Function, Module, Variable
from exploracoder_retrieval.repotools.sources import Sources

_MAX_STEPS = 60


@dataclass(frozen=True, slots=True)
class Definition:
    """What a name was found to be; ``item`` None is the module itself."""

    module: Module
    item: Class | Function | Variable | None

    @property
    def path(self) -> str:
        """The dotted path of where it is defined."""
        if self.item is None:
            return self.module.name
        qualname = self.item.name if isinstance(self.item, Variable) else self.item.qualname
        return f"{self.module.name}.{qualname}"


class Scope:
    """Resolves names against modules. Nothing is imported."""

    def __init__(self, sources: Sources) -> None:
        self.sources = sources
        self._known: dict[tuple[str, str], Definition | None] = {}

    def resolve(self, module: Module, name: str) -> Definition | None:
        """What the dotted ``name`` means in a module, builtins included."""
        first, *rest = name.split(".")
        found = self.member(module, first)
        if found is None:
            builtins = self.sources.module("builtins")
            found = self.member(builtins, first) if builtins else None
        for part in rest:
            if found is None:
                return None
            found = self._inside(found, part)
        return found

    def at(self, path: str) -> Definition | None:
        """What a whole dotted path means: ``package.module.Class.method``."""
        parts = path.split(".")
        for count in range(len(parts), 0, -1):
            module = self.sources.module(".".join(parts[:count]))
            if module is None:
                continue
            found: Definition | None = Definition(module, None)
            for part in parts[count:]:
                found = self._inside(found, part) if found else None
            if found is not None:
                return found
        return None

    def member(self, module: Module, name: str, steps: int = 0) -> Definition | None:
        """What ``name`` is at the top level of a module; None when it is nothing there."""
        key = (module.name, name)
        if key in self._known:
            return self._known[key]
        self._known[key] = None  # a circle of imports ends here
        if steps < _MAX_STEPS:
            self._known[key] = self._look(module, name, steps + 1)
        return self._known[key]

    def _look(self, module: Module, name: str, steps: int) -> Definition | None:
        items: tuple[Class | Function, ...] = (*module.classes, *module.functions)
        for item in items:
            if item.name == name:
                return Definition(module, item)
        found = self._imported(module, name, steps)
        if found is None:
            found = self._variable(module, name, steps)
        if found is None:
            found = self._starred(module, name, steps)
        if found is None and module.is_package:
            inner = self.sources.module(f"{module.name}.{name}")
            found = Definition(inner, None) if inner else None
        stub = None if found or module.is_stub else self.sources.stub(module.name)
        return self._look(stub, name, steps) if stub else found

    def _imported(self, module: Module, name: str, steps: int) -> Definition | None:
        for one in module.imports:
            if one.name != name:
                continue
            source = self.sources.module(one.module)
            if one.attribute is None:
                if source is not None:
                    return Definition(source, None)
                continue
            if source is not None and source.name != module.name:
                found = self.member(source, one.attribute, steps)
                if found is not None:
                    return found
            inner = self.sources.module(f"{one.module}.{one.attribute}")
            if inner is not None:
                return Definition(inner, None)
        return None

    def _variable(self, module: Module, name: str, steps: int) -> Definition | None:
        for variable in module.variables:
            if variable.name != name:
                continue
            if variable.alias and variable.alias != name:
                first, *rest = variable.alias.split(".")
                found = self.member(module, first, steps)
                for part in rest:
                    found = self._inside(found, part) if found else None
                if found is not None:
                    return found
            return Definition(module, variable)
        return None

    def _starred(self, module: Module, name: str, steps: int) -> Definition | None:
        for star in module.stars:
            source = self.sources.module(star)
            if source is None or source.name == module.name or not is_exported(source, name):
                continue
            found = self.member(source, name, steps)
            if found is not None:
                return found
        return None

    def _inside(self, found: Definition, name: str) -> Definition | None:
        if found.item is None:
            return self.member(found.module, name)
        if isinstance(found.item, Class):
            inner = found.item
            items: tuple[Class | Function | Variable, ...]
            items = (*inner.classes, *inner.functions, *inner.variables)
            for item in items:
                if item.name == name:
                    return Definition(found.module, item)
        return None


def is_exported(module: Module, name: str) -> bool:
    """Whether ``from module import *`` brings a name."""
    if module.exports is not None:
        return name in module.exports
    return not name.startswith("_")
