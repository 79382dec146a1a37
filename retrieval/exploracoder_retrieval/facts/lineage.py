"""The classes that a class inherits from, in method resolution order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from exploracoder_retrieval.facts.fact_types import Class, Module, Variable
from exploracoder_retrieval.facts.kinds import last_name
from exploracoder_retrieval.facts.scope import Scope

# Meant for type checkers; they contribute no members.
_NO_CLASSES = frozenset({"Generic", "Protocol", "TypedDict", "object"})
_CALLED = {"namedtuple", "NewType"}
_MAX_DEPTH = 64


@dataclass(frozen=True, slots=True)
class LocatedClass:
    """A class and the module that defines it."""

    module: Module
    item: Class

    @property
    def path(self) -> str:
        """Its dotted path."""
        return f"{self.module.name}.{self.item.qualname}"


@dataclass(frozen=True)
class Lineage:
    """A class first, then its bases; ``unknown`` are bases, as written, that were not found.

    ``problem`` says why Python would not create such a class: it inherits from itself, or its bases
    have no consistent order.
    """

    classes: tuple[LocatedClass, ...]
    unknown: tuple[str, ...]
    problem: str = ""

    @cached_property
    def base_names(self) -> frozenset[str]:
        """The last names of all bases, as they are written."""
        return frozenset(last_name(base) for one in self.classes for base in one.item.bases)

    def of_base(self, number: int) -> Lineage:
        """The part that begins with the class at index ``number``."""
        return replace(self, classes=self.classes[number:])


class Lineages:
    """Linearises base classes. Source: the C3 algorithm of Python's method resolution order."""

    def __init__(self, scope: Scope) -> None:
        self._scope = scope
        self._by_path: dict[str, Lineage] = {}
        self._open: list[str] = []  # classes being linearised

    def of(self, start: LocatedClass) -> Lineage:
        """The lineage of a class. If it inherits from itself, the lineage ends at the cycle."""
        lineage = self._by_path.get(start.path)
        if lineage is not None:
            return lineage
        if start.path in self._open or len(self._open) >= _MAX_DEPTH:
            circle = f"{start.path} inherits from itself" if start.path in self._open else ""
            return Lineage((start,), (), circle)
        self._open.append(start.path)
        self._by_path[start.path] = self._linearise(start)
        self._open.pop()
        return self._by_path[start.path]

    def _linearise(self, start: LocatedClass) -> Lineage:
        bases: list[LocatedClass] = []
        unknown: list[str] = []
        for text in start.item.bases:
            parent = self._base(start, text)
            if isinstance(parent, LocatedClass):
                bases.append(parent)
            elif parent:
                unknown.append(parent)
        lines = [self.of(base) for base in bases]
        for line in lines:
            unknown += [one for one in line.unknown if one not in unknown]
        order, is_ordered = _merge([[*line.classes] for line in lines] + [bases])
        own = "" if is_ordered else f"the bases of {start.path} have no order"
        problem = next(filter(None, (*(line.problem for line in lines), own)), "")
        bases = [base for base in order if base.path != start.path]
        return Lineage((start, *bases), tuple(unknown), problem)

    def _base(self, start: LocatedClass, text: str) -> LocatedClass | str:
        """The class that a base refers to; its text if not found; empty if it is to be ignored."""
        name = text.partition("[")[0].strip()
        if name.rpartition(".")[2] in _NO_CLASSES:
            return ""
        if "(" in text:
            return "" if name.partition("(")[0].rpartition(".")[2] in _CALLED else text
        base = self._in_class(start, name)
        return base if base is not None else name

    def _in_class(self, start: LocatedClass, name: str) -> LocatedClass | None:
        """The class of a base name: a sibling nested class goes before the module's names."""
        owner = start.item.qualname.rpartition(".")[0]
        while owner:
            definition = self._scope.at(f"{start.module.name}.{owner}.{name}")
            if definition is not None and isinstance(definition.item, Class):
                return LocatedClass(definition.module, definition.item)
            owner = owner.rpartition(".")[0]
        definition = self._scope.resolve(start.module, name)
        if definition is not None and isinstance(definition.item, Variable):  # Base = Other[int]
            definition = self._scope.resolve(
                definition.module, (definition.item.value or "").partition("[")[0]
            )
        # A class with the same name as its base: the imported class is meant.
        if definition is not None and isinstance(definition.item, Class):
            base = LocatedClass(definition.module, definition.item)
            return None if base.path == start.path else base
        return None


def _merge(lines: Sequence[list[LocatedClass]]) -> tuple[list[LocatedClass], bool]:
    """Merged linearisations, and whether they agree; if not, classes go by first mention."""
    order: list[LocatedClass] = []
    is_ordered = True
    rest = [list(line) for line in lines if line]
    while rest:
        head = next((line[0] for line in rest if not _is_later(line[0], rest)), None)
        is_ordered = is_ordered and head is not None
        head = head or rest[0][0]
        order.append(head)
        rest = [[one for one in line if one.path != head.path] for line in rest]
        rest = [line for line in rest if line]
    return order, is_ordered


def _is_later(one: LocatedClass, lines: Sequence[list[LocatedClass]]) -> bool:
    return any(one.path == other.path for line in lines for other in line[1:])
