"""What decorators and values turn a definition into, judged by the last part of their names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from exploracoder_retrieval.facts.fact_types import Class, Function, Module, Variable

FunctionKind = Literal["method", "classmethod", "staticmethod", "property", "cached_property"]
_PROPERTY_MAKERS = ("property", "Property", "cache_readonly", "reify")


def last_name(text: str) -> str:
    """The last name of ``a.b.c(…)[…]``."""
    return text.partition("(")[0].partition("[")[0].rpartition(".")[2].strip()


def functions_of(scope: Module | Class, name: str) -> list[Function]:
    """All definitions of a function: overloads, then the implementation."""
    return [one for one in scope.named.get(name, ()) if isinstance(one, Function)]


def implementation(functions: Sequence[Function]) -> Function:
    """The definition of a function that is called, with a docstring from any of its definitions.

    If all of them are overloads, it is the last.
    """
    plain = [one for one in functions if not is_overload(one) and not is_accessor(one)]
    main = plain[-1] if plain else functions[-1]
    doc = main.doc or next((one.doc for one in functions if one.doc), "")
    return main if main.doc == doc else main.model_copy(update={"doc": doc})


def is_overload(function: Function) -> bool:
    """Whether a definition is an overload of the function that follows it."""
    return any(last_name(one) == "overload" for one in function.decorators)


def is_accessor(function: Function) -> bool:
    """Whether it is the setter or deleter of a property defined above it."""
    return any(one.endswith((".setter", ".deleter")) for one in function.decorators)


def function_kind(decorators: Sequence[str]) -> FunctionKind:
    """The kind of method that its decorators make it."""
    for decorator in decorators:
        last = last_name(decorator)
        if last in ("classmethod", "staticmethod"):
            return "classmethod" if last == "classmethod" else "staticmethod"
        if "cached_property" in last or last in ("reify", "cache_readonly"):
            return "cached_property"
        if last.endswith(_PROPERTY_MAKERS) or last in ("setter", "getter", "deleter"):
            return "property"
    return "method"


def is_property(item: Function | Variable | Class) -> bool:
    """Whether a member is read without a call: a decorated property, or ``x = property(…)``."""
    if isinstance(item, Function):
        return function_kind(item.decorators) in ("property", "cached_property")
    maker, parenthesis, _ = (item.value or "" if isinstance(item, Variable) else "").partition("(")
    return bool(parenthesis) and maker.endswith(_PROPERTY_MAKERS)


def variables_of(cls: Class) -> dict[str, list[Variable]]:
    """The variables of a class by name, with every place where each is set or annotated."""
    by_name: dict[str, list[Variable]] = {}
    for variable in cls.variables:
        by_name.setdefault(variable.name, []).append(variable)
    return by_name


def joined(variables: Sequence[Variable]) -> Variable:
    """One variable as first set, with the type and docstring that any of the places gives."""
    body = [one for one in variables if one.place == "body"]
    main = next((one for one in body if one.value is not None), (body or list(variables))[0])
    annotation = next((one.annotation for one in variables if one.annotation), None)
    doc = next((one.doc for one in variables if one.doc), "")
    return main.model_copy(update={"annotation": annotation, "doc": doc})
