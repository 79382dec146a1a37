"""Definitions to ApiDocs: one for a function or attribute, several for a class and its members."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from exploracoder_retrieval.apidoc import ApiDoc, ApiKind
from exploracoder_retrieval.harvest import signatures
from exploracoder_retrieval.harvest.docstrings import find_examples, summarise
from exploracoder_retrieval.harvest.fields import data_fields, is_data_class, is_enumeration
from exploracoder_retrieval.harvest.names import Definition, Names
from exploracoder_retrieval.harvest.surface import Published

if TYPE_CHECKING:
    import griffe

# Decorators that make a method read like an attribute, known by the end of their name.
_PROPERTY_MAKERS = ("property", "cache_readonly", "reify")
_MAX_CLASS_DEPTH = 4


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
        registered = [f".{alias}" for alias in _registered_names(cls.obj)]
        doc = _text(cls.obj)
        signature = self._constructor(cls, name)
        if signature.endswith(("(*args, **kwargs)", "()")):
            signature = signatures.signature_in_doc(name, doc) or signature
        yield self._doc(cls, path, "class", signature, doc, [*registered, *aliases])
        members = self._members(cls)
        same = _assigned_twins(members)
        for member_name, member in members.items():
            if member_name not in same:
                twins = [f"{path}.{twin}" for twin, of in same.items() if of == member_name]
                yield from self._member(cls, member, f"{path}.{member_name}", twins, depth)

    def _member(
        self, owner: Definition, member: Definition, path: str, twins: list[str], depth: int
    ) -> Iterator[ApiDoc]:
        owner_name = path.split(".")[-2]
        if member.obj.is_class:
            if depth < _MAX_CLASS_DEPTH and member.path.startswith(owner.path):
                yield from self._class(member, path, twins, depth=depth + 1)
        elif member.obj.is_function and not _is_property(member.obj):
            doc = self._function(member, path, twins, owner=owner)
            yield doc.model_copy(update={"signature": _owned(owner_name, doc.signature)})
        elif self._is_public_attribute(owner, member):
            doc = self._attribute(member, path, twins, owner=owner)
            yield doc.model_copy(update={"signature": _owned(owner_name, doc.signature)})

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
        if _is_property(obj):
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
        kind: ApiKind = "property" if _is_property(obj) else "attribute"
        return self._doc(
            attribute, path, kind, signature, self._docstring(attribute, owner), aliases
        )

    def _docstring(self, definition: Definition, owner: Definition | None) -> str:
        """Its own docstring, one that a decorator gives, or that of what it overrides."""
        text = _text(definition.obj) or self._decorated_text(definition)
        if text or owner is None:
            return text
        for base in self._names.mro(owner)[1:]:
            overridden = base.obj.members.get(definition.obj.name)
            if overridden is not None and not overridden.is_alias and overridden.docstring:
                return _text(overridden)  # type: ignore[arg-type]
        return ""

    def _decorated_text(self, definition: Definition) -> str:
        """Text from ``@decorator("text")`` or ``@decorator(a_constant_or_documented_thing)``."""
        for decorator in getattr(definition.obj, "decorators", ()):
            argument = _only_argument(decorator.value, first=True)
            if argument is None:
                continue
            literal = _literal(argument)
            if literal is not None and " " in literal:
                return literal.strip()
            meant = self._names.in_scope(definition.obj, argument)
            if meant is None:
                continue
            value = _literal(str(getattr(meant.obj, "value", None) or ""))
            text = (value or "").strip() or (_text(meant.obj) if not meant.obj.is_attribute else "")
            if text:
                return text
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
            signature=signature,
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


def _owned(owner: str, signature: str) -> str:
    return "\n".join(f"{owner}.{line}" for line in signature.splitlines())


def _is_property(obj: griffe.Object) -> bool:
    if "property" in obj.labels:
        return True
    names = [str(decorator.value) for decorator in getattr(obj, "decorators", ())]
    return any(name.endswith(_PROPERTY_MAKERS) for name in names)


def _assigned_twins(members: dict[str, Definition]) -> dict[str, str]:
    """Members that are another member under a second name, as after ``agg = aggregate``."""
    twins = {}
    for name, member in members.items():
        target = str(getattr(member.obj, "value", None) or "")
        if member.obj.is_attribute and target != name and target in members:
            if members[target].obj.is_function:
                twins[name] = target
    return twins


def _registered_names(cls: griffe.Object) -> Iterator[str]:
    """Names that a class decorator registers: its one argument is a string that is an identifier."""
    for decorator in getattr(cls, "decorators", ()):
        argument = _only_argument(decorator.value, first=False)
        name = _literal(argument) if argument else None
        if name and name.isidentifier() and not name.startswith("_"):
            yield name


def _only_argument(decorator: object, *, first: bool) -> str | None:
    """Source text of a decorator call's single positional argument (or its first of several)."""
    arguments = getattr(decorator, "arguments", None)
    if not arguments or (len(arguments) > 1 and not first):
        return None
    text = str(arguments[0])
    return None if text.startswith("*") or type(arguments[0]).__name__ == "ExprKeyword" else text


def _literal(source: str) -> str | None:
    try:
        value = ast.literal_eval(source)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None
    return value if isinstance(value, str) else None
