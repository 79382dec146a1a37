"""Programs for a composition: the plain one, and many that mean the same and look different."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from exploracoder_bench.api_use.expressions import (
    Call,
    Constant,
    Expression,
    Outer,
    calls,
    walk,
)
from exploracoder_bench.api_use.libraries import Shelf

Arguments = Literal["positional", "keyword", "mixed", "dictionary"]
Imports = Literal["module", "alias", "from", "inside"]
Constants = Literal["inline", "named", "loop"]


@dataclass(frozen=True, slots=True)
class Style:
    """How a program is written; none of it changes what it means."""

    arguments: Arguments = "positional"
    imports: Imports = "module"
    constants: Constants = "inline"
    has_steps: bool = False
    has_unused: bool = False


PLAIN = Style()


def random_style(rng: random.Random) -> Style:
    """Any of the styles."""
    arguments: tuple[Arguments, ...] = ("positional", "keyword", "mixed", "dictionary")
    imports: tuple[Imports, ...] = ("module", "alias", "from", "inside")
    constants: tuple[Constants, ...] = ("inline", "named", "loop")
    return Style(
        rng.choice(arguments),
        rng.choice(imports),
        rng.choice(constants),
        has_steps=rng.random() < 0.5,
        has_unused=rng.random() < 0.2,
    )


def header(expression: Expression, order: Sequence[Outer], shelf: Shelf, function: str) -> str:
    """The imports and the ``def`` line that a prompt ends with."""
    modules = _modules(expression, shelf)
    lines = [f"import {name}" for name in modules]
    return "\n".join([*lines, f"def {function}({', '.join(one.name for one in order)}):"])


def program(
    expression: Expression,
    order: Sequence[Outer],
    shelf: Shelf,
    *,
    function: str = "test",
    style: Style = PLAIN,
    rng: random.Random | None = None,
) -> str:
    """A program whose function returns what the expression says.

    Args:
        expression: What it is to return.
        order: The arguments of its function.
        shelf: The libraries.
        function: Its name.
        style: How it is written.
        rng: Decides what the style leaves open.
    """
    writer = _Writer(shelf, style, rng or random.Random(0), {one.name for one in order})
    body = writer.body(expression)
    imports = writer.imports(expression)
    inside = [f"    {line}" for line in ([*imports, *body] if style.imports == "inside" else body)]
    head = [] if style.imports == "inside" else imports
    given = ", ".join(one.name for one in order)
    return "\n".join([*head, f"def {function}({given}):", *inside]) + "\n"


def _modules(expression: Expression, shelf: Shelf) -> list[str]:
    found = (shelf.find(call.library) for call in calls(expression))
    return sorted({one.name for one in found if one.style == "import"})


@dataclass(slots=True)
class _Writer:
    shelf: Shelf
    style: Style
    rng: random.Random
    taken: set[str]
    constants: list[Constant] = field(default_factory=list)
    steps: list[tuple[str, str]] = field(default_factory=list)

    def imports(self, expression: Expression) -> list[str]:
        made = calls(expression)
        if self.style.imports == "from":
            pairs = ((self.shelf.find(one.library), one.function) for one in made)
            found = sorted({(one.name, name) for one, name in pairs if one.style == "import"})
            return [f"from {home} import {name} as the_{home}_{name}" for home, name in found]
        modules = _modules(expression, self.shelf)
        if self.style.imports == "alias":
            return [f"import {name} as lib_{name}" for name in modules]
        return [f"import {name}" for name in modules]

    def body(self, expression: Expression) -> list[str]:
        result = self._value(expression)
        lines = [*self._constants(), *self._unused(expression)]
        lines += [f"{name} = {text}" for name, text in self.steps]
        return [*lines, f"return {result}"]

    def _value(self, part: Expression) -> str:
        if isinstance(part, Outer):
            return part.name
        if isinstance(part, Constant):
            return self._constant(part)
        text = f"{self._callee(part)}({self._given(part)})"
        if not self.style.has_steps:
            return text
        known = next((name for name, other in self.steps if other == text), None)
        if known is not None:
            return known
        name = self._new_name("step")
        self.steps.append((name, text))
        return name

    def _callee(self, call: Call) -> str:
        if call.on is not None:
            on = self._value(call.on)
            # A number's dot would be its point: 5 .f and not 5.f
            return (
                f"({on}).{call.function}"
                if isinstance(call.on, Constant)
                else (f"{on}.{call.function}")
            )
        module = self.shelf.find(call.library).name
        if self.style.imports == "from":
            return f"the_{module}_{call.function}"
        return f"{'lib_' if self.style.imports == 'alias' else ''}{module}.{call.function}"

    def _given(self, call: Call) -> str:
        pairs = [(name, self._value(value)) for name, value in call.arguments]
        if self.style.arguments == "positional":
            return ", ".join(value for _, value in pairs)
        if self.style.arguments == "dictionary" and pairs:
            return "**{" + ", ".join(f"{name!r}: {value}" for name, value in pairs) + "}"
        first = self.rng.randint(0, len(pairs)) if self.style.arguments == "mixed" else 0
        named = pairs[first:]
        self.rng.shuffle(named)
        given = [value for _, value in pairs[:first]]
        return ", ".join([*given, *(f"{name}={value}" for name, value in named)])

    def _constant(self, constant: Constant) -> str:
        if self.style.constants == "inline":
            return repr(constant.value)
        self.constants.append(constant)
        at = len(self.constants) - 1
        return f"the_{at}" if self.style.constants == "named" else f"fixed[{at}]"

    def _constants(self) -> list[str]:
        texts = [repr(one.value) for one in self.constants]
        if not texts:
            return []
        if self.style.constants == "named":
            return [f"the_{at} = {text}" for at, text in enumerate(texts)]
        return ["fixed = []", f"for one in [{', '.join(texts)}]:", "    fixed.append(one)"]

    def _unused(self, expression: Expression) -> list[str]:
        if not self.style.has_unused:
            return []
        lines = ["print('working')"]
        for part in walk(expression):
            library = self.shelf.class_of(part.type) if isinstance(part, Outer) else None
            bare = [one for one in library.functions if not one.arguments] if library else []
            if isinstance(part, Outer) and bare:
                return [*lines, f"{part.name}.{bare[0].name}()"]
        return lines

    def _new_name(self, stem: str) -> str:
        number = len(self.steps) + 1
        while f"{stem}{number}" in self.taken:
            number += 1
        self.taken.add(f"{stem}{number}")
        return f"{stem}{number}"
