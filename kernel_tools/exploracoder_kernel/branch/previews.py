"""Previews of values, in few characters and little time."""

from __future__ import annotations

import io
import sys
from typing import Any, Optional

from .error_reports import brief
from .interrupts import TooLong, attempt, time_limit
from .text import cut, without_colours

MAX_PREVIEW = 200
_REPR_SECONDS = 0.5
_MAX_ITEMS = 60
_MAX_DEPTH = 4
_BRACKETS: dict[type, str] = {list: "[]", tuple: "()", set: "{}", dict: "{}"}


def preview(value: object, limit: int = MAX_PREVIEW) -> str:
    """``repr`` cut to ``limit`` characters; a placeholder if it raises or takes too long."""
    try:
        with time_limit(_REPR_SECONDS):
            return cut(without_colours(_bounded_repr(value, limit, 0)), limit)
    except TooLong:
        return f"<its repr took longer than {_REPR_SECONDS} s>"
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001  # the user's repr may raise anything
        return f"<its repr raised {cut(brief(error), 120)}>"


def _bounded_repr(value: Any, limit: int, depth: int) -> str:
    """Like ``repr``, without walking through what will be cut off anyway."""
    kind = type(value)
    if kind in (str, bytes, bytearray) and len(value) > limit:
        return repr(value[:limit])
    if kind not in _BRACKETS:
        return repr(value)
    if depth >= _MAX_DEPTH:
        return "..."
    parts: list[str] = []
    for item in value:
        if len(parts) == _MAX_ITEMS:
            parts.append("...")
            break
        part = _bounded_repr(item, limit, depth + 1)
        if kind is dict:
            part += ": " + _bounded_repr(value[item], limit, depth + 1)
        parts.append(part)
    return _bracketed(kind, parts)


def _bracketed(kind: type, parts: list[str]) -> str:
    if kind is set and not parts:
        return "set()"
    closing_bracket = ",)" if kind is tuple and len(parts) == 1 else _BRACKETS[kind][1]
    return _BRACKETS[kind][0] + ", ".join(parts) + closing_bracket


def _has(kind: type, name: str) -> bool:
    """Whether a class has an attribute, checked without running its metaclass's code."""
    bases = type.__dict__["__mro__"].__get__(kind)
    return any(name in type.__dict__["__dict__"].__get__(base) for base in bases)


def _is_class(value: object) -> bool:
    return issubclass(type(value), type)


def length(value: Any) -> Optional[int]:
    """``len(value)`` if the type has one and it answers quickly."""
    if _is_class(value) or not _has(type(value), "__len__"):
        return None
    return attempt(lambda: len(value), seconds=_REPR_SECONDS)


def shape(value: Any) -> Optional[list[int]]:
    """``value.shape`` if it is a tuple of integers."""
    if _is_class(value) or not _has(type(value), "shape"):
        return None

    def measure() -> Optional[list[int]]:
        sizes = value.shape
        is_shape = isinstance(sizes, tuple) and all(isinstance(n, int) for n in sizes)
        return [int(n) for n in sizes] if is_shape else None

    return attempt(measure, seconds=_REPR_SECONDS)


def is_lazy(value: object) -> bool:
    """Whether a value makes its elements on demand: it is iterable but not a container."""
    kind = type(value)
    if issubclass(kind, (type, io.IOBase)) or not _has(kind, "__iter__"):
        return False
    if is_iterator(value):
        return True
    return length(value) is None and shape(value) is None


def is_iterator(value: object) -> bool:
    """Whether taking an element from a value consumes it."""
    return _has(type(value), "__next__")


def type_name(kind: type) -> str:
    """``module.QualName``, through the shortest package that exports it; builtins are bare."""
    module = type.__dict__["__module__"].__get__(kind)
    qualname = str(type.__dict__["__qualname__"].__get__(kind)).replace("<locals>.", "")
    if not isinstance(module, str) or module in ("builtins", "__main__", ""):
        return qualname
    parts = module.split(".")
    for size in range(1, len(parts)):
        prefix = ".".join(parts[:size])
        exporter = sys.modules.get(prefix)
        if exporter is not None and vars(exporter).get(qualname) is kind:
            return f"{prefix}.{qualname}"
    return f"{module}.{qualname}"
