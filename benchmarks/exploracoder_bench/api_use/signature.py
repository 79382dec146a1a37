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
    given = ", ".join(f"{name}={write(value)}" for name, value in expression.arguments)
    return f"{on}.{expression.function}({given})"


def ordered(expression: Expression, names: Sequence[str] | None) -> list[Outer]:
    """The outer arguments, in the order that a problem gives or else in order of appearance.

    Raises:
        InputError: The names are not those of the outer arguments.
    """
    found = {one.name: one for one in outers(expression)}
    if names is None:
        return list(found.values())
    if sorted(names) != sorted(found):
        raise InputError(
            f"The order {', '.join(names)} does not name the arguments that are left free:"
            f" {', '.join(found) or 'there are none'}."
        )
    return [found[name] for name in names]


@dataclass(slots=True)
class _Reader:
    signature: str
    shelf: Shelf
    types: dict[str, str] = field(default_factory=dict)
    taken: set[str] = field(default_factory=set)

    def read(self, tree: ast.expr) -> Call:
        named = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
        # An argument with a module's name would hide the module from the program.
        self.taken = named | self._modules()
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
        given = {
            str(keyword.arg): self._value(keyword.value, function, str(keyword.arg))
            for keyword in tree.keywords
        }
        arguments = tuple(
            (one.name, given.get(one.name) or self._free(one.name, one.type))
            for one in function.arguments
        )
        return Call(library.id, function.name, on, arguments)

    def _object(self, tree: ast.expr) -> tuple[Library, Expression | None]:
        if isinstance(tree, ast.Call):
            on = self._call(tree)
            returns = self.shelf.find(on.library).function(on.function).returns
            found = self.shelf.class_of(returns)
            if found is None:
                raise self._wrong(f"{on.function} returns {returns}, which has no functions")
            return found, on
        if not isinstance(tree, ast.Name):
            raise self._wrong("a call begins with a library's name")
        library = self.shelf.find(tree.id)
        if library.style == "import":
            return library, None
        return library, self._outer(library.name, library.id)

    def _value(self, tree: ast.expr, function: Function, name: str) -> Expression:
        wanted = next((one.type for one in function.arguments if one.name == name), None)
        if wanted is None:
            raise self._wrong(f"{function.name} has no argument {name!r}")
        if isinstance(tree, ast.Name) and tree.id in self._modules():
            raise self._wrong(f"{tree.id} is a library; give the argument another name")
        if isinstance(tree, ast.Name):
            return self._outer(tree.id, wanted)
        if isinstance(tree, ast.Call):
            call = self._call(tree)
            given = self.shelf.find(call.library).function(call.function).returns
            return self._fitting(call, wanted, given, name)
        value = ast.literal_eval(tree)
        if not isinstance(value, (int, float, str, bool, type(None))):
            raise self._wrong(f"{name} is no plain constant")
        return self._fitting(Constant(value), wanted, _type_of(value), name)

    def _fitting(self, value: Expression, wanted: str, given: str, name: str) -> Expression:
        if not self.shelf.accepts(wanted, given):
            raise self._wrong(f"{name} takes {wanted}, not {given}")
        return value

    def _outer(self, name: str, kind: str) -> Outer:
        plain = self.shelf.plain(kind)
        known = self.types.setdefault(name, plain)
        if not (self.shelf.accepts(known, plain) or self.shelf.accepts(plain, known)):
            raise self._wrong(f"{name} is used as {known} and as {plain}")
        return Outer(name, known)

    def _free(self, name: str, kind: str) -> Outer:
        """An outer argument for one that was not mentioned; no two share one."""
        chosen, number = name, 2
        while chosen in self.taken:
            chosen, number = f"{name}{number}", number + 1
        self.taken.add(chosen)
        return self._outer(chosen, kind)

    def _modules(self) -> set[str]:
        return {one.name for one in self.shelf if one.style == "import"}

    def _wrong(self, why: str) -> InputError:
        return InputError(f"The signature {self.signature[:80]!r} cannot be used: {why}.")


def _type_of(value: Scalar) -> str:
    return "any" if value is None else type(value).__name__
