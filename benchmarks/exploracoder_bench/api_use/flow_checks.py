"""The check of a problem: whether a function's result comes about as the problem asks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from exploracoder_bench.api_use.expressions import Call, Constant, Expression, Outer
from exploracoder_bench.api_use.invented_libraries import VALUES_MODULE, Shelf
from exploracoder_bench.api_use.packages import class_home
from exploracoder_bench.api_use.recorded_values import (
    RUNS,
    Kind,
    arguments_of,
    key_of,
    recorded,
)


def check_of(function: str, expression: Call, order: Sequence[Outer], shelf: Shelf) -> str:
    """Code that raises AssertionError unless ``function(*order)`` computes the expression.

    It holds hashes of the data flow, not the flow: who reads it does not learn the answer.
    """
    parameters = [(one.name, class_home(one.type, shelf) or one.type) for one in order]
    # Here there are no packages; a class makes no difference to a value's key.
    plain: list[tuple[str, Kind]] = [
        (one.name, "any" if class_home(one.type, shelf) else one.type) for one in order
    ]
    keys = []
    for run in range(RUNS):
        values = arguments_of(plain, run)
        by_name = {one.name: value for one, value in zip(order, values, strict=True)}
        keys.append(key_of(_value(expression, by_name, shelf)))
    return (
        f"from {VALUES_MODULE} import check as _check_flow\n"
        f"_check_flow({function}, {parameters!r}, {keys!r})\n"
    )


def _value(part: Expression, values: Mapping[str, Any], shelf: Shelf) -> Any:
    """What the expression comes to, with these values of the outer arguments."""
    if isinstance(part, Outer):
        return values[part.name]
    if isinstance(part, Constant):
        return part.value
    inputs = part.arguments if part.on is None else (("self", part.on), *part.arguments)
    arguments = {name: _value(value, values, shelf) for name, value in inputs}
    return recorded(f"{shelf.find(part.library).name}.{part.function}", arguments)
