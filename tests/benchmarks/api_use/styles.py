"""Programs that mean the same as a composition and look different."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field

from exploracoder_bench.api_use.expressions import Call, Constant, Expression, Outer, calls, walk
from exploracoder_bench.api_use.invented_libraries import Shelf

NEW = ("import {0}", "import {0} as lib_{0}", "from {0} import {1} as the_{0}_{1}")
ARGUMENTS = ("positional", "keyword", "mixed", "dictionary")
CONSTANTS = ("inline", "named", "loop")


def styled(expression: Expression, order: Sequence[Outer], shelf: Shelf, rng: random.Random) -> str:
    """A program whose function ``test`` returns what the expression says, written anyhow."""
    writer = _Writer(shelf, rng, {one.name for one in order})
    body, imports = writer.body(expression), writer.imports(expression)
    head = f"def test({', '.join(one.name for one in order)}):"
    inside = [*imports, *body] if rng.random() < 0.3 else body
    above = imports if inside is body else []
    return "\n".join([*above, head, *(f"    {line}" for line in inside)]) + "\n"


@dataclass
class _Writer:
    shelf: Shelf
    rng: random.Random
    taken: set[str]
    constants: list[Constant] = field(default_factory=list)
    steps: list[tuple[str, str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.new = self.rng.choice(NEW)
        self.arguments = self.rng.choice(ARGUMENTS)
        self.constant = self.rng.choice(CONSTANTS)
        self.has_steps = self.rng.random() < 0.5
        self.has_unused = self.rng.random() < 0.2

    def imports(self, expression: Expression) -> list[str]:
        pairs = ((self.shelf.find(one.library), one.function) for one in calls(expression))
        return sorted({self.new.format(one.name, f) for one, f in pairs if one.style == "import"})

    def body(self, expression: Expression) -> list[str]:
        result = self.value(expression)
        steps = [f"{name} = {text}" for name, text in self.steps]
        return [*self.fixed(), *self.unused(expression), *steps, f"return {result}"]

    def value(self, part: Expression) -> str:
        if isinstance(part, Outer):
            return part.name
        if isinstance(part, Constant):
            return self.constant_text(part)
        text = f"{self.callee(part)}({self.given(part)})"
        if not self.has_steps:
            return text
        step_name = next((name for name, other in self.steps if other == text), None)
        if step_name is None:
            step_name = next(name for n in range(1, 99) if (name := f"step{n}") not in self.taken)
            self.taken.add(step_name)
            self.steps.append((step_name, text))
        return step_name

    def callee(self, call: Call) -> str:
        if call.on is not None:
            return f"({self.value(call.on)}).{call.function}"
        name = self.shelf.find(call.library).name
        template = ("{0}.{1}", "lib_{0}.{1}", "the_{0}_{1}")[NEW.index(self.new)]
        return template.format(name, call.function)

    def given(self, call: Call) -> str:
        pairs = [(name, self.value(value)) for name, value in call.arguments]
        if self.arguments == "positional":
            return ", ".join(value for _, value in pairs)
        if self.arguments == "dictionary" and pairs:
            return "**{" + ", ".join(f"{name!r}: {value}" for name, value in pairs) + "}"
        first = self.rng.randint(0, len(pairs)) if self.arguments == "mixed" else 0
        keywords = pairs[first:]
        self.rng.shuffle(keywords)
        positionals = [value for _, value in pairs[:first]]
        return ", ".join([*positionals, *(f"{name}={value}" for name, value in keywords)])

    def constant_text(self, constant: Constant) -> str:
        if self.constant == "inline":
            return repr(constant.value)
        self.constants.append(constant)
        at = len(self.constants) - 1
        return f"the_{at}" if self.constant == "named" else f"fixed[{at}]"

    def fixed(self) -> list[str]:
        texts = [repr(one.value) for one in self.constants]
        if self.constant == "named" or not texts:
            return [f"the_{at} = {text}" for at, text in enumerate(texts)]
        return ["fixed = []", f"for one in [{', '.join(texts)}]:", "    fixed.append(one)"]

    def unused(self, expression: Expression) -> list[str]:
        if not self.has_unused:
            return []
        lines = ["print('working')"]
        for part in walk(expression):
            library = self.shelf.class_of(part.type) if isinstance(part, Outer) else None
            bare = [one for one in library.functions if not one.arguments] if library else []
            if isinstance(part, Outer) and bare:
                return [*lines, f"{part.name}.{bare[0].name}()"]
        return lines
