"""Definitions to ApiDocs: one for a function or attribute, several for a class and its members."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from exploracoder_retrieval.apidoc import ApiDoc, ApiKind
from exploracoder_retrieval.harvest import signatures
from exploracoder_retrieval.harvest.decorators import (
    accessor_class,
    given_text,
    is_property,
    registered_names,
)
from exploracoder_retrieval.harvest.docstrings import find_examples, summarise
from exploracoder_retrieval.harvest.fields import data_fields, is_data_class, is_enumeration
from exploracoder_retrieval.harvest.names import Definition, Names
from exploracoder_retrieval.harvest.surface import Published

if TYPE_CHECKING:
    import griffe

_MAX_CLASS_DEPTH = 4


@dataclass(frozen=True, slots=True)
class _Place:
    """Where members are published, and the owner's name as signatures show it."""

    path: str
    shown: str
    depth: int


class Describer:
    """Writes the ApiDocs of one library's published definitions."""

    def __init__(self, library: str, import_name: str, names: Names) -> None:
        self._library = library
        self._import_name = import_name
        self._names = names

    def describe(self, published: Published) -> Iterator[ApiDoc]:
        """The ApiDocs of a definition, its own first, under its best public path."""
        path, *others = published.ordered_paths()
        obj = published.definition.obj
        if obj.is_class:
            yield from self._class(published.definition, path, others, depth=0)
        elif obj.is_function:
            yield self._function(published.definition, path, others, owner=None)
        else:
            yield self._attribute(published.definition, path, others, owner=None)

    def _class(
        self, cls: Definition, path: str, aliases: Sequence[str], *, depth: int
    ) -> Iterator[ApiDoc]:
        name = path.rpartition(".")[2]
        registered = [f".{alias}" for alias in registered_names(cls.obj)]
        doc = _text(cls.obj)
        signature = self._constructor(cls, name)
        if signature.endswith(("(*args, **kwargs)", "()")):
            signature = signatures.signature_in_doc(name, doc) or signature
        yield self._doc(cls, path, "class", signature, doc, [*registered, *aliases])
        yield from self._all_members(cls, _Place(path, name, depth))

    def _all_members(self, cls: Definition, place: _Place) -> Iterator[ApiDoc]:
        members = self._members(cls)
        same = _assigned_twins(members)
        for name, member in members.items():
            if name not in same:
                twins = [f"{place.path}.{twin}" for twin, of in same.items() if of == name]
                yield from self._member(cls, member, name, place, twins)

    def _member(
        self, owner: Definition, member: Definition, name: str, place: _Place, twins: list[str]
    ) -> Iterator[ApiDoc]:
        path = f"{place.path}.{name}"
        if member.obj.is_class:
            if place.depth < _MAX_CLASS_DEPTH and member.path.startswith(owner.path):
                yield from self._class(member, path, twins, depth=place.depth + 1)
        elif member.obj.is_function and not is_property(member.obj):
            yield _owned(place.shown, self._function(member, path, twins, owner=owner))
        elif accessor := accessor_class(member, self._names):
            shown = f"{place.shown}.{name}"
            yield self._doc(accessor, path, "property", shown, _text(accessor.obj), twins)
            if place.depth < _MAX_CLASS_DEPTH:
                yield from self._all_members(accessor, _Place(path, shown, place.depth + 1))
        elif self._is_public_attribute(owner, member):
            yield _owned(place.shown, self._attribute(member, path, twins, owner=owner))

    def _members(self, cls: Definition) -> dict[str, Definition]:
        """Public members by name: its own, and those from the library's other classes.

        Members of another library's base are its business, unless the class itself is a re-export
        of that library and the base is private to it.
        """
        members: dict[str, Definition] = {}
        for base in self._names.mro(cls):
            private = base.library == cls.library and base.obj.name.startswith("_")
            if base.path != cls.path and base.library != self._import_name and not private:
                continue
            for name, member in base.obj.members.items():
                if not name.startswith("_") and not member.is_alias and name not in members:
                    members[name] = Definition(member, f"{base.path}.{name}")  # type: ignore[arg-type]
        return members

    def _is_public_attribute(self, owner: Definition, member: Definition) -> bool:
        obj = member.obj
        if is_property(obj):
            return True
        if obj.docstring or is_enumeration(owner, self._names):
            return obj.is_attribute
        # In ordinary code an annotated name in a class is its own bookkeeping.
        declared = is_data_class(owner, self._names) or not _is_source(obj)
        return declared and getattr(obj, "annotation", None) is not None

    def _constructor(self, cls: Definition, name: str) -> str:
        for base in self._names.mro(cls):
            for maker in ("__init__", "__new__"):
                member = base.obj.members.get(maker)
                if member is not None and not member.is_alias and member.is_function:
                    return signatures.function_signature(name, member, bound=True)  # type: ignore[arg-type]
            fields = data_fields(cls, self._names) if base is cls else ()
            if fields:
                return signatures.class_signature(name, fields)
        return f"{name}()"

    def _function(
        self, function: Definition, path: str, aliases: Sequence[str], *, owner: Definition | None
    ) -> ApiDoc:
        name = path.rpartition(".")[2]
        obj: griffe.Function = function.obj  # type: ignore[assignment]
        doc = self._docstring(function, owner)
        signature = signatures.function_signature(name, obj, bound=owner is not None)
        # Overloads in a stub are written for type checkers; the call in the docstring for people.
        if signatures.is_opaque(obj) or obj.overloads:
            signature = signatures.signature_in_doc(name, doc) or signature
        kind: ApiKind = "method" if owner else "function"
        return self._doc(function, path, kind, signature, doc, aliases)

    def _attribute(
        self, attribute: Definition, path: str, aliases: Sequence[str], *, owner: Definition | None
    ) -> ApiDoc:
        name = path.rpartition(".")[2]
        obj = attribute.obj
        annotation = getattr(obj, "annotation", None) or getattr(obj, "returns", None)
        value = getattr(obj, "value", None)
        signature = f"{name}: {str(annotation).strip(chr(39))}" if annotation else name
        if owner is None and not annotation and value is not None and len(str(value)) <= 60:
            signature = f"{name} = {value}"
        kind: ApiKind = "property" if is_property(obj) else "attribute"
        return self._doc(
            attribute, path, kind, signature, self._docstring(attribute, owner), aliases
        )

    def _docstring(self, definition: Definition, owner: Definition | None) -> str:
        """Its own docstring, one that a decorator gives, or that of what it overrides."""
        text = _text(definition.obj) or given_text(definition, self._names)
        if text or owner is None:
            return text
        for base in self._names.mro(owner)[1:]:
            overridden = base.obj.members.get(definition.obj.name)
            if overridden is not None and not overridden.is_alias and overridden.docstring:
                return _text(overridden)  # type: ignore[arg-type]
        return ""

    def _doc(
        self,
        definition: Definition,
        path: str,
        kind: ApiKind,
        signature: str,
        doc: str,
        aliases: Sequence[str],
    ) -> ApiDoc:
        obj = definition.obj
        readable = _is_source(obj) or _is_stub(obj)
        name = path.rpartition(".")[2]
        return ApiDoc(
            path=path,
            kind=kind,
            library=self._library,
            signature=signatures.clip_signature(signature),
            summary=summarise(signatures.without_signature(name, doc)),
            doc=doc,
            examples=find_examples(doc),
            aliases=tuple(dict.fromkeys(aliases)),
            file=str(obj.filepath) if readable else None,
            line=obj.lineno if readable else None,
        )


def _text(obj: griffe.Object) -> str:
    return obj.docstring.value.strip() if obj.docstring else ""


def _is_source(obj: griffe.Object) -> bool:
    file = obj.filepath
    return not isinstance(file, list) and file.suffix == ".py" and file.is_absolute()


def _is_stub(obj: griffe.Object) -> bool:
    return not isinstance(obj.filepath, list) and obj.filepath.suffix == ".pyi"


def _owned(owner: str, doc: ApiDoc) -> ApiDoc:
    lines = [f"{owner}.{line}" for line in doc.signature.splitlines()]
    return doc.model_copy(update={"signature": "\n".join(lines)})


def _assigned_twins(members: dict[str, Definition]) -> dict[str, str]:
    """Members that are another member under a second name, as after ``agg = aggregate``."""
    twins = {}
    for name, member in members.items():
        target = str(getattr(member.obj, "value", None) or "")
        twin = members.get(target) if member.obj.is_attribute and target != name else None
        if twin is not None and twin.obj.is_function:
            twins[name] = target
    return twins
