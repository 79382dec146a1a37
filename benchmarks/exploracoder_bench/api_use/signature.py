"""The signature language: ``lib.f(k=v, …).g()`` (Measuring Novel API Use, section 3).

A value is a constant (fixed), a bare name (an outer argument of that name), or another call. An
argument that is not mentioned stays free and becomes an outer argument of its own.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass, field

from exploracoder.errors import InputError

from exploracoder_bench.api_use.expressions import (
    Call,
    Constant,
    Expression,
    Outer,
    Scalar,
    outers,
)
from exploracoder_bench.api_use.invented_libraries import Function, Library, Shelf

_MOST_CHARACTERS = 5_000


def parse(signature: str, shelf: Shelf) -> Call:
    """The calls that a signature stands for, with all arguments in the libraries' order.

    Raises:
        InputError: It is not in the language, names what no library has, or its types do not fit.
    """
    if len(signature) > _MOST_CHARACTERS:
        raise InputError(f"A signature has at most {_MOST_CHARACTERS:,} characters.")
    try:
        tree = ast.parse(signature.strip(), mode="eval").body
        return _Reader(signature, shelf).read(tree)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise InputError(f"The signature {signature[:80]!r} cannot be read: {error}.") from error


def write(expression: Expression) -> str:
    """The signature that stands for an expression, with every argument mentioned."""
    if isinstance(expression, Outer):
        return expression.name
    if isinstance(expression, Constant):
        return repr(expression.value)
    on = expression.library if expression.on is None else write(expression.on)
    arguments = ", ".join(f"{name}={write(value)}" for name, value in expression.arguments)
    return f"{on}.{expression.function}({arguments})"


def ordered(expression: Expression, names: Sequence[str] | None) -> list[Outer]:
    """The outer arguments, in the order that a problem gives or else in order of appearance.

    Raises:
        InputError: The names are not those of the outer arguments.
    """
    by_name = {one.name: one for one in outers(expression)}
    if names is None:
        return list(by_name.values())
    if sorted(names) != sorted(by_name):
        raise InputError(
            f"The order {', '.join(names)} does not name the arguments that are left free:"
            f" {', '.join(by_name) or 'there are none'}."
        )
    return [by_name[name] for name in names]


@dataclass(slots=True)
class _Reader:
    signature: str
    shelf: Shelf
    types: dict[str, str] = field(default_factory=dict)
    taken_names: set[str] = field(default_factory=set)

    def read(self, tree: ast.expr) -> Call:
        names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
        # An argument with a module's name would hide the module from the program.
        self.taken_names = names | self._modules()
        if not isinstance(tree, ast.Call):
            raise self._wrong("it is no call")
        return self._call(tree)

    def _call(self, tree: ast.Call) -> Call:
        if not isinstance(tree.func, ast.Attribute):
            raise self._wrong("a call is written library.function(…)")
        if tree.args or any(keyword.arg is None for keyword in tree.keywords):
            raise self._wrong("arguments are given by name: function(name=value)")
        library, on = self._object(tree.func.value)
        function = library.function(tree.func.attr)
        values = {
            str(keyword.arg): self._value(keyword.value, function, str(keyword.arg))
            for keyword in tree.keywords
        }
        arguments = tuple(
            (one.name, values.get(one.name) or self._free(one.name, one.type))
            for one in function.arguments
        )
        return Call(library.id, function.name, on, arguments)

    def _object(self, tree: ast.expr) -> tuple[Library, Expression | None]:
        if isinstance(tree, ast.Call):
            on = self._call(tree)
            returns = self.shelf.find(on.library).function(on.function).returns
            class_library = self.shelf.class_of(returns)
            if class_library is None:
                raise self._wrong(f"{on.function} returns {returns}, which has no functions")
            return class_library, on
        if not isinstance(tree, ast.Name):
            raise self._wrong("a call begins with a library's name")
        library = self.shelf.find(tree.id)
        if library.style == "import":
            return library, None
        return library, self._outer(library.name, library.id)

    def _value(self, tree: ast.expr, function: Function, name: str) -> Expression:
        parameter_type = next((one.type for one in function.arguments if one.name == name), None)
        if parameter_type is None:
            raise self._wrong(f"{function.name} has no argument {name!r}")
        if isinstance(tree, ast.Name) and tree.id in self._modules():
            raise self._wrong(f"{tree.id} is a library; give the argument another name")
        if isinstance(tree, ast.Name):
            return self._outer(tree.id, parameter_type)
        if isinstance(tree, ast.Call):
            call = self._call(tree)
            return_type = self.shelf.find(call.library).function(call.function).returns
            return self._fitting(call, parameter_type, return_type, name)
        value = ast.literal_eval(tree)
        if not isinstance(value, (int, float, str, bool, type(None))):
            raise self._wrong(f"{name} is no plain constant")
        if isinstance(value, (int, float)) and not abs(value) < 1e300:
            raise self._wrong(f"{name} is too large")
        return self._fitting(Constant(value), parameter_type, _type_of(value), name)

    def _fitting(
        self, value: Expression, parameter_type: str, value_type: str, name: str
    ) -> Expression:
        if not self.shelf.accepts(parameter_type, value_type):
            raise self._wrong(f"{name} takes {parameter_type}, not {value_type}")
        return value

    def _outer(self, name: str, kind: str) -> Outer:
        plain = self.shelf.plain(kind)
        known_type = self.types.setdefault(name, plain)
        if not (self.shelf.accepts(known_type, plain) or self.shelf.accepts(plain, known_type)):
            raise self._wrong(f"{name} is used as {known_type} and as {plain}")
        return Outer(name, known_type)

    def _free(self, name: str, kind: str) -> Outer:
        """An outer argument for one that was not mentioned; no two share one."""
        free_name, number = name, 2
        while free_name in self.taken_names:
            free_name, number = f"{name}{number}", number + 1
        self.taken_names.add(free_name)
        return self._outer(free_name, kind)

    def _modules(self) -> set[str]:
        return {one.name for one in self.shelf if one.style == "import"}

    def _wrong(self, why: str) -> InputError:
        return InputError(f"The signature {self.signature[:80]!r} cannot be used: {why}.")


def _type_of(value: Scalar) -> str:
    return "any" if value is None else type(value).__name__
