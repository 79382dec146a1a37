"""The user's variables: which exist, which a cell bound, what they hold."""

from __future__ import annotations

import ast
import itertools
import time
import types
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple, Optional

from .previews import MAX_PREVIEW, is_iterator, is_lazy, length, preview, shape, type_name
from .text import cut

MAX_VARIABLES = 100
MAX_FORCED = 5
MAX_TYPED = 20
# The owner waits twice as long.
_MOST_SECONDS = 10.0

Force = Callable[[object], dict[str, Any]]
Variables = dict[str, object]

_CHEAP_TO_MEASURE = (list, dict, set, tuple, str, bytes, bytearray)


class Mark(NamedTuple):
    """Enough to tell that a name was rebound or its value changed in size."""

    identity: int
    kind: type
    size: Any


def mark_all(variables: Variables) -> dict[str, Mark]:
    """The marks of all variables, taken before a cell."""
    return {name: _mark(value) for name, value in variables.items()}


def changed(before: dict[str, Mark], after: Variables, tree: Optional[ast.Module]) -> list[str]:
    """Names that are new, rebound (even to an equal value), or whose value changed in size."""
    stored_names = _stored_names(tree) if tree is not None else set()
    return [
        name
        for name, value in after.items()
        if name in stored_names or name not in before or before[name] != _mark(value)
    ]


def _mark(value: object) -> Mark:
    kind = type(value)
    size: Any = None
    if kind in _CHEAP_TO_MEASURE:
        size = length(value)
    elif type_name(kind).partition(".")[0] in ("numpy", "pandas", "torch"):
        size = shape(value)
    return Mark(id(value), kind, tuple(size) if isinstance(size, list) else size)


def _stored_names(tree: ast.Module) -> set[str]:
    """Names that a cell assigns at module level, including inside loops and conditions."""
    names: set[str] = set()
    queue: list[ast.AST] = list(tree.body)
    scopes = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    comprehensions = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
    while queue:
        node = queue.pop()
        if isinstance(node, scopes):
            names.add(node.name)
        elif isinstance(node, comprehensions):
            # Its own variables stay inside; only `:=` binds outside.
            names.update(one.target.id for one in ast.walk(node) if isinstance(one, ast.NamedExpr))
        elif not isinstance(node, ast.Lambda):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                names.add(node.id)
            queue.extend(ast.iter_child_nodes(node))
    return names


def is_users(name: str, value: object) -> bool:
    """Whether a name is a variable in the user's sense: neither private nor a module."""
    return not name.startswith("_") and not issubclass(type(value), types.ModuleType)


def describe(
    names: Iterable[str], variables: Variables, force: Optional[Force]
) -> list[dict[str, Any]]:
    """The descriptions of ``names``; ``force`` shows the first elements of a lazy object.

    If there are too many, classes and functions are dropped first: ``import *`` binds hundreds. If
    they take too long, the rest is left out.
    """
    descriptions = []
    deadline = time.monotonic() + _MOST_SECONDS
    budget = MAX_FORCED
    candidates = list(names)
    if len(candidates) > MAX_VARIABLES:
        candidates.sort(key=lambda name: issubclass(type(variables[name]), _DEFINITIONS))
    for name in candidates[:MAX_VARIABLES]:
        if time.monotonic() > deadline:
            break
        facts = _describe(variables[name], force if budget > 0 else None)
        budget -= 1 if facts["is_lazy"] else 0
        descriptions.append({"name": name, **facts})
    return descriptions


def _describe(value: object, force: Optional[Force]) -> dict[str, Any]:
    lazy = is_lazy(value)
    facts: dict[str, Any] = {
        # A class counts as one, whatever its metaclass.
        "type": "type" if issubclass(type(value), type) else _type_of(value),
        "length": length(value),
        "shape": shape(value),
        "preview": preview(value),
        "is_lazy": lazy,
    }
    if force is None or not lazy:
        return facts
    outcome = force(value)
    if "elements" in outcome:
        facts["preview"] = _elements(value, facts["preview"], outcome)
    facts["preview_error"] = outcome.get("error")
    return facts


_DEFINITIONS = (type, types.FunctionType, types.BuiltinFunctionType)


def _type_of(value: object) -> str:
    return type_name(type(value)) + _element_type(value)


def _element_type(value: object) -> str:
    """``[module.Class]`` of a list or tuple whose first elements are all of one class of a library.

    The class documents what can be done with such objects.
    """
    if type(value) not in (list, tuple):
        return ""
    kinds = {type(item) for item in itertools.islice(value, MAX_TYPED)}  # type: ignore[call-overload]
    if len(kinds) != 1:
        return ""
    kind = kinds.pop()
    return "" if kind.__module__ == "builtins" else f"[{type_name(kind)}]"


def _elements(value: object, own: str, outcome: dict[str, Any]) -> str:
    """The first elements, after the object's own repr if its class defines one."""
    words = "first elements: " if outcome["has_more"] else "elements: "
    text = words + ", ".join(outcome["elements"]) + (", …" if outcome["has_more"] else "")
    if not outcome["elements"]:
        text = "no elements"
    is_plain = type(value).__repr__ is object.__repr__ or is_iterator(value)
    return cut(text if is_plain else f"{cut(own, 80)}; {text}", MAX_PREVIEW)
