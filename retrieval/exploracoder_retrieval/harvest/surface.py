"""Which names a library publishes, and under which path each thing is best known."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from exploracoder_retrieval.harvest.modules import is_published
from exploracoder_retrieval.harvest.names import Definition, Names, explicit_imports
from exploracoder_retrieval.harvest.trees import ModuleTree, ModuleTrees

# What these make is for type checkers and logs, not for calling.
_NO_API = ("TypeVar(", "ParamSpec(", "TypeVarTuple(", "NewType(", "getLogger(")


@dataclass(slots=True)
class Published:
    """One definition and the public paths that lead to it; ``declared``: a list or stub says so."""

    definition: Definition
    paths: dict[str, bool] = field(default_factory=dict)

    def ordered_paths(self) -> list[str]:
        """The paths, the one to import it by first: the shortest, declared before accidental."""
        return sorted(self.paths, key=lambda path: (path.count("."), not self.paths[path], path))


class Surface:
    """Walks a library's public modules and collects what they publish."""

    def __init__(self, trees: ModuleTrees, names: Names) -> None:
        self._trees = trees
        self._names = names

    def collect(self, import_name: str) -> list[Published]:
        """Every published definition once, in the order of its best path."""
        found: dict[str, Published] = {}
        for module in self.modules(import_name):
            for name, declared in self._public_names(module):
                definition = self._names.member(module, name)
                if definition is None or not _is_api(definition):
                    continue
                entry = found.setdefault(definition.path, Published(definition))
                entry.paths[f"{module}.{name}"] = declared
        return sorted(found.values(), key=lambda entry: entry.ordered_paths()[0])

    def modules(self, name: str) -> Iterator[str]:
        """The public modules of a package, itself first."""
        yield name
        listed = set(self._names.exports(name) or ())
        children = [child for child in self._trees.finder.submodules(name) if is_published(child)]
        # A package that lists some of its modules has said that the others are its own business,
        # unless one of those publishes a list of its own.
        selective = any(child.rpartition(".")[2] in listed for child in children)
        for child in children:
            if selective and child.rpartition(".")[2] not in listed and not self._lists(child):
                continue
            yield from self.modules(child)

    def _lists(self, module: str) -> bool:
        return self._names.exports(module) is not None

    def _public_names(self, module: str) -> Iterator[tuple[str, bool]]:
        tree = self._trees.read(module)
        if tree is None:
            return
        exported = self._names.exports(module)
        if exported is not None:
            yield from ((name, True) for name in exported if not name.startswith("_"))
        if tree.stub is not None:
            listed = set(exported or ())
            yield from ((name, True) for name in self._declared(tree) if name not in listed)
        if exported is not None or tree.stub is not None:
            return
        for name in self._names.wildcard_names(module):
            member = tree.code.members.get(name)
            if member is not None and not member.is_alias:
                yield name, False
            elif self._is_reexport(tree, name):
                yield name, True

    def _declared(self, tree: ModuleTree) -> Iterator[str]:
        """What a stub publishes by itself; where it has a list of its own, that counts."""
        assert tree.stub is not None
        if tree.stub.exports:
            return
        explicit = explicit_imports(tree.stub)
        for name, member in tree.stub.members.items():
            if (
                not name.startswith("_")
                and "/" not in name
                and (not member.is_alias or name in explicit)
            ):
                yield name

    def _is_reexport(self, tree: ModuleTree, name: str) -> bool:
        """Whether a package's ``__init__`` brings in something of its own library."""
        if tree.files is None or not tree.files.is_package:
            return False
        member = tree.code.members.get(name)
        if member is not None and not getattr(member, "runtime", True):
            return False
        definition = self._names.member(tree.name, name)
        return definition is not None and definition.library == self._trees.library


def _is_api(definition: Definition) -> bool:
    obj = definition.obj
    if obj.is_attribute:
        value = str(getattr(obj, "value", None) or "")
        return not any(maker in value for maker in _NO_API)
    return obj.is_function or obj.is_class
