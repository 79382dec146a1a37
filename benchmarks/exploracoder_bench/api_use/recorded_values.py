"""Values that no library computed: they say how they would come about.

Copied beside the packages of invented libraries, whose functions return them; it imports only the
standard library. ``check`` judges a function by the data flow of its result (Measuring Novel API
Use, section 3): which calls with which arguments it comes from, however the code is written.
"""

from __future__ import annotations

import hashlib
import importlib
import random
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn, Union

# A scalar's name, or the module and name of a class. The library's Python may be 3.9.
Kind = Union[str, tuple[str, str]]  # noqa: UP007

# Arguments differ from run to run, so that no constant and no condition is right by accident.
RUNS = 4
_MOST_CHARACTERS = 1_000


class Recorded:
    """A value of which only the origin is known; shown, it says which call gave it."""

    def __init__(self, origin: str = "", key: str = "") -> None:
        origin = origin or f"{type(self).__name__}()"
        self._key = key or origin
        self._origin = origin[:_MOST_CHARACTERS] + "…" * (len(origin) > _MOST_CHARACTERS)

    def __repr__(self) -> str:
        return f"<{self._origin}>"

    def _unknown(self, *_: object) -> NoReturn:
        raise TypeError(f"{self!r} was not computed: whether it is true or equal is unknown")

    __bool__ = __eq__ = _unknown
    __hash__ = object.__hash__


def recorded(
    function: str, arguments: Mapping[str, Any], home: tuple[str, str] | None = None
) -> Recorded:
    """What a call gives: an object of the class in the module ``home``, or any value."""
    words = ", ".join(f"{name}={value!r}" for name, value in arguments.items())
    keys = ", ".join(f"{name}={key_of(value)}" for name, value in arguments.items())
    key = hashlib.sha256(f"{function}({keys})".encode("utf-8", "replace")).hexdigest()[:16]
    return _class(home)(f"{function}({words})", key)


def key_of(value: object) -> str:
    """A text that is the same for values with the same origin: 5 is 5.0, but not "5" or True."""
    if isinstance(value, Recorded):
        return value._key
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return f"number {float(value)!r}"
    return f"{type(value).__name__} {value!r}"


def arguments_of(parameters: Sequence[tuple[str, Kind]], run: int) -> list[Any]:
    """A value for each parameter, a pair of its name and its kind, in this run.

    Plain kinds get values, so that a program may ask what it likes of them. Of a class, a pair of
    module and name, and of ``any`` only the origin is known.
    """
    rng = random.Random(run)
    return [_argument(name, kind, place, run, rng) for place, (name, kind) in enumerate(parameters)]


def _argument(name: str, kind: Kind, place: int, run: int, rng: random.Random) -> Any:
    if kind == "float":
        return rng.uniform(1, 90)
    if kind == "int":
        return rng.randrange(100, 360)
    if kind == "str":
        return f"{name} Ab {rng.randrange(10**6)}"
    if kind == "bool":
        # No two of the first fourteen are equal in all runs, and none has one value in all.
        return bool(place + 1 >> run & 1)
    return _class(None if isinstance(kind, str) else kind)(f"the argument {name}")


def _class(home: tuple[str, str] | None) -> type[Recorded]:
    return getattr(importlib.import_module(home[0]), home[1]) if home else Recorded


def check(
    function: Callable[..., Any], parameters: Sequence[tuple[str, Kind]], keys: Sequence[str]
) -> None:
    """Raise AssertionError when a result has not the key that is expected of its run."""
    for run, key in enumerate(keys):
        result = function(*arguments_of(parameters, run))
        words = f"{result!r}"[:_MOST_CHARACTERS]
        assert key_of(result) == key, f"it returns {words}, which is not what is asked for"
