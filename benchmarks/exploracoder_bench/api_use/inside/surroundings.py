"""What a candidate finds around it: harmless builtins and parts of a few modules."""

from __future__ import annotations

import builtins
import collections
import collections.abc
import copy
import functools
import itertools
import math
import operator
import types
import typing
from collections.abc import Callable, Mapping
from typing import Any

from exploracoder_bench.api_use.inside.fields import Fields
from exploracoder_bench.api_use.inside.guard import is_private

_BUILTINS = [
    "abs",
    "all",
    "any",
    "ascii",
    "bin",
    "bool",
    "bytearray",
    "bytes",
    "chr",
    "classmethod",
    "complex",
    "dict",
    "divmod",
    "enumerate",
    "filter",
    "float",
    "format",
    "frozenset",
    "hex",
    "int",
    "issubclass",
    "iter",
    "len",
    "list",
    "map",
    "max",
    "min",
    "next",
    "object",
    "oct",
    "ord",
    "pow",
    "property",
    "range",
    "repr",
    "reversed",
    "round",
    "set",
    "slice",
    "sorted",
    "staticmethod",
    "str",
    "sum",
    "super",
    "tuple",
    "zip",
    "Ellipsis",
    "False",
    "True",
    "None",
    "NotImplemented",
    "__build_class__",
]
_TYPING_THAT_EVALUATES = {"get_type_hints", "evaluate_forward_ref", "ForwardRef"}
_PARTS: dict[types.ModuleType, set[str]] = {
    collections: {"ChainMap", "Counter", "OrderedDict", "defaultdict", "deque", "namedtuple"},
    collections.abc: set(collections.abc.__all__),
    copy: {"copy", "deepcopy"},
    functools: {"partial", "reduce", "wraps"},
    itertools: {name for name in vars(itertools) if not name.startswith("_")},
    math: {name for name in vars(math) if not name.startswith("_")},
    operator: set(operator.__all__) - {"attrgetter", "methodcaller"},
    typing: set(typing.__all__) - _TYPING_THAT_EVALUATES,
}
HARMLESS = frozenset({module.__name__ for module in _PARTS} | {"__future__", "dataclasses"})


def _uncached(function: object = None, **_: object) -> object:
    """A cache that keeps nothing: it would have to tell values apart that nobody knows."""
    return function if callable(function) else lambda decorated: decorated


_INSTEAD: dict[types.ModuleType, dict[str, object]] = {
    functools: {"cache": _uncached, "lru_cache": _uncached},
}
_MISSING = object()
_ABSENT = object()


def surroundings(
    libraries: Mapping[str, types.ModuleType], asking: Mapping[str, Callable[..., object]]
) -> dict[str, Any]:
    """The global names that a candidate starts with.

    Args:
        libraries: What it may import besides the harmless modules.
        asking: Functions by which values are asked, in the place of Python's own.
    """
    given = {name: getattr(builtins, name) for name in _BUILTINS}
    given |= {
        name: value
        for name, value in vars(builtins).items()
        if isinstance(value, type) and issubclass(value, BaseException)
    }
    given |= {"print": _print, "getattr": _getattr, "hasattr": _hasattr, **asking}
    given["__import__"] = _importer(libraries)
    return {"__builtins__": given, "__name__": "candidate"}


def _importer(libraries: Mapping[str, types.ModuleType]) -> Callable[..., Any]:
    faces = {module.__name__: _face(module, names) for module, names in _PARTS.items()}
    vars(faces["collections"])["abc"] = faces["collections.abc"]
    faces["dataclasses"] = types.ModuleType("dataclasses")
    vars(faces["dataclasses"]).update(Fields().names())

    def import_module(
        name: str, _: object = None, __: object = None, names: object = (), *___: object
    ) -> types.ModuleType:
        if name == "__future__":
            # The names in it are spelled out by the compiler, which has checked them.
            return __import__("__future__")
        # As Python has it: ``import a.b`` gives a, and ``from a.b import c`` begins with a.b.
        found = libraries.get(name) or faces.get(name if names else name.partition(".")[0])
        if found is None:
            raise ModuleNotFoundError(f"No module named {name!r}")
        return found

    return import_module


def _face(module: types.ModuleType, names: set[str]) -> types.ModuleType:
    face = types.ModuleType(module.__name__)
    vars(face).update({name: getattr(module, name) for name in names if hasattr(module, name)})
    vars(face).update(_INSTEAD.get(module, {}))
    return face


def _print(*values: object, **_: object) -> None:
    """Prints nothing: what a candidate prints is no part of its data flow."""
    for value in values:
        str(value)


def _getattr(value: object, name: str, default: object = _MISSING) -> object:
    if type(name) is not str or is_private(name):
        raise AttributeError(f"no attribute {name!r}")
    return getattr(value, name) if default is _MISSING else getattr(value, name, default)


def _hasattr(value: object, name: str) -> bool:
    return _getattr(value, name, _ABSENT) is not _ABSENT
