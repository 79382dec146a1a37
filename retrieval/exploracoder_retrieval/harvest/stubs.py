"""What a stub file adds to what the code says: annotations, signatures, whole members."""

from __future__ import annotations

from typing import TYPE_CHECKING

from exploracoder_retrieval.harvest.signatures import is_opaque

if TYPE_CHECKING:
    import griffe


def fill(target: griffe.Object, stub: griffe.Object) -> None:
    """Completes a definition in place from its declaration in a stub.

    The code keeps its docstrings and its own annotations; what only the stub knows is taken over.
    """
    if target.docstring is None and stub.docstring is not None:
        target.docstring = stub.docstring
    if target.is_function and stub.is_function:
        _fill_function(target, stub)  # type: ignore[arg-type]
    elif target.is_class and stub.is_class:
        _fill_class(target, stub)  # type: ignore[arg-type]
    elif target.is_attribute and stub.is_attribute and not target.annotation:  # type: ignore[attr-defined]
        target.annotation = stub.annotation  # type: ignore[attr-defined]


def _fill_function(target: griffe.Function, stub: griffe.Function) -> None:
    if target.returns or any(parameter.annotation for parameter in target.parameters):
        return
    if stub.overloads and not is_opaque(target):
        return  # one call with its defaults says more than overloads without
    for declared in stub.parameters:
        # Stubs write `= ...` where the code has the value.
        if str(declared.default) == "..." and declared.name in target.parameters:
            declared.default = target.parameters[declared.name].default
    target.parameters = stub.parameters
    target.returns = stub.returns
    target.overloads = stub.overloads


def _fill_class(target: griffe.Class, stub: griffe.Class) -> None:
    if not target.bases:
        target.bases = stub.bases
    for name, declared in list(stub.members.items()):
        if declared.is_alias:
            continue
        own = target.members.get(name)
        if own is None:
            # Its scope stays the stub's: only there do its annotations and bases mean something.
            target.members[name] = declared
        elif not own.is_alias:
            fill(own, declared)  # type: ignore[arg-type]
