"""The ``__init__`` that a dataclass or named tuple generates from its fields."""

from __future__ import annotations

import ast

from exploracoder_retrieval.repotools.facts import Class, Parameter, Variable
from exploracoder_retrieval.repotools.lineage import Lineage, Located
from exploracoder_retrieval.repotools.members import has_fields
from exploracoder_retrieval.repotools.parameters import unparse

_KW_ONLY_MARK = "KW_ONLY"


def generated_init(lineage: Lineage) -> tuple[Parameter, ...] | None:
    """Its parameters, ``self`` left out; None when the class has an ``__init__`` or no fields.

    Keyword-only fields stand last, and a field that is defined again keeps its place.

    Source: PEP 557 and the ``dataclasses`` module.
    """
    start = lineage.classes[0]
    if not has_fields(start, lineage):
        return None
    fields: dict[str, Parameter] = {}
    for number in range(len(lineage.classes) - 1, -1, -1):
        located = lineage.classes[number]
        if any(one.name == "__init__" for one in located.item.functions):
            if number == 0:
                return None
            continue
        if has_fields(located, Lineage(lineage.classes[number:], ())):
            fields |= _own_fields(located)
    if not fields:
        return None
    ordered = sorted(fields.values(), key=lambda one: one.kind == "kwonly")
    return tuple(one for one in ordered if one.name)


def _own_fields(located: Located) -> dict[str, Parameter]:
    found: dict[str, Parameter] = {}
    is_keyword = _is_keyword_only(located.item)
    for variable in located.item.variables:
        if variable.place != "body" or variable.annotation is None:
            continue
        head = variable.annotation.strip("'\"").partition("[")[0].rpartition(".")[2]
        if head == _KW_ONLY_MARK:
            is_keyword = True
        elif head != "ClassVar":
            found[variable.name] = _parameter(variable, is_keyword)
    return found


def _parameter(variable: Variable, is_keyword: bool) -> Parameter:
    """The parameter of one field; one without a name when the field is no parameter."""
    given = _field_arguments(variable.value)
    default = variable.value
    if given is not None:
        default = given.get("default")
        if "default_factory" in given or "factory" in given:
            default = "..."
        if given.get("init") == "False":
            return Parameter(name="")
        is_keyword = given.get("kw_only", str(is_keyword)) == "True"
    return Parameter(
        name=variable.name,
        kind="kwonly" if is_keyword else "pos",
        annotation=variable.annotation,
        default=default,
    )


def _field_arguments(value: str | None) -> dict[str, str] | None:
    """The keywords of ``field(…)``, ``Field(…)`` or ``attr.ib(…)``; None for other values."""
    try:
        node = ast.parse(value or "", mode="eval").body
    except SyntaxError:
        return None
    if not isinstance(node, ast.Call):
        return None
    name = ast.unparse(node.func).rpartition(".")[2]
    if name not in ("field", "Field", "ib", "attrib"):
        return None
    given = {one.arg: unparse(one.value) or "" for one in node.keywords if one.arg}
    if node.args and name == "Field" and ast.unparse(node.args[0]) != "...":
        given.setdefault("default", ast.unparse(node.args[0]))
    return given


def _is_keyword_only(item: Class) -> bool:
    for decorator in item.decorators:
        try:
            node = ast.parse(decorator, mode="eval").body
        except SyntaxError:
            continue
        for one in node.keywords if isinstance(node, ast.Call) else ():
            if one.arg == "kw_only":
                return unparse(one.value) == "True"
    return False
