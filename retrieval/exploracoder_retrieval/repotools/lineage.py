"""The classes that a class inherits from, in the order in which Python looks through them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from exploracoder_retrieval.repotools.facts import Class, Module
from exploracoder_retrieval.repotools.scope import Scope

# They say something to type checkers and bring no members.
_NO_CLASSES = frozenset({"Generic", "Protocol", "TypedDict", "object"})
_CALLED = {"namedtuple", "NewType"}


@dataclass(frozen=True, slots=True)
class Located:
    """A class and the module that defines it."""

    module: Module
    item: Class

    @property
    def path(self) -> str:
        """Its dotted path."""
        return f"{self.module.name}.{self.item.qualname}"


@dataclass(frozen=True, slots=True)
class Lineage:
    """A class first, then its bases; ``unknown`` are bases, as written, that were not found."""

    classes: tuple[Located, ...]
    unknown: tuple[str, ...]


class Lineages:
    """Linearises base classes. Source: the C3 algorithm of Python's method resolution order."""

    def __init__(self, scope: Scope) -> None:
        self._scope = scope
        self._known: dict[str, Lineage] = {}

    def of(self, start: Located) -> Lineage:
        """The lineage of a class. One that inherits from itself ends where it comes round."""
        if start.path not in self._known:
            self._known[start.path] = Lineage((start,), ())
            self._known[start.path] = self._linearise(start)
        return self._known[start.path]

    def _linearise(self, start: Located) -> Lineage:
        bases: list[Located] = []
        unknown: list[str] = []
        for text in start.item.bases:
            found = self._base(start, text)
            if isinstance(found, Located):
                bases.append(found)
            elif found:
                unknown.append(found)
        lines = [self.of(base) for base in bases]
        for line in lines:
            unknown += [one for one in line.unknown if one not in unknown]
        merged = _merge([[*line.classes] for line in lines] + [bases])
        return Lineage((start, *merged), tuple(unknown))

    def _base(self, start: Located, text: str) -> Located | str:
        """The class that a base means; its text when it was not found; empty when it is none."""
        name = text.partition("[")[0].strip()
        if name.rpartition(".")[2] in _NO_CLASSES:
            return ""
        if "(" in text:
            return "" if name.partition("(")[0].rpartition(".")[2] in _CALLED else text
        found = self._in_class(start, name)
        return found if found is not None else name

    def _in_class(self, start: Located, name: str) -> Located | None:
        """A base may be named by a nested class beside it, before the module's own names."""
        owner = start.item.qualname.rpartition(".")[0]
        while owner:
            found = self._scope.at(f"{start.module.name}.{owner}.{name}")
            if found is not None and isinstance(found.item, Class):
                return Located(found.module, found.item)
            owner = owner.rpartition(".")[0]
        found = self._scope.resolve(start.module, name)
        # A class that takes the name of its own base: the imported one is meant.
        if found is not None and isinstance(found.item, Class):
            located = Located(found.module, found.item)
            return None if located.path == start.path else located
        return None


def _merge(lines: Sequence[list[Located]]) -> list[Located]:
    """Merge linearisations; where they contradict each other, in the order of first mention."""
    merged: list[Located] = []
    rest = [list(line) for line in lines if line]
    while rest:
        head = next((line[0] for line in rest if not _is_later(line[0], rest)), rest[0][0])
        merged.append(head)
        rest = [[one for one in line if one.path != head.path] for line in rest]
        rest = [line for line in rest if line]
    return merged


def _is_later(one: Located, lines: Sequence[list[Located]]) -> bool:
    return any(one.path == other.path for line in lines for other in line[1:])
