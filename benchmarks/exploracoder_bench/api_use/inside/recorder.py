"""Objects that stand in for what a library would return, and record what is done with them."""

from __future__ import annotations

import operator
import secrets
import types
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn

from exploracoder_bench.api_use.inside.decisions import Decisions, Trees
from exploracoder_bench.api_use.inside.unknown_values import value_class
from exploracoder_bench.api_use.inside.value_kinds import flat, is_of, is_scalar

MOST_NODES = 5_000
MOST_DECISIONS = 40
_DEEPEST = 50
_CONSTANTS = (int, float, complex, str, bytes, bool, type(None))


@dataclass(frozen=True)
class Shape:
    """A library as the recorder needs it; a class library's functions belong to a type."""

    id: str
    module: str
    style: str
    functions: Mapping[str, tuple[Sequence[str], str]]


class RunSpoiled(BaseException):
    """The run is void. A candidate that catches this gains nothing: the recorder has noted it."""


@dataclass
class Recorder:
    """One run: its nodes in the order in which they were made, and the decisions on values.

    Attributes:
        libraries: By id.
        planned_answers: How conditions on unknown values turn out, one after another; then False.
        look: In which of the ``LOOKS`` ways values are shown.
        nodes: ``[kind, label, [[input's name, input's number], …]]``.
        secret: Seeds the texts of values in this run.
        spoil_reason: Why the run is void; empty if it is not.
    """

    libraries: Mapping[str, Shape]
    planned_answers: Sequence[bool] = ()
    look: int = 0
    nodes: list[list[Any]] = field(default_factory=list)
    secret: str = field(default_factory=secrets.token_hex)
    spoil_reason: str = ""
    _trees: Trees = field(default_factory=Trees)
    _alive: list[object] = field(default_factory=list)
    _numbers: dict[int, int] = field(default_factory=dict)
    _types: dict[int, str] = field(default_factory=dict)
    _classes: dict[int, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._decisions = Decisions(self.planned_answers)
        self._class = value_class(self)

    @property
    def decisions(self) -> list[tuple[int, bool]]:
        """The number of each node whose truth was asked for, and the answer."""
        return self._decisions.answers

    def outer(self, place: int, name: str, kind: str) -> object:
        """The value of an argument of the function that is asked for."""
        return self.value("outer", [place, name], [], kind)

    def module(self, shape: Shape) -> types.ModuleType:
        """What importing a library gives: its functions, or its class."""
        module = _Module(shape.module)
        if shape.style == "class":
            library_class = _class(self, shape)
            self._alive.append(library_class)
            self._classes[id(library_class)] = shape.id
            vars(module)[_class_name(shape.module)] = library_class
        else:
            vars(module).update({name: self._function(shape, name) for name in shape.functions})
        return module

    def value(self, kind: str, label: object, inputs: list[list[Any]], type_name: str) -> object:
        """A value that comes from ``inputs``. Raises RunSpoiled when there are too many."""
        number = self._node(kind, label, inputs)
        instance = self._class()
        # An object that is kept alive shares its id with no other.
        self._alive.append(instance)
        self._numbers[id(instance)], self._types[id(instance)] = number, type_name
        return instance

    def number(self, value: object, depth: int = 0) -> int:
        """The node of any value, created if the value is not a recorded one."""
        if id(value) in self._numbers:
            return self._numbers[id(value)]
        if type(value) in _CONSTANTS:
            return self._node("constant", [type(value).__name__, repr(value)], [])
        if depth < _DEEPEST and type(value) in (list, tuple):
            parts = [[str(at), self.number(part, depth + 1)] for at, part in enumerate(value)]  # type: ignore[arg-type, var-annotated] # a list or tuple, see the line before
            return self._node(type(value).__name__, "", parts)
        if depth < _DEEPEST and type(value) is dict:
            pairs = [
                [f"{word} {at}", self.number(part, depth + 1)]
                for at, pair in enumerate(value.items())
                for word, part in zip(("key", "value"), pair, strict=True)
            ]
            return self._node("dict", "", pairs)
        return self._node("other", _what(value), [])

    def decide(self, value: object) -> bool:
        """Whether an unknown value is true: as planned, else False. Raises RunSpoiled."""
        number = self._numbers[id(value)]
        answer = self._decisions.answer(number, self.nodes[number], self._trees)
        if len(self.decisions) > MOST_DECISIONS:
            self.spoil(f"decides more than {MOST_DECISIONS} times on values that nobody knows")
        return answer

    def member(self, value: object, name: str) -> Callable[..., object]:
        """The member function of a recorded value.

        Raises:
            AttributeError: The library is known, and its objects have no function of that name.
            RunSpoiled: Nobody knows whether there is one.
        """
        type_name = self._types[id(value)]
        shape = self.libraries.get(type_name)
        if shape is None or shape.style != "class" or name.startswith("__"):
            self.ask(name)
        if name not in shape.functions:
            raise AttributeError(f"a value of type {type_name} has no function {name}")
        return self._function(shape, name, value)

    def is_instance(self, value: object, classinfo: object) -> bool:
        """The candidate's ``isinstance``. Raises RunSpoiled if the documentation leaves it open."""
        if id(value) not in self._numbers:
            classes = tuple(one for one in flat(classinfo) if id(one) not in self._classes)
            return isinstance(value, classes)  # type: ignore[arg-type] # it raises TypeError itself
        answer = is_of(self._types[id(value)], classinfo, lambda one: self._classes.get(id(one)))
        if answer is None:
            self.ask("isinstance")
        return answer

    def is_callable(self, value: object) -> bool:
        """The candidate's ``callable``. Raises RunSpoiled if the documentation leaves it open."""
        if id(value) not in self._numbers:
            return callable(value)
        if not is_scalar(self._types[id(value)]):
            self.ask("callable")
        return False

    def call(self, shape: Shape, name: str, on: object, args: Any, kwargs: Any) -> object:
        """Record a call. Raises TypeError when its arguments do not fit."""
        arguments, returns = shape.functions[name]
        bound = _bind(name, arguments, args, kwargs)
        inputs = [["on", self.number(on)]] if shape.style == "class" else []
        inputs += [[argument, self.number(bound[argument])] for argument in arguments]
        return self.value("call", f"{shape.id}.{name}", inputs, returns)

    def ask(self, what: str) -> NoReturn:
        """End the run because the candidate needs to know a value to go on. Raises RunSpoiled."""
        self.spoil(f"asks of a value what nobody knows: its {what}")

    def spoil(self, why: str) -> NoReturn:
        """End the run for good. Raises RunSpoiled."""
        self.spoil_reason = self.spoil_reason or why
        raise RunSpoiled(why)

    def _function(self, shape: Shape, name: str, on: object = None) -> Callable[..., object]:
        def function(*args: object, **kwargs: object) -> object:
            return self.call(shape, name, on, args, kwargs)

        return function

    def _node(self, kind: str, label: object, inputs: list[list[Any]]) -> int:
        if len(self.nodes) >= MOST_NODES:
            self.spoil(f"makes more than {MOST_NODES:,} values")
        self.nodes.append([kind, label, inputs])
        self._trees.add(kind, label, inputs)
        return len(self.nodes) - 1


class _Module(types.ModuleType):
    """A library's module, which cannot be changed."""

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"the library cannot be changed: {name}")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"the library cannot be changed: {name}")


def _class(recorder: Recorder, shape: Shape) -> object:
    """The class of a class library; calling it makes a new object, which is no argument.

    Its state lives in closures: an attribute, whatever its name, could be reached.
    """

    def call(self: object, *args: object, **kwargs: object) -> object:
        inputs = [[str(at), recorder.number(value)] for at, value in enumerate(args)]
        inputs += [[name, recorder.number(value)] for name, value in kwargs.items()]
        return recorder.value("new", shape.id, inputs, shape.id)

    def find(self: object, name: str) -> Callable[..., object]:
        if name not in shape.functions:
            raise AttributeError(f"{shape.id} has no function {name}")

        def function(on: object, *args: object, **kwargs: object) -> object:
            return recorder.call(shape, name, on, args, kwargs)

        return function

    def change(self: object, name: str, *_: object) -> None:
        raise AttributeError(f"the library cannot be changed: {name}")

    members = {"__slots__": (), "__call__": call, "__getattr__": find}
    members |= {"__setattr__": change, "__delattr__": change}
    return type(_class_name(shape.module), (), members)()


def _bind(
    name: str, arguments: Sequence[str], args: Sequence[object], kwargs: Mapping[str, object]
) -> dict[str, object]:
    if len(args) > len(arguments):
        raise TypeError(f"{name}() takes {len(arguments)} arguments, {len(args)} were given")
    bound = dict(zip(arguments, args, strict=False))
    for key, value in kwargs.items():
        if key not in arguments:
            raise TypeError(f"{name}() has no argument {key}")
        if key in bound:
            raise TypeError(f"{name}() got {key} twice")
        bound[key] = value
    missing = [argument for argument in arguments if argument not in bound]
    if missing:
        raise TypeError(f"{name}() misses {', '.join(missing)}")
    return bound


def _class_name(module: str) -> str:
    return "".join(part.capitalize() for part in module.split("_"))


def _what(value: object) -> str:
    """Describe a value that no library returned, in words that it cannot influence."""
    kind = type(value)
    if kind is types.FunctionType:
        return "a function that was not called"
    name = operator.attrgetter("__name__")(kind)
    return f"an object of the type {name}" if type(name) is str else "an object"
