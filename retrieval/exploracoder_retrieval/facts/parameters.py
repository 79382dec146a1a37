"""Parameters of functions, read from syntax and written as signatures."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from functools import lru_cache

from exploracoder_retrieval.facts.fact_types import Function, Parameter, ParameterKind


def read_parameters(arguments: ast.arguments) -> tuple[Parameter, ...]:
    """All parameters, in the order in which they are written."""
    positional = [*arguments.posonlyargs, *arguments.args]
    defaults: list[ast.expr | None] = [None] * (len(positional) - len(arguments.defaults))
    defaults += arguments.defaults
    parameters = []
    for number, (argument, default) in enumerate(zip(positional, defaults, strict=True)):
        kind: ParameterKind = "posonly" if number < len(arguments.posonlyargs) else "pos"
        parameters.append(_parameter(argument, kind, default))
    if arguments.vararg:
        parameters.append(_parameter(arguments.vararg, "vararg", None))
    for argument, kw_default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        parameters.append(_parameter(argument, "kwonly", kw_default))
    if arguments.kwarg:
        parameters.append(_parameter(arguments.kwarg, "kwarg", None))
    return tuple(parameters)


@lru_cache(maxsize=4096)
def parse_expression(text: str) -> ast.expr | None:
    """The AST of an expression, not to be modified; None if invalid, such as a truncated one."""
    try:
        return ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def unparse(node: ast.expr | None) -> str | None:
    """Source text of an expression, on one line."""
    match node:
        case None:
            return None
        # Most annotations and values are one of these, and `ast.unparse` is slow.
        case ast.Name() | ast.Attribute() if name := dotted(node):
            return name
        case ast.Constant(value=None | bool() | int() as value):
            return repr(value)
    return " ".join(ast.unparse(node).split())


def dotted(node: ast.expr | None) -> str | None:
    """``a.b.c`` of names and attributes; None for anything else."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(parts)]) if isinstance(node, ast.Name) else None


def signature_text(function: Function, name: str | None = None) -> str:
    """``async def name(a, /, b: int=1, *, c) -> str``; decorators are left out."""
    result = f" -> {function.returns}" if function.returns else ""
    head = "async def" if function.is_async else "def"
    return f"{head} {name or function.name}({parameters_text(function.parameters)}){result}"


def parameters_text(parameters: Sequence[Parameter]) -> str:
    """The parameters as they appear between the parentheses."""
    return ", ".join(_texts(parameters))


def is_opaque(function: Function) -> bool:
    """Whether nothing is known about the parameters, as with many compiled functions."""
    names = [parameter.name for parameter in function.parameters]
    return [name for name in names if name not in {"self", "cls"}] == ["args", "kwargs"]


def _texts(parameters: Sequence[Parameter]) -> Iterator[str]:
    before: ParameterKind | None = None
    for parameter in parameters:
        if before == "posonly" and parameter.kind != "posonly":
            yield "/"
        if parameter.kind == "kwonly" and before not in ("kwonly", "vararg"):
            yield "*"
        yield _text(parameter)
        before = parameter.kind
    if before == "posonly":
        yield "/"


def _text(parameter: Parameter) -> str:
    stars = {"vararg": "*", "kwarg": "**"}.get(parameter.kind, "")
    text = f"{stars}{parameter.name}"
    if parameter.annotation:
        text += f": {parameter.annotation}"
    if parameter.default is None:
        return text
    return (
        f"{text} = {parameter.default}" if parameter.annotation else f"{text}={parameter.default}"
    )


def _parameter(argument: ast.arg, kind: ParameterKind, default: ast.expr | None) -> Parameter:
    return Parameter(
        name=argument.arg,
        kind=kind,
        annotation=unparse(argument.annotation),
        default=unparse(default),
    )
