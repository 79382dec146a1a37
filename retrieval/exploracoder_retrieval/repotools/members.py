"""What a class offers: its own members and those that it inherits, each once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from exploracoder_retrieval.repotools.answers import MemberInfo, MemberKind
from exploracoder_retrieval.repotools.facts import Class, Function, Variable
from exploracoder_retrieval.repotools.lineage import Lineage, Located
from exploracoder_retrieval.repotools.parameters import signature_text
from exploracoder_retrieval.repotools.reading import functions_of

_DATACLASS_DECORATORS = frozenset(
    {
        "dataclass",
        "pydantic_dataclass",
        "define",
        "frozen",
        "mutable",
        "attrs",
        "s",
        "dataclass_json",
    }
)
# Their subclasses' annotated names are fields, with no decorator.
_FIELD_BASES = frozenset({"NamedTuple", "TypedDict", "BaseModel", "Struct", "BaseSettings"})
_NOT_SHOWN = frozenset({"__slots__", "__all__", "__doc__", "__module__", "__match_args__"})
_SUMMARY_CHARS = 160


def members(lineage: Lineage) -> tuple[MemberInfo, ...]:
    """All members along a lineage. A name counts where Python would find it.

    An attribute of instances counts where it comes from: where a base class sets it, a class that
    sets or annotates it again only says more of its type.
    """
    found: dict[str, MemberInfo] = {}
    annotated: dict[str, MemberInfo] = {}
    for number, located in enumerate(lineage.classes):
        is_field = has_fields(located, Lineage(lineage.classes[number:], lineage.unknown))
        for member, is_bare in own_members(located, is_field=is_field):
            known = found.get(member.name)
            if is_bare:
                annotated.setdefault(member.name, member)
            elif known is None:
                found[member.name] = member
            elif known.kind == member.kind == "instance_var":
                found[member.name] = _refined(member, known)
    for name, member in annotated.items():
        known = found.get(name)
        if known is None:
            found[name] = member
        elif known.kind == "instance_var":
            found[name] = _refined(known, member)
    return tuple(found.values())


def _refined(member: MemberInfo, child: MemberInfo) -> MemberInfo:
    annotation = child.annotation or member.annotation
    return member.model_copy(update={"annotation": annotation})


def own_members(located: Located, *, is_field: bool) -> Iterator[tuple[MemberInfo, bool]]:
    """The members that a class defines itself, and whether one is no more than an annotation."""
    item = located.item
    seen: set[str] = set()
    for name in dict.fromkeys(one.name for one in item.functions):
        seen.add(name)
        yield _of_functions(located.path, functions_of(item, name)), False
    for inner in item.classes:
        seen.add(inner.name)
        yield _of_class(located.path, inner), False
    for name, variables in _by_name(item.variables).items():
        if name not in seen and name not in _NOT_SHOWN:
            yield _of_variables(located, variables, is_field)


def has_fields(located: Located, lineage: Lineage) -> bool:
    """Whether the annotated names in a class's body are fields of its instances."""
    if any(_last(one) in _DATACLASS_DECORATORS for one in located.item.decorators):
        return True
    bases = {_last(base) for one in lineage.classes for base in one.item.bases}
    return bool(_FIELD_BASES & (bases | {_last(one) for one in lineage.unknown}))


def is_overload(function: Function) -> bool:
    """Whether a definition is one of several signatures of what follows it."""
    return any(_last(one) == "overload" for one in function.decorators)


def is_accessor(function: Function) -> bool:
    """Whether it sets or deletes a property that stands above it."""
    return any(one.endswith((".setter", ".deleter")) for one in function.decorators)


def function_kind(decorators: Sequence[str]) -> MemberKind:
    """What a method's decorators make of it."""
    for decorator in decorators:
        last = _last(decorator)
        if last in ("classmethod", "staticmethod"):
            return "classmethod" if last == "classmethod" else "staticmethod"
        if "cached_property" in last or last == "reify":
            return "cached_property"
        if last.endswith("property") or last in ("setter", "getter", "deleter"):
            return "property"
    return "method"


def _of_functions(path: str, functions: Sequence[Function]) -> MemberInfo:
    overloads = [one for one in functions if is_overload(one)]
    plain = [one for one in functions if not is_overload(one) and not is_accessor(one)]
    main = plain[-1] if plain else functions[-1]
    doc = main.doc or next((one.doc for one in functions if one.doc), "")
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
        summary=_summary(doc),
    )


def _of_class(path: str, inner: Class) -> MemberInfo:
    summary = _summary(inner.doc)
    return MemberInfo(
        name=inner.name, kind="class", defined_in=path, line=inner.line, summary=summary
    )


def _of_variables(
    located: Located, variables: Sequence[Variable], is_field: bool
) -> tuple[MemberInfo, bool]:
    body = [one for one in variables if one.place == "body"]
    main = next((one for one in body if one.value is not None), (body or list(variables))[0])
    annotation = next((one.annotation for one in variables if one.annotation), None)
    callable_ = _from_value(located, main)
    if callable_ is not None:
        return callable_, False
    kind = _kind(variables, main, annotation, is_field)
    is_bare = kind == "instance_var" and all(one.place == "body" for one in variables)
    made = MemberInfo(
        name=main.name,
        kind=kind,
        defined_in=located.path,
        line=main.line,
        annotation=annotation,
        default=main.value if main.place == "body" else None,
    )
    return made, is_bare


def _kind(
    variables: Sequence[Variable], main: Variable, annotation: str | None, is_field: bool
) -> MemberKind:
    if main.place != "body":
        is_class = any(one.place == "class" for one in variables)
        return "class_var" if is_class else "instance_var"
    if annotation is None:
        return "class_var"
    head = _last(annotation.strip("'\"").partition("[")[0])
    if head == "ClassVar":
        return "class_var"
    if is_field:
        return "initvar" if head == "InitVar" else "field"
    return "instance_var" if main.value is None else "class_var"


def _from_value(located: Located, variable: Variable) -> MemberInfo | None:
    """What ``name = property(…)``, ``partialmethod(…)`` or ``other = method`` make."""
    head = _last((variable.value or "").partition("(")[0])
    kind: MemberKind | None = None
    if head in ("property", "partialmethod", "staticmethod", "classmethod", "cached_property"):
        kind = "method" if head == "partialmethod" else function_kind((head,))
    target = (variable.value or "").partition("(")[2].partition(",")[0].rstrip(")")
    functions = functions_of(located.item, variable.alias or target)
    if kind is None and not (functions and variable.alias):
        if not (variable.value or "").startswith("lambda"):
            return None
        kind = "method"
    made = _of_functions(located.path, functions) if functions else None
    shape: dict[str, object] = {
        "name": variable.name,
        "line": variable.line,
        "default": variable.value,
    }
    if made is not None and kind not in ("property", "cached_property"):
        shape |= {
            "kind": kind or made.kind,
            "signature": signature_text(functions[-1], variable.name),
        }
        return made.model_copy(update=shape)
    return MemberInfo.model_validate(
        shape
        | {"kind": kind, "defined_in": located.path, "settable": "," in (variable.value or "")}
    )


def _by_name(variables: Sequence[Variable]) -> dict[str, list[Variable]]:
    named: dict[str, list[Variable]] = {}
    for variable in variables:
        named.setdefault(variable.name, []).append(variable)
    return named


def _last(text: str) -> str:
    """The last name of ``a.b.c(…)[…]``."""
    return text.partition("(")[0].partition("[")[0].rpartition(".")[2].strip()


def _summary(doc: str) -> str:
    first = " ".join(doc.strip().split("\n\n")[0].split())
    return first if len(first) <= _SUMMARY_CHARS else first[:_SUMMARY_CHARS] + " …"
