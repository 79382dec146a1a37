"""Turns APIs into ApiDocs: one for a function or attribute, several for a class and its members."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from exploracoder_retrieval.apidoc import ApiDoc, ApiKind
from exploracoder_retrieval.facts.dataclass_fields import generated_init, has_fields
from exploracoder_retrieval.facts.fact_types import Class, Function, Variable
from exploracoder_retrieval.facts.kinds import is_property
from exploracoder_retrieval.facts.parameters import is_opaque
from exploracoder_retrieval.harvest import signatures
from exploracoder_retrieval.harvest.decorators import (
    accessor_class,
    deprecation,
    given_text,
    registered_names,
)
from exploracoder_retrieval.harvest.docstrings import find_examples, summarise
from exploracoder_retrieval.harvest.notes import Notes, is_enumeration
from exploracoder_retrieval.harvest.public_names import Api, Names
from exploracoder_retrieval.harvest.surface import PublishedApi, is_api

_MAX_CLASS_DEPTH = 4


@dataclass(frozen=True, slots=True)
class _Place:
    """Where members are published, and the owner's name as shown in signatures."""

    path: str
    owner_name: str
    depth: int


class Describer:
    """Writes the ApiDocs of one library's published APIs."""

    def __init__(self, library: str, names: Names) -> None:
        self._library = library
        self._names = names
        self._notes = Notes(names)

    def describe(self, entry: PublishedApi) -> Iterator[ApiDoc]:
        """The ApiDocs of an API under its best public path, its own first."""
        path, *others = entry.ordered_paths()
        api = entry.api
        if isinstance(api.item, Class):
            yield from self._class(api, path, others, depth=0)
        elif isinstance(api.item, Function):
            yield self._function(api, path, others, owner=None)
        else:
            yield self._attribute(api, path, others, owner=None)

    def _class(
        self, cls: Api, path: str, aliases: Sequence[str], *, depth: int
    ) -> Iterator[ApiDoc]:
        assert isinstance(cls.item, Class)
        name = path.rpartition(".")[2]
        registered_aliases = [f".{alias}" for alias in registered_names(cls.item)]
        doc = cls.item.doc.strip()
        maker, signature = self._constructor(cls, name)
        if signature.endswith(("(*args, **kwargs)", "()")):
            signature = signatures.signature_in_doc(name, doc) or signature
        notes = self._notes.of_class(cls, self._own_bases(cls), maker)
        yield self._doc(cls, path, "class", signature, doc, [*registered_aliases, *aliases], notes)
        yield from self._all_members(cls, _Place(path, name, depth))

    def _all_members(self, cls: Api, place: _Place) -> Iterator[ApiDoc]:
        members = self._members(cls)
        same = _assigned_twins(members)
        for name, member in members.items():
            if name not in same:
                twins = [f"{place.path}.{twin}" for twin, of in same.items() if of == name]
                yield from self._member(cls, member, name, place, twins)

    def _member(
        self, owner: Api, member: Api, name: str, place: _Place, twins: list[str]
    ) -> Iterator[ApiDoc]:
        path = f"{place.path}.{name}"
        if isinstance(member.item, Class):
            if place.depth < _MAX_CLASS_DEPTH and member.path.startswith(owner.path):
                yield from self._class(member, path, twins, depth=place.depth + 1)
        elif isinstance(member.item, Function) and not is_property(member.item):
            yield _owned(place.owner_name, self._function(member, path, twins, owner=owner))
        elif accessor := accessor_class(member, self._names):
            shown_name = f"{place.owner_name}.{name}"
            yield self._doc(
                accessor, path, "property", shown_name, accessor.item.doc.strip(), twins
            )
            if place.depth < _MAX_CLASS_DEPTH:
                yield from self._all_members(accessor, _Place(path, shown_name, place.depth + 1))
        elif self._is_public_attribute(owner, member):
            yield _owned(place.owner_name, self._attribute(member, path, twins, owner=owner))

    def _own_bases(self, cls: Api) -> Iterator[Api]:
        """A class and its bases within the library.

        Members of another library's base belong to that library, unless the class itself is
        re-exported from it and the base is private there.
        """
        for base in self._names.bases(cls):
            private = base.library == cls.library and base.item.name.startswith("_")
            if base.path == cls.path or self._names.sources.owns(base.path) or private:
                yield base

    def _members(self, cls: Api) -> dict[str, Api]:
        """Public members by name, each from the class where Python would find it."""
        members: dict[str, Api] = {}
        for base in self._own_bases(cls):
            for name, member in self._names.own_members(base).items():
                if not name.startswith("_"):
                    members.setdefault(name, member)
        return members

    def _is_public_attribute(self, owner: Api, member: Api) -> bool:
        item = member.item
        if is_property(item) or item.doc or is_enumeration(owner, self._names):
            return True
        if isinstance(item, Variable) and item.value is not None and item.name.isupper():
            # Every subclass has it, too: it is said once, where it is defined.
            return member.path.startswith(f"{owner.path}.") and is_api(member)
        # In an ordinary class, any other annotated name is internal bookkeeping.
        has_type = isinstance(item, Variable) and item.annotation is not None
        return has_type and (self._is_data_class(owner) or not self._is_source(member))

    def _is_data_class(self, cls: Api) -> bool:
        lineage = self._names.lineage(cls)
        return any(has_fields(each, lineage) for each in lineage.classes)

    def _constructor(self, cls: Api, name: str) -> tuple[Api | None, str]:
        """The method that takes a class's arguments, unless generated, and the call's signature."""
        lineage = self._names.lineage(cls)
        for number, base in enumerate(self._names.bases(cls)):
            members = self._names.own_members(base)
            for maker in (members.get("__init__"), members.get("__new__")):
                if maker is not None and isinstance(maker.item, Function):
                    return maker, signatures.function_signature(
                        name, maker.item, maker.overloads, bound=True
                    )
            fields = generated_init(lineage.of_base(number))
            if fields:
                return None, signatures.class_signature(name, fields)
        return None, f"{name}(*args, **kwargs)" if lineage.unknown else f"{name}()"

    def _function(
        self, function: Api, path: str, aliases: Sequence[str], *, owner: Api | None
    ) -> ApiDoc:
        assert isinstance(function.item, Function)
        name = path.rpartition(".")[2]
        doc = self._docstring(function, owner)
        signature = signatures.function_signature(
            name, function.item, function.overloads, bound=owner is not None
        )
        # Overloads are written for type checkers, the call in the docstring for people.
        if is_opaque(function.item) or function.overloads:
            signature = signatures.signature_in_doc(name, doc) or signature
        kind: ApiKind = "method" if owner else "function"
        notes = self._notes.of_function(function, owner)
        return self._doc(function, path, kind, signature, doc, aliases, notes)

    def _attribute(
        self, attribute: Api, path: str, aliases: Sequence[str], *, owner: Api | None
    ) -> ApiDoc:
        name = path.rpartition(".")[2]
        item = attribute.item
        value = item.value if isinstance(item, Variable) else None
        annotation = signatures.attribute_type(item)
        signature = f"{name}: {annotation}" if annotation else name
        is_constant = owner is None or item.name.isupper()
        if is_constant and not annotation and value is not None and len(value) <= 60:
            signature = f"{name} = {value}"
        kind: ApiKind = "property" if is_property(item) else "attribute"
        doc = self._docstring(attribute, owner)
        return self._doc(attribute, path, kind, signature, doc, aliases)

    def _docstring(self, api: Api, owner: Api | None) -> str:
        """Its own docstring, one from a decorator, or that of the member it overrides."""
        text = api.item.doc.strip() or given_text(api, self._names)
        if text or owner is None:
            return text
        for base in self._names.bases(owner)[1:]:
            overridden = self._names.own_members(base).get(api.item.name)
            if overridden is not None and overridden.item.doc:
                return overridden.item.doc.strip()
        return ""

    def _doc(
        self,
        api: Api,
        path: str,
        kind: ApiKind,
        signature: str,
        doc: str,
        aliases: Sequence[str],
        notes: Iterable[str] = (),
    ) -> ApiDoc:
        name = path.rpartition(".")[2]
        file = self._names.sources.path(api.module.name, is_stub=api.module.is_stub)
        decorators: tuple[str, ...] = getattr(api.item, "decorators", ())
        return ApiDoc(
            path=path,
            kind=kind,
            library=self._library,
            signature=signatures.clip_signature(signature),
            summary=summarise(signatures.without_signature(name, doc)),
            doc=doc,
            examples=find_examples(doc),
            aliases=tuple(dict.fromkeys(aliases)),
            notes=tuple(dict.fromkeys([*deprecation(decorators), *notes])),
            file=str(file) if file else None,
            line=api.item.line if file else None,
        )

    def _is_source(self, api: Api) -> bool:
        file = self._names.sources.path(api.module.name, is_stub=api.module.is_stub)
        return file is not None and file.suffix == ".py"


def _owned(owner: str, doc: ApiDoc) -> ApiDoc:
    lines = [f"{owner}.{line}" for line in doc.signature.splitlines()]
    return doc.model_copy(update={"signature": "\n".join(lines)})


def _assigned_twins(members: dict[str, Api]) -> dict[str, str]:
    """Members that are another member's second name, as after ``agg = aggregate``."""
    twins = {}
    for name, member in members.items():
        target = (member.item.value or "") if isinstance(member.item, Variable) else ""
        twin = members.get(target) if target != name else None
        if twin is not None and isinstance(twin.item, Function):
            twins[name] = target
    return twins
