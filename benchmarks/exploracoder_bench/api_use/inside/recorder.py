"""Objects that stand for what a library would give, and write down what is done with them."""

from __future__ import annotations

import operator
import random
import types
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn

MOST_NODES = 5_000
MOST_DECISIONS = 40
_DEEPEST = 50
_CONSTANTS = (int, float, complex, str, bytes, bool, type(None))
_BINARY = (
    [
        "add",
        "sub",
        "mul",
        "truediv",
        "floordiv",
        "mod",
        "pow",
        "matmul",
        "and",
        "or",
        "xor",
        "lshift",
        "rshift",
    ],
    ["eq", "ne", "lt", "le", "gt", "ge", "getitem"],
)
_UNARY = ["neg", "pos", "abs", "invert", "round", "trunc", "floor", "ceil"]


@dataclass(frozen=True)
class Shape:
    """A library as the recorder needs it; a class library's functions belong to a type."""

    id: str
    module: str
    style: str
    functions: Mapping[str, tuple[Sequence[str], str]]


class Spoiled(BaseException):
    """The run says nothing any more. A candidate that catches it gains nothing: it is noted."""


@dataclass
class Recorder:
    """One run: its nodes in the order in which they were made, and the decisions on values.

    Attributes:
        libraries: By id.
        planned: What conditions on unknown values are taken to be, one after another; then False.
        nodes: ``[kind, label, [[input's name, input's number], …]]``.
        decisions: Number of the node that was asked for its truth, and the answer.
        spoiled: Why the run says nothing; empty if it does.
    """

    libraries: Mapping[str, Shape]
    planned: Sequence[bool] = ()
    nodes: list[list[Any]] = field(default_factory=list)
    decisions: list[tuple[int, bool]] = field(default_factory=list)
    spoiled: str = ""
    _alive: list[object] = field(default_factory=list)
    _numbers: dict[int, int] = field(default_factory=dict)
    _types: dict[int, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._class = _recorded_class(self)

    def outer(self, place: int, name: str, kind: str) -> object:
        """The value of an argument of the function that is asked for."""
        return self.value("outer", [place, name], [], kind)

    def module(self, shape: Shape) -> types.ModuleType:
        """What importing a library gives: its functions, or its class."""
        module = _Module(shape.module)
        if shape.style == "class":
            vars(module)[_class_name(shape.module)] = _Class(self, shape)
        else:
            vars(module).update({name: self._function(shape, name) for name in shape.functions})
        return module

    def value(self, kind: str, label: object, inputs: list[list[Any]], type_name: str) -> object:
        """A value that comes from ``inputs``. Raises Spoiled when there are too many."""
        number = self._node(kind, label, inputs)
        made = self._class()
        # What is kept alive keeps its id to itself.
        self._alive.append(made)
        self._numbers[id(made)], self._types[id(made)] = number, type_name
        return made

    def number(self, value: object, depth: int = 0) -> int:
        """The node of any value, made now if it is no recorded one."""
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
        """Whether an unknown value is true: as planned, else False. Raises Spoiled."""
        at = len(self.decisions)
        if at >= MOST_DECISIONS:
            self.spoil(f"decides more than {MOST_DECISIONS} times on values that nobody knows")
        answer = self.planned[at] if at < len(self.planned) else False
        self.decisions.append((self._numbers[id(value)], answer))
        return answer

    def function_of(self, value: object, name: str) -> Callable[..., object]:
        """The member function of a recorded value. Raises AttributeError when there is none."""
        type_name = self._types[id(value)]
        shape = self.libraries.get(type_name)
        if shape is None or shape.style != "class" or name not in shape.functions:
            raise AttributeError(f"a value of type {type_name} has no function {name}")
        return self._function(shape, name, value)

    def call(self, shape: Shape, name: str, on: object, given: Any, named: Any) -> object:
        """Write down a call. Raises TypeError when its arguments do not fit."""
        arguments, returns = shape.functions[name]
        bound = _bind(name, arguments, given, named)
        inputs = [["on", self.number(on)]] if shape.style == "class" else []
        inputs += [[argument, self.number(bound[argument])] for argument in arguments]
        return self.value("call", f"{shape.id}.{name}", inputs, returns)

    def spoil(self, why: str) -> NoReturn:
        """End the run for good. Raises Spoiled."""
        self.spoiled = self.spoiled or why
        raise Spoiled(why)

    def _function(self, shape: Shape, name: str, on: object = None) -> Callable[..., object]:
        def function(*given: object, **named: object) -> object:
            return self.call(shape, name, on, given, named)

        return function

    def _node(self, kind: str, label: object, inputs: list[list[Any]]) -> int:
        if len(self.nodes) >= MOST_NODES:
            self.spoil(f"makes more than {MOST_NODES:,} values")
        self.nodes.append([kind, label, inputs])
        return len(self.nodes) - 1


class _Module(types.ModuleType):
    """A library: nobody may put something else into it."""

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"the library cannot be changed: {name}")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"the library cannot be changed: {name}")


class _Class:
    """The class of a class library: called, it makes a new object, which is no argument."""

    _recorder: Recorder
    _shape: Shape

    def __init__(self, recorder: Recorder, shape: Shape) -> None:
        object.__setattr__(self, "_recorder", recorder)
        object.__setattr__(self, "_shape", shape)

    def __call__(self, *given: object, **named: object) -> object:
        recorder, shape = self._recorder, self._shape
        inputs = [[str(at), recorder.number(value)] for at, value in enumerate(given)]
        inputs += [[name, recorder.number(value)] for name, value in named.items()]
        return recorder.value("new", shape.id, inputs, shape.id)

    def __getattr__(self, name: str) -> Callable[..., object]:
        if name not in self._shape.functions:
            raise AttributeError(f"{self._shape.id} has no function {name}")

        def function(on: object, *given: object, **named: object) -> object:
            return self._recorder.call(self._shape, name, on, given, named)

        return function

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"the library cannot be changed: {name}")


def _recorded_class(recorder: Recorder) -> type:
    """The class of one run's values. What it knows lies in the recorder, not in the values."""
    # Its length differs from run to run, so that nothing can be computed from it unnoticed.
    text = "<" + "x" * random.randint(20, 90) + ">"
    members: dict[str, Any] = {
        "__slots__": (),
        "__repr__": lambda self: text,
        "__str__": lambda self: text,
        "__format__": lambda self, how: text,
        "__hash__": lambda self: hash(id(self)),
        "__bool__": lambda self: recorder.decide(self),
        "__getattr__": lambda self, name: recorder.function_of(self, name),
        "__copy__": lambda self: self,
        "__deepcopy__": lambda self, memo: self,
        "__iter__": None,
        "__contains__": None,
    }
    for name in (*_BINARY[0], *_BINARY[1]):
        members[f"__{name}__"] = _operation(recorder, name)
    for name in _BINARY[0]:
        members[f"__r{name}__"] = _operation(recorder, name, is_turned=True)
    for name in _UNARY:
        members[f"__{name}__"] = _operation(recorder, name)
    return type("value", (), members)


def _operation(recorder: Recorder, name: str, *, is_turned: bool = False) -> Callable[..., object]:
    def operation(self: object, *others: object) -> object:
        operands = (*others, self) if is_turned else (self, *others)
        inputs = [[str(at), recorder.number(one)] for at, one in enumerate(operands)]
        return recorder.value("operation", name, inputs, "any")

    return operation


def _bind(
    name: str, arguments: Sequence[str], given: Sequence[object], named: Mapping[str, object]
) -> dict[str, object]:
    if len(given) > len(arguments):
        raise TypeError(f"{name}() takes {len(arguments)} arguments, {len(given)} were given")
    bound = dict(zip(arguments, given, strict=False))
    for key, value in named.items():
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
    """A value that no library gave, in words that it had no say in."""
    kind = type(value)
    if kind is types.FunctionType:
        return "a function that was not called"
    name = operator.attrgetter("__name__")(kind)
    return f"an object of the type {name}" if type(name) is str else "an object"
