"""What source says about an API beyond its docstring: attributes, choices, exceptions, results."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Sequence

from exploracoder_retrieval.facts.dataclass_fields import has_fields, init_fields
from exploracoder_retrieval.facts.fact_types import Class, Function, Variable
from exploracoder_retrieval.facts.function_bodies import strings_in
from exploracoder_retrieval.facts.kinds import is_property, joined, last_name, variables_of
from exploracoder_retrieval.facts.parameters import parse_expression
from exploracoder_retrieval.harvest.public_names import Api, Names
from exploracoder_retrieval.harvest.signatures import attribute_type, unquoted

MAX_NOTE_CHARS = 300
# The statements that a class supports, by the method that each of them calls.
_STATEMENTS = {"__enter__": "with", "__aenter__": "async with", "__aiter__": "async for"}
_ENUMERATIONS = frozenset({"Enum", "IntEnum", "StrEnum", "Flag", "IntFlag"})
_NAME = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*")


class Notes:
    """Writes notes on one library's APIs; none is longer than `MAX_NOTE_CHARS`."""

    def __init__(self, names: Names) -> None:
        self._names = names
        self._results: dict[str, list[str]] = {}  # notes on a class, by its path

    def of_class(self, cls: Api, bases: Iterable[Api], maker: Api | None) -> Iterator[str]:
        """An enumeration's members or the instances' attributes, and notes on the constructor."""
        if problem := self._names.lineage(cls).problem:
            yield f"Python does not make this class: {problem}"
        if is_enumeration(cls, self._names):
            yield from _listed("Members", self._members(cls))
        else:
            all_bases = tuple(bases)
            yield from _listed("Attributes", self._attributes(all_bases, maker))
            yield from _listed("Use with", self._statements(all_bases))
        if maker is not None:
            yield from self._calls(maker)

    def of_function(self, function: Api, owner: Api | None) -> Iterator[str]:
        """Its parameters' choices, what it raises, and what its result has unless that is owner."""
        yield from self._calls(function)
        returns = function.item.returns if isinstance(function.item, Function) else None
        for name in _NAME.findall(unquoted(returns)):
            result = self._names.annotated(function, name)
            is_owner = owner is not None and result is not None and result.path == owner.path
            if result is not None and isinstance(result.item, Class) and not is_owner:
                if result.path not in self._results:
                    note = _listed(f"{result.item.name} has", self._result(result))
                    self._results[result.path] = list(note)
                yield from self._results[result.path]

    def _calls(self, function: Api) -> Iterator[str]:
        if not isinstance(function.item, Function):
            return
        for parameter in function.item.parameters:
            annotation = parameter.annotation or ""
            choices = function.item.choices.get(parameter.name, ())
            if "Literal" not in annotation:
                choices = choices or self._choices(function, annotation)
                yield from _listed(f"{parameter.name} is one of", map(repr, choices))
        yield from _listed("Raises", function.item.raises)

    def _choices(self, api: Api, annotation: str) -> tuple[str, ...]:
        """The strings of a ``Literal`` that an annotation names."""
        for name in _NAME.findall(annotation):
            alias = self._names.annotated(api, name)
            value = alias.item.value if alias and isinstance(alias.item, Variable) else None
            if value and last_name(value) == "Literal":
                return _strings(value)
        return ()

    def _members(self, cls: Api) -> Iterator[str]:
        for name, member in self._names.own_members(cls).items():
            if isinstance(member.item, Variable) and not name.startswith("_"):
                yield f"{name} = {member.item.value}"

    def _statements(self, bases: Sequence[Api]) -> Iterator[str]:
        members: dict[str, Api] = {}
        for base in bases:
            members = dict(self._names.own_members(base)) | members
        if "__aenter__" in members and _raises(members.get("__enter__")):
            # It says to use `async with`.
            del members["__enter__"]
        yield from (text for method, text in _STATEMENTS.items() if method in members)

    def _attributes(self, bases: Iterable[Api], maker: Api | None) -> Iterator[str]:
        """Attributes with their types; an untyped one has the type of the parameter of its name."""
        parameters = maker.item.parameters if maker and isinstance(maker.item, Function) else ()
        types = {each.name: unquoted(each.annotation) for each in parameters}
        attributes: dict[str, str] = {}
        methods: set[str] = set()
        for base in bases:
            for name, member in self._names.own_members(base).items():
                if is_property(member.item) or getattr(member.item, "annotation", None):
                    attributes.setdefault(name, attribute_type(member.item))
                else:
                    methods.add(name)
            variables_by_name = variables_of(base.item) if isinstance(base.item, Class) else {}
            for name, variables in variables_by_name.items():
                if any(each.place in ("instance", "slots") for each in variables):
                    attributes.setdefault(
                        name, attribute_type(joined(variables)) or types.get(name, "")
                    )
        for name, kind in attributes.items():
            if not name.startswith("_") and name not in methods:
                yield f"{name}: {kind}" if kind else name

    def _result(self, cls: Api) -> Iterator[str]:
        """The fields of a data class, or the attributes of another class of this library."""
        lineage = self._names.lineage(cls, is_annotated=True)
        fields = init_fields(lineage) if has_fields(lineage.classes[0], lineage) else None
        if fields:
            for name, parameter in fields.items():
                kind = unquoted(parameter.annotation)
                yield f"{name}: {kind}" if kind else name
        elif self._names.sources.owns(cls.path):
            yield from self._attributes(self._names.bases(cls), None)


def is_enumeration(cls: Api, names: Names) -> bool:
    """Whether a class is an Enum, as far as its bases are known."""
    return not _ENUMERATIONS.isdisjoint(names.lineage(cls).base_names)


def _raises(method: Api | None) -> bool:
    return method is not None and isinstance(method.item, Function) and bool(method.item.raises)


def _listed(title: str, items: Iterable[str]) -> Iterator[str]:
    """``title: a, b`` with as many whole items as there is room for; nothing without items."""
    note = ""
    for item in items:
        if len(title) + len(note) + len(item) > MAX_NOTE_CHARS:
            note += ", …" if note else ""
            break
        note += f", {item}" if note else f"{title}: {item}"
    if note:
        yield note


def _strings(literal: str) -> tuple[str, ...]:
    node = parse_expression(literal)
    if not isinstance(node, ast.Subscript):
        return ()
    elements = node.slice if isinstance(node.slice, ast.Tuple) else ast.Tuple(elts=[node.slice])
    return tuple(strings_in(elements))
