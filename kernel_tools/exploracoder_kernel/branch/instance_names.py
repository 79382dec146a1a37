"""Attributes that a class's methods set on ``self``: the class itself does not have them."""

from __future__ import annotations

import dis
import types


def names_set_on_instances(kind: type) -> set[str]:
    """Names that annotations, slots or assignments to ``self`` give to instances of ``kind``."""
    names: set[str] = set()
    for base in kind.__mro__:
        if base is object:
            continue
        names |= _annotated(base)
        names |= set(base.__dict__.get("__static_attributes__", ()))
        names |= _assigned_in_methods(base)
    return names


def _annotated(kind: type) -> set[str]:
    try:
        return set(kind.__annotations__)
    except Exception:  # noqa: BLE001  # there are none, or reading them evaluates foreign names
        return set()


def _assigned_in_methods(kind: type) -> set[str]:
    names: set[str] = set()
    for value in list(kind.__dict__.values()):
        if isinstance(value, types.FunctionType) and value.__code__.co_argcount:
            names |= _assigned_to_first_argument(value.__code__)
    return names


def _assigned_to_first_argument(code: types.CodeType) -> set[str]:
    """``self.name = ...`` is compiled to loading the first argument and STORE_ATTR."""
    me = code.co_varnames[0]
    names: set[str] = set()
    operand: object = None
    for step in dis.get_instructions(code):
        if step.opname == "STORE_ATTR" and _is_loaded(operand, me):
            names.add(str(step.argval))
        operand = step.argval if step.opname.startswith("LOAD_FAST") else None
    return names


def _is_loaded(operand: object, name: str) -> bool:
    """Newer Pythons load two variables in one step; the last of them is on top."""
    return operand == name or (isinstance(operand, tuple) and operand[-1:] == (name,))
