"""The plain program for a composition."""

from __future__ import annotations

from collections.abc import Sequence

from exploracoder_bench.api_use.expressions import Call, Constant, Expression, Outer, calls
from exploracoder_bench.api_use.invented_libraries import Shelf


def program(
    expression: Expression, order: Sequence[Outer], shelf: Shelf, *, function: str = "test"
) -> str:
    """A program whose ``function`` takes ``order`` and returns what the expression says."""
    libraries = (shelf.find(call.library) for call in calls(expression))
    imports = [
        f"import {name}\n" for name in sorted({x.name for x in libraries if x.style == "import"})
    ]
    names = ", ".join(one.name for one in order)
    return f"{''.join(imports)}def {function}({names}):\n    return {_text(expression, shelf)}\n"


def _text(part: Expression, shelf: Shelf) -> str:
    if isinstance(part, Outer):
        return part.name
    if isinstance(part, Constant):
        return repr(part.value)
    arguments = ", ".join(_text(value, shelf) for _, value in part.arguments)
    return f"{_on(part, shelf)}.{part.function}({arguments})"


def _on(call: Call, shelf: Shelf) -> str:
    if call.on is None:
        return shelf.find(call.library).name
    # A dot after a number would be its decimal point: 5 .f and not 5.f
    text = _text(call.on, shelf)
    return f"({text})" if isinstance(call.on, Constant) else text
