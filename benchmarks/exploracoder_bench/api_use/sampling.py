"""Random compositions of libraries' functions, well typed and of bounded depth."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

from exploracoder_bench.api_use.expressions import Call, Constant, Expression, Outer, Scalar
from exploracoder_bench.api_use.invented_libraries import Argument, Function, Library, Shelf

_WORDS = ("F", "A", "oxygen", "C#4", "violin", "it's", 'a "quoted" one', "")
_RENAMED = ("given", "first", "amount", "other", "x", "size")
# How likely an argument is another call, a constant, an outer argument used before, or one renamed.
_CALL, _CONSTANT, _AGAIN, _NEW_NAME = 0.4, 0.3, 0.2, 0.2


def sample(shelf: Shelf, rng: random.Random, *, depth: int) -> Call:
    """A composition of at most ``depth`` nested calls."""
    sampler = _Sampler(shelf, rng)
    library = rng.choice(shelf.libraries)
    return sampler.call(library, rng.choice(library.functions), depth)


def constant_of(type_name: str, rng: random.Random) -> Scalar:
    """A value of a scalar type."""
    if type_name == "bool":
        return rng.random() < 0.5
    if type_name == "str":
        return rng.choice(_WORDS)
    if type_name == "float" and rng.random() < 0.5:
        return round(rng.uniform(-50, 50), 2)
    return rng.randint(0, 99)


@dataclass(slots=True)
class _Sampler:
    shelf: Shelf
    rng: random.Random
    outer: dict[str, str] = field(default_factory=dict)

    def call(self, library: Library, function: Function, depth: int) -> Call:
        on = None
        if library.style == "class":
            on = self._object(library, depth - 1)
        arguments = tuple((one.name, self._value(one, depth - 1)) for one in function.arguments)
        return Call(library.id, function.name, on, arguments)

    def _object(self, library: Library, depth: int) -> Expression:
        call = self._made(library.id, depth) if self.rng.random() < 0.5 else None
        return call or self._outer(library.name, library.id)

    def _value(self, argument: Argument, depth: int) -> Expression:
        type_name = self.shelf.plain(argument.type)
        chance = self.rng.random()
        if chance < _CALL:
            call = self._made(type_name, depth)
            if call is not None:
                return call
        is_scalar = self.shelf.class_of(type_name) is None
        if is_scalar and chance < _CALL + _CONSTANT:
            return Constant(constant_of(type_name, self.rng))
        if self.rng.random() < _AGAIN:
            names = [name for name, kind in self.outer.items() if kind == type_name]
            if names:
                return Outer(self.rng.choice(names), type_name)
        is_renamed = self.rng.random() < _NEW_NAME
        name = self.rng.choice(_RENAMED) if is_renamed else argument.name
        return self._outer(name, type_name, is_new=True)

    def _made(self, type_name: str, depth: int) -> Call | None:
        """A call that returns this type; None if there is none or no depth is left."""
        is_scalar = self.shelf.class_of(type_name) is None
        makers = [
            (library, function)
            for library in self.shelf
            for function in library.functions
            if self.shelf.plain(function.returns) == type_name
            # The functions of a value of type ``any`` are unknown.
            or (is_scalar and self.shelf.accepts(type_name, function.returns))
        ]
        if depth <= 0 or not makers:
            return None
        return self.call(*self.rng.choice(makers), depth)

    def _outer(self, name: str, kind: str, *, is_new: bool = False) -> Outer:
        modules = {one.name for one in self.shelf if one.style == "import"}
        free_name, number = name, 2
        while free_name in modules or (
            free_name in self.outer and (is_new or self.outer[free_name] != kind)
        ):
            free_name, number = f"{name}{number}", number + 1
        self.outer[free_name] = kind
        return Outer(free_name, kind)
