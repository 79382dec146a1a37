"""Does a dotted name exist here? Answered without running properties of the user's objects."""

from __future__ import annotations

import builtins
import difflib
import importlib
import importlib.util
import inspect
import re
import sys
import types
import weakref
from typing import Any, NamedTuple, Optional

from .instance_names import names_set_on_instances
from .interrupts import attempt
from .previews import type_name
from .text import cut

_MISSING = object()
_UNKNOWN = object()
_WORD = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+")
_CLOSE_ENOUGH = 0.6


class Walk(NamedTuple):
    """How far a dotted name could be followed."""

    exists: Optional[bool]
    value: Any
    owner: Any
    owner_path: str
    missing: str


def resolve(name: str, namespace: dict[str, Any]) -> dict[str, Any]:
    """Whether ``name`` exists, up to which owner, and which of the owner's names are similar."""
    walk = follow(name, namespace)
    is_known = walk.exists is True and walk.value is not _UNKNOWN
    return {
        "name": name,
        "exists": walk.exists,
        "owner": walk.owner_path,
        "owner_type": "" if walk.owner is _MISSING else type_name(type(walk.owner)),
        "nearest": [] if walk.exists else nearest(walk, namespace),
        "signature": signature(walk.value) if is_known else None,
        "doc_summary": summary(walk.value) if is_known else None,
    }


def follow(name: str, namespace: dict[str, Any]) -> Walk:
    """Walk the parts of ``name`` from the namespace, or from the module it starts with."""
    parts = name.strip().split(".")
    value = _base(parts[0], namespace)
    if value is _MISSING:
        return Walk(False, _MISSING, _MISSING, "", parts[0])
    owner, path = _MISSING, ""
    for index, part in enumerate(parts[1:], start=1):
        owner, path = value, ".".join(parts[:index])
        exists, value = member(owner, part)
        if exists is not True:
            return Walk(exists, _MISSING, owner, path, part)
        if value is _UNKNOWN and index < len(parts) - 1:
            return Walk(None, _UNKNOWN, owner, path, parts[index + 1])
    return Walk(True, value, owner, path, "")


def _base(name: str, namespace: dict[str, Any]) -> Any:
    if name in namespace:
        return namespace[name]
    if hasattr(builtins, name):
        return getattr(builtins, name)
    return _import(name)


def _import(name: str) -> Any:
    def load() -> Any:
        is_there = name in sys.modules or importlib.util.find_spec(name) is not None
        return importlib.import_module(name) if is_there else _MISSING

    return attempt(load, _MISSING)


def member(owner: Any, name: str) -> tuple[Optional[bool], Any]:
    """Whether ``owner`` has ``name`` (None: only running its code could tell), and its value."""
    if not name.isidentifier():
        return False, _MISSING
    if isinstance(owner, types.ModuleType):
        return _member_of_module(owner, name)
    static = inspect.getattr_static(owner, name, _MISSING)
    if isinstance(owner, type):
        return _member_of_class(owner, name, static)
    if static is not _MISSING:
        return True, _value_of(owner, name, static)
    return (None if _is_dynamic(type(owner)) else False), _MISSING


def _member_of_module(module: types.ModuleType, name: str) -> tuple[Optional[bool], Any]:
    value = _getattr(module, name)
    if value is _MISSING and hasattr(module, "__path__"):
        value = _import(f"{module.__name__}.{name}")
    return value is not _MISSING, value


def _member_of_class(owner: type, name: str, static: Any) -> tuple[Optional[bool], Any]:
    if static is not _MISSING and not isinstance(static, types.MemberDescriptorType):
        if isinstance(static, (staticmethod, classmethod)):
            return True, static.__func__
        if isinstance(static, property):
            return True, static
    value = _getattr(owner, name)
    if value is not _MISSING:
        return True, value
    if static is not _MISSING or name in names_set_on_instances(owner):
        return True, _UNKNOWN
    return (None if _is_dynamic(owner) else False), _MISSING


def _value_of(owner: Any, name: str, static: Any) -> Any:
    """The value of an instance's attribute, unless a descriptor would have to compute it."""
    if isinstance(static, (staticmethod, classmethod)):
        return static.__func__
    if isinstance(static, types.MemberDescriptorType):
        return _getattr(owner, name)
    is_routine = inspect.isroutine(static) or isinstance(static, type)
    if hasattr(type(static), "__get__") and not is_routine:
        return _UNKNOWN
    return static


def _getattr(owner: Any, name: str) -> Any:
    return attempt(lambda: getattr(owner, name, _MISSING), _MISSING)


def _is_dynamic(kind: type) -> bool:
    """Whether instances may compute attributes on access."""
    has_hook = inspect.getattr_static(kind, "__getattr__", _MISSING) is not _MISSING
    lookup = inspect.getattr_static(kind, "__getattribute__", None)
    is_written_in_python = not isinstance(lookup, types.WrapperDescriptorType)
    return has_hook or is_written_in_python or issubclass(kind, weakref.ProxyTypes)


def member_names(owner: Any) -> list[str]:
    """Names of ``owner``'s members, without calling a user-defined ``__dir__``."""
    if isinstance(owner, types.ModuleType):
        return sorted({*vars(owner), *_exported(owner)})
    kind = owner if isinstance(owner, type) else type(owner)
    names = set(type.__dir__(kind)) | set(names_set_on_instances(kind))
    if kind is not owner:
        names |= set(getattr(owner, "__dict__", ()))
    return sorted(name for name in names if isinstance(name, str))


def _exported(module: types.ModuleType) -> list[str]:
    exports = vars(module).get("__all__", ())
    return [name for name in exports if isinstance(name, str)]


def nearest(walk: Walk, namespace: dict[str, Any]) -> list[str]:
    """Up to five existing names similar to the missing one, by spelling or shared words."""
    if walk.owner is _MISSING:
        pool = [name for name in {*namespace, *dir(builtins)} if not name.startswith("_")]
    else:
        pool = member_names(walk.owner)
    wants_private = walk.missing.startswith("_")
    candidates = [
        (_likeness(walk.missing, name), name)
        for name in pool
        if wants_private or not name.startswith("_")
    ]
    close = sorted(
        (pair for pair in candidates if pair[0] >= _CLOSE_ENOUGH), key=lambda p: (-p[0], p[1])
    )
    return [name for _score, name in close[:5]]


def words(identifier: str) -> set[str]:
    """The lower-case words of an identifier: ``read_csvFile`` has read, csv, file."""
    return {word.lower() for word in _WORD.findall(identifier)}


def _likeness(missing: str, name: str) -> float:
    spelling = difflib.SequenceMatcher(None, missing.lower(), name.lower()).ratio()
    ours, theirs = words(missing), words(name)
    overlap = len(ours & theirs) / max(1, min(len(ours), len(theirs)))
    return max(spelling, 0.5 * spelling + 0.5 * overlap)


def signature(value: Any) -> Optional[str]:
    """The call signature, where Python knows it."""
    if not callable(value):
        return None
    # Default values may have user-defined reprs.
    return attempt(lambda: cut(str(inspect.signature(value)), 500))


def documentation(value: Any) -> Optional[str]:
    """The docstring of a definition; None for other objects, which only inherit their class's."""
    is_definition = inspect.isroutine(value) or isinstance(
        value, (type, types.ModuleType, property)
    )
    return attempt(lambda: inspect.getdoc(value)) if is_definition else None  # it may be computed


def summary(value: Any) -> Optional[str]:
    """The first paragraph of the docstring, on one line."""
    text = documentation(value)
    if not text or not isinstance(text, str):
        return None
    return cut(" ".join(text.strip().split("\n\n")[0].split()), 300)


def inspect_name(name: str, namespace: dict[str, Any]) -> dict[str, Any]:
    """Type, signature, documentation and source location of a dotted name."""
    walk = follow(name, namespace)
    if walk.exists is not True or walk.value is _UNKNOWN:
        return {"name": name, "found": walk.exists is True}
    value = walk.value
    file, line = _source(value)
    return {
        "name": name,
        "found": True,
        "type": type_name(type(value)),
        "signature": signature(value),
        "documentation": cut(documentation(value) or "", 20_000) or None,
        "file": file,
        "line": line,
    }


def _source(value: Any) -> tuple[Optional[str], Optional[int]]:
    try:
        target = inspect.unwrap(value) if callable(value) else value
        return inspect.getsourcefile(target), inspect.getsourcelines(target)[1]
    except (TypeError, OSError, ValueError, IndexError):
        return None, None
