"""A class's members, its own and those that it inherits, each once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from exploracoder_retrieval.facts.dataclass_fields import has_fields
from exploracoder_retrieval.facts.fact_types import Class, Function, Variable
from exploracoder_retrieval.facts.kinds import (
    function_kind,
    functions_of,
    implementation,
    is_overload,
    joined,
    last_name,
    variables_of,
)
from exploracoder_retrieval.facts.lineage import Lineage, LocatedClass
from exploracoder_retrieval.facts.parameters import signature_text
from exploracoder_retrieval.repotools.tool_answers import MemberInfo, MemberKind

_NOT_SHOWN = frozenset({"__slots__", "__all__", "__doc__", "__module__", "__match_args__"})
_SUMMARY_CHARS = 160
_VALUE_CHARS = 200


def members(lineage: Lineage) -> tuple[MemberInfo, ...]:
    """All members along a lineage. Each name belongs to the class where Python would find it.

    An instance attribute belongs to the base class that sets it: a subclass that sets or annotates
    it again only refines its type.
    """
    by_name: dict[str, MemberInfo] = {}
    bare_members: dict[str, MemberInfo] = {}
    for number, cls in enumerate(lineage.classes):
        is_field = has_fields(cls, lineage.of_base(number))
        for member, is_bare in own_members(cls, is_field=is_field):
            entry = by_name.get(member.name)
            if is_bare:
                bare_members.setdefault(member.name, member)
            elif entry is None:
                by_name[member.name] = member
            elif entry.kind == member.kind == "instance_var":
                by_name[member.name] = _refined(member, entry)
    for name, member in bare_members.items():
        entry = by_name.get(name)
        if entry is None:
            by_name[name] = member
        elif entry.kind == "instance_var":
            by_name[name] = _refined(entry, member)
    return tuple(by_name.values())


def _refined(member: MemberInfo, child: MemberInfo) -> MemberInfo:
    annotation = child.annotation or member.annotation
    return member.model_copy(update={"annotation": annotation})


def own_members(cls: LocatedClass, *, is_field: bool) -> Iterator[tuple[MemberInfo, bool]]:
    """The members that a class itself defines, each with whether it is only an annotation."""
    item = cls.item
    seen_names: set[str] = set()
    for name in dict.fromkeys(one.name for one in item.functions):
        seen_names.add(name)
        yield _of_functions(cls.path, functions_of(item, name)), False
    for inner in item.classes:
        seen_names.add(inner.name)
        yield _of_class(cls.path, inner), False
    for name, variables in variables_of(item).items():
        if name not in seen_names and name not in _NOT_SHOWN:
            yield _of_variables(cls, variables, is_field)


def _of_functions(path: str, functions: Sequence[Function]) -> MemberInfo:
    overloads = [one for one in functions if is_overload(one)]
    main = implementation(functions)
    kind = function_kind(main.decorators or functions[0].decorators)
    is_value = kind in ("property", "cached_property")
    return MemberInfo(
        name=main.name,
        kind=kind,
        defined_in=path,
        line=main.line,
        annotation=main.returns if is_value else None,
        is_async=main.is_async,
        settable=any(one.endswith(".setter") for f in functions for one in f.decorators),
        is_abstract=any("abstract" in one for one in main.decorators),
        params=None if is_value else tuple(one.name for one in main.parameters),
        signature=None if is_value else signature_text(main),
        overloads=tuple(signature_text(one) for one in overloads),
        decorators=main.decorators,
        summary=_summary(main.doc),
    )


def _of_class(path: str, inner: Class) -> MemberInfo:
    summary = _summary(inner.doc)
    return MemberInfo(
        name=inner.name, kind="class", defined_in=path, line=inner.line, summary=summary
    )


def _of_variables(
    cls: LocatedClass, variables: Sequence[Variable], is_field: bool
) -> tuple[MemberInfo, bool]:
    main = joined(variables)
    callable_ = _from_value(cls, main)
    if callable_ is not None:
        return callable_, False
    kind = _kind(variables, main, is_field)
    is_bare = kind == "instance_var" and all(one.place == "body" for one in variables)
    member = MemberInfo(
        name=main.name,
        kind=kind,
        defined_in=cls.path,
        line=main.line,
        annotation=main.annotation,
        default=_clipped(main.value, _VALUE_CHARS) if main.place == "body" else None,
    )
    return member, is_bare


def _kind(variables: Sequence[Variable], main: Variable, is_field: bool) -> MemberKind:
    if main.place != "body":
        is_class = any(one.place == "class" for one in variables)
        return "class_var" if is_class else "instance_var"
    if main.annotation is None:
        return "class_var"
    head = last_name(main.annotation.strip("'\""))
    if head == "ClassVar":
        return "class_var"
    if is_field:
        return "initvar" if head == "InitVar" else "field"
    return "instance_var" if main.value is None else "class_var"


def _from_value(cls: LocatedClass, variable: Variable) -> MemberInfo | None:
    """The member made by ``name = property(…)``, ``partialmethod(…)`` or ``other = method``."""
    head = last_name((variable.value or "").partition("(")[0])
    kind: MemberKind | None = None
    if head in ("property", "partialmethod", "staticmethod", "classmethod", "cached_property"):
        kind = "method" if head == "partialmethod" else function_kind((head,))
    target = (variable.value or "").partition("(")[2].partition(",")[0].rstrip(")")
    functions = functions_of(cls.item, variable.alias or target)
    if kind is None and not (functions and variable.alias):
        if not (variable.value or "").startswith("lambda"):
            return None
        kind = "method"
    member = _of_functions(cls.path, functions) if functions else None
    shape: dict[str, object] = {
        "name": variable.name,
        "line": variable.line,
        "default": _clipped(variable.value, _VALUE_CHARS),
    }
    if member is not None and kind not in ("property", "cached_property"):
        shape |= {
            "kind": kind or member.kind,
            "signature": signature_text(functions[-1], variable.name),
        }
        return member.model_copy(update=shape)
    return MemberInfo.model_validate(
        shape | {"kind": kind, "defined_in": cls.path, "settable": "," in (variable.value or "")}
    )


def _summary(doc: str) -> str:
    return _clipped(" ".join(doc.strip().split("\n\n")[0].split()), _SUMMARY_CHARS) or ""


def _clipped(text: str | None, most: int) -> str | None:
    return text if text is None or len(text) <= most else text[:most] + " …"
