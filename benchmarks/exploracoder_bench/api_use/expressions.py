"""Composed calls of libraries' functions: what a problem asks for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

Scalar = int | float | str | bool | None


@dataclass(frozen=True, slots=True)
class Outer:
    """An argument of the function that is asked for."""

    name: str
    type: str = "any"


@dataclass(frozen=True, slots=True)
class Constant:
    """A value that the problem fixes."""

    value: Scalar


@dataclass(frozen=True, slots=True)
class Call:
    """A call; ``on`` is the object whose method is called, None for a module's function."""

    library: str
    function: str
    on: Expression | None
    arguments: tuple[tuple[str, Expression], ...]

    def parts(self) -> tuple[Expression, ...]:
        """The object and the arguments, in the order in which they are written."""
        values = tuple(value for _, value in self.arguments)
        return values if self.on is None else (self.on, *values)

    def with_parts(self, parts: tuple[Expression, ...]) -> Call:
        """The same call on and with other values."""
        on, values = (None, parts) if self.on is None else (parts[0], parts[1:])
        names = [name for name, _ in self.arguments]
        return replace(self, on=on, arguments=tuple(zip(names, values, strict=True)))


Expression = Outer | Constant | Call


def walk(expression: Expression) -> Iterator[Expression]:
    """All parts in the order in which they are written, inner before outer."""
    if isinstance(expression, Call):
        for part in expression.parts():
            yield from walk(part)
    yield expression


def calls(expression: Expression) -> list[Call]:
    """The calls, inner before outer."""
    return [part for part in walk(expression) if isinstance(part, Call)]


def outers(expression: Expression) -> list[Outer]:
    """The arguments of the function that is asked for, each once, in order of appearance."""
    by_name = {part.name: part for part in walk(expression) if isinstance(part, Outer)}
    return list(by_name.values())


def renamed(expression: Expression, names: dict[tuple[str, str], str]) -> Expression:
    """The same expression with functions renamed; ``names`` is keyed by library and name."""
    if not isinstance(expression, Call):
        return expression
    call = expression.with_parts(tuple(renamed(part, names) for part in expression.parts()))
    name = names.get((call.library, call.function), call.function)
    return replace(call, function=name)
