"""The ``__init__`` generated from the fields of a dataclass, model or named tuple."""

from __future__ import annotations

import ast

from exploracoder_retrieval.facts.fact_types import Class, Parameter, Variable
from exploracoder_retrieval.facts.kinds import last_name
from exploracoder_retrieval.facts.lineage import Lineage, LocatedClass
from exploracoder_retrieval.facts.parameters import parse_expression, unparse

_ATTRS = frozenset({"define", "frozen", "mutable", "attrs", "s"})
_DECORATORS = _ATTRS | {"dataclass", "pydantic_dataclass", "dataclass_json"}
# In their subclasses, annotated names are fields even without a decorator.
_BASES = frozenset({"NamedTuple", "TypedDict", "BaseModel", "Struct", "BaseSettings", "SQLModel"})
_FIELD_MAKERS = frozenset({"field", "Field", "ib", "attrib"})


def has_fields(cls: LocatedClass, lineage: Lineage) -> bool:
    """Whether the annotated names in a class's body are fields of its instances."""
    if _is_decorated(cls):
        return True
    return not _BASES.isdisjoint((*lineage.base_names, *map(last_name, lineage.unknown)))


def generated_init(lineage: Lineage) -> tuple[Parameter, ...] | None:
    """Its parameters, without ``self``; None if there are no fields or ``__init__`` is explicit.

    Keyword-only fields come last, and a redefined field keeps its place.

    Source: PEP 557 and the ``dataclasses`` module.
    """
    start = lineage.classes[0]
    if not has_fields(start, lineage):
        return None
    fields: dict[str, Parameter] = {}
    for number in range(len(lineage.classes) - 1, -1, -1):
        cls = lineage.classes[number]
        if not has_fields(cls, lineage.of_base(number)):
            continue
        if _has_init(cls.item) and (number == 0 or not _is_decorated(start)):
            return None
        fields |= _own_fields(cls)
    if not fields:
        return None
    parameters = sorted(fields.values(), key=lambda one: one.kind == "kwonly")
    return tuple(one for one in parameters if one.name)


def _is_decorated(cls: LocatedClass) -> bool:
    return any(last_name(one) in _DECORATORS for one in cls.item.decorators)


def _has_init(item: Class) -> bool:
    return any(one.name == "__init__" for one in item.functions)


def _own_fields(cls: LocatedClass) -> dict[str, Parameter]:
    fields: dict[str, Parameter] = {}
    is_keyword = any("kw_only=True" in one for one in cls.item.decorators)
    is_attrs = any(last_name(one) in _ATTRS for one in cls.item.decorators)
    for variable in cls.item.variables:
        if variable.place != "body" or variable.annotation is None:
            continue
        head = last_name(variable.annotation.strip("'\""))
        if head == "KW_ONLY":
            is_keyword = True
        elif head != "ClassVar" and (variable.name[:1] != "_" or _is_decorated(cls)):
            parameter = _parameter(variable, is_keyword)
            name = parameter.name.lstrip("_") if is_attrs else parameter.name
            fields[variable.name] = parameter.model_copy(update={"name": name})
    return fields


def _parameter(variable: Variable, is_keyword: bool) -> Parameter:
    """The parameter of one field; its name is empty if the field is not a parameter."""
    arguments = _field_arguments(variable.value)
    default = variable.value
    if arguments is not None:
        default = arguments.get("default")
        if {"default_factory", "factory"} & arguments.keys():
            default = "..."
        if arguments.get("init") == "False":
            return Parameter(name="")
        is_keyword = arguments.get("kw_only", str(is_keyword)) == "True"
    return Parameter(
        name=variable.name,
        kind="kwonly" if is_keyword else "pos",
        annotation=variable.annotation,
        default=default,
    )


def _field_arguments(value: str | None) -> dict[str, str] | None:
    """The keywords of ``field(…)``, ``Field(…)`` or ``attr.ib(…)``; None for other values."""
    if "(" not in (value or "") or last_name(value or "") not in _FIELD_MAKERS:
        return None
    node = parse_expression(value or "")
    if not isinstance(node, ast.Call):  # it was truncated
        return {"default": "..."}
    arguments = {one.arg: unparse(one.value) or "" for one in node.keywords if one.arg}
    if node.args:
        arguments.setdefault("default", ast.unparse(node.args[0]))
    if arguments.get("default") in ("...", "MISSING", "NOTHING"):
        del arguments["default"]
    return arguments
