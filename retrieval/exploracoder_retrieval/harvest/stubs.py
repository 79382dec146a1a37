"""What a stub adds to what the code says: the code keeps its own types."""

from __future__ import annotations

from exploracoder_retrieval.facts.kinds import is_property
from exploracoder_retrieval.facts.parameters import is_opaque
from exploracoder_retrieval.facts.values import Class, Function, Parameter, Variable

Item = Class | Function | Variable
Overloads = tuple[Function, ...]


def completed_function(
    code: Function, overloads: Overloads, stub: Function, declared: Overloads
) -> tuple[Function, Overloads]:
    """A function and its overloads, with the stub's types where the code has none."""
    has_types = code.returns or any(each.annotation for each in code.parameters)
    # One call with its defaults says more than overloads without.
    if has_types or (declared and not is_opaque(code)):
        return code, overloads
    defaults = {each.name: each.default for each in code.parameters}
    parameters = tuple(_with_default(each, defaults.get(each.name)) for each in stub.parameters)
    return code.model_copy(update={"parameters": parameters, "returns": stub.returns}), declared


def completed_attribute(code: Item, stub: Item) -> Item:
    """A variable or property with the stub's type, if the code gives none."""
    declared = stub.returns if isinstance(stub, Function) else getattr(stub, "annotation", None)
    if isinstance(code, Variable):
        return code.model_copy(update={"annotation": code.annotation or declared})
    if isinstance(code, Function) and is_property(code):
        return code.model_copy(update={"returns": code.returns or declared})
    return code


def _with_default(parameter: Parameter, default: str | None) -> Parameter:
    """Stubs write ``= ...`` where the code has the value."""
    is_open = parameter.default == "..." and default is not None
    return parameter.model_copy(update={"default": default}) if is_open else parameter
