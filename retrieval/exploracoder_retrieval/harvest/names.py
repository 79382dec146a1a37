"""What a dotted name stands for, followed through imports, wildcards, stubs and assignments."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from exploracoder_retrieval.harvest.modules import is_published
from exploracoder_retrieval.harvest.stubs import fill
from exploracoder_retrieval.harvest.trees import EXTRA, ModuleTree, ModuleTrees

if TYPE_CHECKING:
    import griffe

_DOTTED = re.compile(r"^[^\W\d]\w*(\.[^\W\d]\w*)*$")
_MAX_BASES = 64


@dataclass(frozen=True, slots=True)
class Definition:
    """A function, class or attribute where it is defined; ``path`` is its one true name."""

    obj: griffe.Object
    path: str

    @property
    def library(self) -> str:
        """The top-level package that defines it."""
        return self.path.split(".", 1)[0]


class Names:
    """Resolves names over module trees; every method answers None instead of failing."""

    def __init__(self, trees: ModuleTrees) -> None:
        self._trees = trees
        self._filled: set[tuple[str, str]] = set()

    def resolve(self, path: str, seen: frozenset[str] = frozenset()) -> Definition | None:
        """The definition behind an absolute dotted path; None for modules and unknown names.

        ``seen`` holds the paths already being followed: imports may run in a circle.
        """
        parent, _, name = path.rpartition(".")
        if not parent or path in seen:
            return None
        seen = seen | {path}
        if self._trees.is_module(parent):
            return self.member(parent, name, seen)
        owner = self.resolve(parent, seen)
        if owner is None or not owner.obj.is_class:
            return None
        return self.class_member(owner, name)

    def member(
        self, module: str, name: str, seen: frozenset[str] = frozenset(), *, listed: bool = True
    ) -> Definition | None:
        """What a name means in a module's scope.

        ``listed``: a wildcard import brings only what the other module lists or does not hide.
        """
        tree = self._trees.read(module)
        if tree is None:
            return None
        found = self._in_syntax(tree.code, name, seen, listed=listed)
        if tree.stub is None or tree.stub is tree.code or name not in tree.stub.members:
            return found
        stub = self._in_syntax(tree.stub, name, seen, listed=True)
        if found is None and stub is not None and not stub.obj.docstring:
            # The stub vouches for a name that a list made at run time hides from us.
            found = self._from_wildcards(tree.code, name, seen, listed=False)
            found = found or self._implementation(tree, name)
        return self._joined(found, stub)

    def class_member(self, owner: Definition, name: str) -> Definition | None:
        """A class's own or inherited member."""
        for base in self.mro(owner):
            member = base.obj.members.get(name)
            if member is not None and not member.is_alias:
                return Definition(member, f"{base.path}.{name}")  # type: ignore[arg-type]
        return None

    def in_scope(self, obj: griffe.Object, dotted: str) -> Definition | None:
        """What dotted source text, such as a base class, means where an object is written."""
        if not _DOTTED.match(dotted):
            return None
        first, _, rest = dotted.partition(".")
        module = obj.module.path
        if rest:
            tree = self._trees.read(module)
            alias = tree.code.members.get(first) if tree else None
            if alias is not None and alias.is_alias:
                return self.resolve(f"{alias.target_path}.{rest}")  # type: ignore[union-attr]
            return self.resolve(f"{module}.{dotted}")
        return self.member(module, first)

    def mro(self, cls: Definition) -> list[Definition]:
        """The class and its bases in the order in which Python looks at them, as far as they can be
        read."""
        from griffe import c3linear_merge

        found: dict[str, Definition] = {}
        orders: dict[str, list[str]] = {}

        def order_of(current: Definition, below: tuple[str, ...]) -> list[str]:
            path = current.path
            if path not in orders:
                found[path] = current
                below = (*below, path)
                is_deep = len(below) >= _MAX_BASES
                bases = [] if is_deep else [b for b in self._bases(current) if b.path not in below]
                heads = [base.path for base in bases]
                orders[path] = [path, *c3linear_merge(*(order_of(b, below) for b in bases), heads)]
            return orders[path]

        try:
            order = order_of(cls, ())
        except ValueError:  # no order that Python would take
            order = list(found)
        return [found[path] for path in order[:_MAX_BASES]]

    def _bases(self, cls: Definition) -> list[Definition]:
        names = (str(base).split("[", 1)[0] for base in getattr(cls.obj, "bases", ()))
        found = (self.in_scope(cls.obj, name) for name in names)
        bases = (base for base in found if base is not None and base.obj.is_class)
        return list({base.path: base for base in bases}.values())

    def exports(self, module: str, seen: frozenset[str] = frozenset()) -> list[str] | None:
        """The names in ``__all__``, other modules' lists expanded; None where it cannot be told."""
        tree = self._trees.read(module)
        if tree is None or module in seen:
            return None
        listed = tree.code.exports or (tree.stub.exports if tree.stub else None)
        names: list[str] = []
        for item in listed or ():
            if isinstance(item, str):
                names.append(item)
            else:
                names += self._other_exports(tree, _owner_of(item), seen | {module})
        return list(dict.fromkeys(names)) or None

    def wildcard_names(self, module: str, seen: frozenset[str] = frozenset()) -> list[str]:
        """What ``from module import *`` brings."""
        exported = self.exports(module)
        if exported is not None:
            return exported
        tree = self._trees.read(module)
        if tree is None or module in seen:
            return []
        names: dict[str, None] = {}
        for name in tree.code.members:
            if "/" in name:
                source = _wildcard_source(name)
                names |= dict.fromkeys(self.wildcard_names(source, seen | {module}))
            elif not name.startswith("_"):
                names[name] = None
        return list(names)

    def _in_syntax(
        self, syntax: griffe.Module, name: str, seen: frozenset[str], *, listed: bool
    ) -> Definition | None:
        member = syntax.members.get(name)
        if member is None:
            return self._from_wildcards(syntax, name, seen, listed=listed)
        if member.is_alias:
            return self.resolve(member.target_path, seen)  # type: ignore[union-attr]
        definition = Definition(member, f"{syntax.path}.{name}")  # type: ignore[arg-type]
        return self._assigned(definition, seen) or definition

    def _from_wildcards(
        self, syntax: griffe.Module, name: str, seen: frozenset[str], *, listed: bool
    ) -> Definition | None:
        for member in list(syntax.members):
            source = _wildcard_source(member)
            path = f"{source}.{name}"
            if "/" not in member or path in seen:
                continue
            if listed and name not in self.wildcard_names(source):
                continue
            if found := self.member(source, name, seen | {path}, listed=listed):
                return found
        return None

    def _assigned(self, definition: Definition, seen: frozenset[str]) -> Definition | None:
        """What ``Public = _private`` stands for, when that is a function or a class."""
        value = getattr(definition.obj, "value", None)
        if not definition.obj.is_attribute or value is None or definition.path in seen:
            return None
        text = str(value)
        if not _DOTTED.match(text) or text == definition.obj.name:
            return None
        module = definition.obj.module.path
        found = (
            self.member(module, text, seen | {definition.path})
            if "." not in text
            else self.in_scope(definition.obj, text)
        )
        return found if found and (found.obj.is_function or found.obj.is_class) else None

    def _implementation(self, tree: ModuleTree, name: str) -> Definition | None:
        """Where a package defines a name that its ``__init__`` fetches only on demand."""
        if "__getattr__" not in tree.code.members:
            return None
        for module in self._trees.finder.submodules(tree.name):
            if not is_published(module.replace("._", ".")):
                continue
            inner = self._trees.read(module)
            member = inner.code.members.get(name) if inner else None
            if member is not None and not member.is_alias and member.docstring:
                return Definition(member, f"{module}.{name}")  # type: ignore[arg-type]
        return None

    def _joined(self, found: Definition | None, stub: Definition | None) -> Definition | None:
        if found is None or stub is None:
            return found or stub
        if found.obj is not stub.obj and (found.path, stub.path) not in self._filled:
            self._filled.add((found.path, stub.path))
            fill(found.obj, stub.obj)
        # A plain assignment in the source may be a documented class in the stub.
        return stub if found.obj.is_attribute and not stub.obj.is_attribute else found

    def _other_exports(self, tree: ModuleTree, owner: str, seen: frozenset[str]) -> list[str]:
        first, _, rest = owner.partition(".")
        alias = tree.code.members.get(first)
        if alias is not None and alias.is_alias:
            module = alias.target_path  # type: ignore[union-attr]
        else:
            module = f"{tree.name}.{first}"
        return self.exports(f"{module}.{rest}" if rest else module, seen) or []


def explicit_imports(syntax: griffe.Module) -> frozenset[str]:
    """Names that a module imports ``as`` themselves, which in a stub publishes them."""
    return frozenset(syntax.extra[EXTRA].get("explicit", ()))


def _owner_of(item: griffe.ExprName) -> str:
    """``a.b`` of ``a.b.__all__``, whose expression knows its left side as its parent."""
    parts: list[str] = []
    parent = item.parent
    while isinstance(parent, type(item)):
        parts.insert(0, parent.name)
        parent = parent.parent
    return ".".join(parts)


def _wildcard_source(member: str) -> str:
    return member.removesuffix("/*").replace("/", ".")
