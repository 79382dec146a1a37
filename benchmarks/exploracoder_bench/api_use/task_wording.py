"""How libraries and compositions are put into words."""

from __future__ import annotations

from exploracoder_bench.api_use.expressions import Call, Constant, Expression, Outer
from exploracoder_bench.api_use.invented_libraries import Function, Library, Shelf


def python_style(library: Library, function: Function) -> str:
    """Like a Python listing (Measuring Novel API Use, figure 4)."""
    parameters = ", ".join(argument.name for argument in function.arguments)
    head = f"def {library.name}.{function.name}({parameters}):"
    return f"{head}\n    {function.doc}" if function.doc else head


def describe(expression: Call, shelf: Shelf) -> str:
    """What a function that returns this composition does; follows 'a function that'."""
    if not any(isinstance(part, Call) for part in expression.parts()):
        return _lowered(_doc(expression, shelf)) + _with(expression)
    steps: dict[Expression, int] = {}
    lines: list[str] = []
    _add(expression, shelf, steps, lines)
    return "does these steps and returns the last result:\n" + "\n".join(lines)


def _add(part: Expression, shelf: Shelf, steps: dict[Expression, int], lines: list[str]) -> str:
    """The words for a value; each call becomes one numbered step."""
    if isinstance(part, Outer):
        return part.name
    if isinstance(part, Constant):
        return repr(part.value)
    on = "" if part.on is None else f" Do it with {_add(part.on, shelf, steps, lines)}."
    arguments = [f"{name} is {_add(value, shelf, steps, lines)}" for name, value in part.arguments]
    if part not in steps:
        steps[part] = len(steps) + 1
        note = f" ({', '.join(arguments)})" if arguments else ""
        lines.append(f"{steps[part]}. {_doc(part, shelf)}{note}.{on}")
    return f"the result of step {steps[part]}"


def _with(call: Call) -> str:
    """The arguments that are fixed, or named differently from the library's."""
    clauses = []
    for name, value in call.arguments:
        if isinstance(value, Constant):
            clauses.append(f"{name} is always {value.value!r}")
        elif isinstance(value, Outer) and value.name != name:
            clauses.append(f"{name} is {value.name}")
    return f", where {' and '.join(clauses)}" if clauses else ""


def _doc(call: Call, shelf: Shelf) -> str:
    return shelf.find(call.library).function(call.function).doc.rstrip(".")


def _lowered(text: str) -> str:
    return text[:1].lower() + text[1:]
