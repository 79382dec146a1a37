"""The ``__init__`` generated from the fields of a dataclass, model or named tuple."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from keyword import iskeyword

from exploracoder_retrieval.facts.fact_types import Class, Parameter, Variable
from exploracoder_retrieval.facts.kinds import last_name
from exploracoder_retrieval.facts.lineage import Lineage, LocatedClass
from exploracoder_retrieval.facts.parameters import parse_expression, unparse

# Unless they are told otherwise, the older of these take only what is assigned a field.
_OLD_ATTRS = frozenset({"attrs", "s"})
_ATTRS = _OLD_ATTRS | {"define", "frozen", "mutable"}
_DECORATORS = _ATTRS | {"dataclass", "pydantic_dataclass", "dataclass_json"}
# In their subclasses, annotated names are fields even without a decorator.
_MODELS = frozenset({"BaseModel", "BaseSettings", "SQLModel"})
_KEYWORD_ONLY = _MODELS | {"TypedDict"}
_BASES = _KEYWORD_ONLY | {"NamedTuple", "Struct"}
_TUPLE_MAKERS = frozenset({"namedtuple", "NamedTuple"})
_FIELD_MAKERS = frozenset({"field", "Field", "ib", "attrib"})


def has_fields(cls: LocatedClass, lineage: Lineage) -> bool:
    """Whether the annotated names in a class's body are fields of its instances."""
    if _is_decorated(cls):
        return True
    return not _BASES.isdisjoint((*lineage.base_names, *map(last_name, lineage.unknown)))


def generated_init(lineage: Lineage) -> tuple[Parameter, ...] | None:
    """Its parameters, without ``self``; None if there are no fields or ``__init__`` is explicit."""
    fields = None if overrides_elements(lineage) else init_fields(lineage)
    return tuple(fields.values()) if fields is not None else None


def overrides_elements(lineage: Lineage) -> bool:
    """Whether a class is a named tuple that is not made from its elements, but in its own way."""
    has_maker = False
    for one in lineage.classes:
        has_maker |= any(each.name in ("__new__", "__init__") for each in one.item.functions)
        if not _TUPLE_MAKERS.isdisjoint(map(last_name, one.item.bases)):
            return has_maker
    return False


def init_fields(lineage: Lineage) -> dict[str, Parameter] | None:
    """The fields that a generated ``__init__`` takes, each with its parameter, or None.

    Keyword-only fields come last, and a redefined field keeps its place.

    Source: PEP 557 and the ``dataclasses`` module.
    """
    start = lineage.classes[0]
    if elements := dict(_tuple_elements(start.item)):
        return elements
    if not has_fields(start, lineage):
        return None
    bases = (*lineage.base_names, *map(last_name, lineage.unknown))
    is_keyword = not _KEYWORD_ONLY.isdisjoint(bases)
    fields: dict[str, Parameter] = {}
    for number in range(len(lineage.classes) - 1, -1, -1):
        cls = lineage.classes[number]
        if not has_fields(cls, lineage.of_base(number)):
            continue
        if _has_init(cls.item) and (number == 0 or not _is_decorated(start)):
            return None
        fields |= _own_fields(cls, is_keyword=is_keyword and not _is_decorated(cls))
    if not fields:
        return None
    ordered = sorted(fields.items(), key=lambda one: one[1].kind == "kwonly")
    return {name: parameter for name, parameter in ordered if parameter.name}


def _is_decorated(cls: LocatedClass) -> bool:
    return any(last_name(one) in _DECORATORS for one in cls.item.decorators)


def _has_init(item: Class) -> bool:
    return any(one.name == "__init__" for one in item.functions)


def _own_fields(cls: LocatedClass, *, is_keyword: bool) -> dict[str, Parameter]:
    fields: dict[str, Parameter] = {}
    is_keyword = is_keyword or any("kw_only=True" in one for one in cls.item.decorators)
    is_attrs = any(last_name(one) in _ATTRS for one in cls.item.decorators)
    is_explicit = is_attrs and _takes_only_assigned_fields(cls.item)
    for variable in cls.item.variables:
        if variable.place != "body":
            continue
        if is_explicit and _field_arguments(variable.value) is None:
            continue
        if variable.annotation is None and not is_explicit:
            continue
        head = last_name((variable.annotation or "").strip("'\""))
        if head == "KW_ONLY":
            is_keyword = True
        elif head != "ClassVar" and (variable.name[:1] != "_" or _is_decorated(cls)):
            fields[variable.name] = _parameter(variable, cls.item, is_keyword, is_attrs)
    return fields


def _takes_only_assigned_fields(item: Class) -> bool:
    """Whether annotations alone make no fields in a class of attrs.

    Source: attrs' ``auto_attribs``, by default on where no field lacks an annotation.
    """
    if any(last_name(one) in _OLD_ATTRS for one in item.decorators):
        return not any("auto_attribs=True" in one for one in item.decorators)
    return any(
        one.annotation is None and _field_arguments(one.value) is not None
        for one in item.variables
        if one.place == "body"
    )


def _parameter(variable: Variable, item: Class, is_keyword: bool, is_attrs: bool) -> Parameter:
    """The parameter of one field; its name is empty if the field is not a parameter."""
    arguments = _field_arguments(variable.value)
    default = variable.value
    annotation = variable.annotation
    name = variable.name.lstrip("_") if is_attrs else variable.name
    if arguments is not None:
        default = arguments.get("default")
        if {"default_factory", "factory"} & arguments.keys() or _has_default(item, variable.name):
            default = "..."
        if arguments.get("init") == "False":
            return Parameter(name="")
        is_keyword = arguments.get("kw_only", str(is_keyword)) == "True"
        annotation = annotation or arguments.get("type")
        name = _alias(arguments) or name
    return Parameter(
        name=name, kind="kwonly" if is_keyword else "pos", annotation=annotation, default=default
    )


def _has_default(item: Class, name: str) -> bool:
    """Whether a method gives a field's default. Source: attrs."""
    return any(f"{name}.default" in one.decorators for one in item.functions)


def _alias(arguments: dict[str, str]) -> str:
    """The name by which the constructor takes a field, if it is another than the field's.

    One that no call can use, such as ``from``, does not count.
    """
    for keyword in ("validation_alias", "alias"):
        node = parse_expression(arguments.get(keyword, "None"))
        match node:
            case ast.Constant(value=str(name)) if name.isidentifier() and not iskeyword(name):
                return name
    return ""


def _tuple_elements(item: Class) -> Iterator[tuple[str, Parameter]]:
    """The elements of a base that is a call of ``namedtuple`` or ``NamedTuple``."""
    for base in item.bases:
        call = parse_expression(base) if last_name(base) in _TUPLE_MAKERS and "(" in base else None
        match call:
            case ast.Call(args=[_, ast.Constant(value=str(text))]):
                names: list[ast.expr] = [
                    ast.Constant(one) for one in text.replace(",", " ").split()
                ]
            case ast.Call(args=[_, ast.List(elts=names) | ast.Tuple(elts=names)]):
                pass
            case _:
                continue
        given = next((one.value for one in call.keywords if one.arg == "defaults"), None)
        values = given.elts if isinstance(given, ast.Tuple | ast.List) else []
        defaults = [None] * (len(names) - len(values)) + [ast.unparse(one) for one in values]
        for element, default in zip(names, defaults, strict=False):
            match element:
                case ast.Constant(value=str(name)):
                    yield name, Parameter(name=name, default=default)
                case ast.Tuple(elts=[ast.Constant(value=str(name)), kind]):
                    yield name, Parameter(name=name, annotation=unparse(kind))


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
