"""Signatures as text, as a person would write the call."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence

from exploracoder_retrieval.facts.fact_types import Class, Function, Parameter, Variable
from exploracoder_retrieval.facts.kinds import function_kind, is_overload, last_name
from exploracoder_retrieval.facts.parameters import is_opaque, parameters_text, parse_expression

MAX_DEFAULT_LENGTH = 60
MAX_OVERLOADS = 4
MAX_SIGNATURE_CHARS = 2_000
_MANAGERS = {"asynccontextmanager", "contextmanager"}
_MADE_SYNCHRONOUS = {"async_to_sync", "sync_compatible", "syncify"}


def function_signature(
    name: str, function: Function, overloads: Sequence[Function], *, bound: bool
) -> str:
    """``name(parameters) -> returns``; if ``bound``, without self or cls.

    Overloads, one per line, only if there is nothing better: an implementation shows defaults.
    """
    if is_overload(function) or (overloads and is_opaque(function)):
        lines = [_call(name, each, bound=bound) for each in overloads or (function,)]
        return "\n".join(list(dict.fromkeys(lines))[:MAX_OVERLOADS])
    return _call(name, function, bound=bound)


def class_signature(name: str, fields: Sequence[Parameter]) -> str:
    """The call of a data class, from its fields."""
    return f"{name}({parameters_text([_shown(field) for field in fields])})"


def signature_in_doc(name: str, doc: str) -> str:
    """The call that a compiled function's docstring often begins with; empty if it does not."""
    call, _ = _split_call(name, doc)
    return call


def without_signature(name: str, doc: str) -> str:
    """The docstring without the call that it may begin with."""
    _, rest = _split_call(name, doc)
    return rest


def clip_signature(signature: str) -> str:
    """A signature short enough for a prompt; a clipped one says how much is left out."""
    if len(signature) <= MAX_SIGNATURE_CHARS:
        return signature
    head = signature[:MAX_SIGNATURE_CHARS].rpartition(", ")[0] or signature[:MAX_SIGNATURE_CHARS]
    return f"{head}, … ({len(signature) - len(head)} more characters))"


def _split_call(name: str, doc: str) -> tuple[str, str]:
    # The call takes up the first line, or the whole first paragraph.
    for separator in ("\n", "\n\n"):
        head, _, rest = doc.strip().partition(separator)
        call = " ".join(head.split())
        # Most docstrings do not; compiling the pattern costs more than everything else here.
        if f"{name}(" in call and re.fullmatch(
            rf"(?:[\w.]+\.)?{re.escape(name)}\(.*\)(\s*->.*)?", call
        ):
            return call[call.index(f"{name}(") :], rest.strip()
    return "", doc


def attribute_type(item: Class | Function | Variable) -> str:
    """The annotated type of the value that an attribute yields."""
    if isinstance(item, Class):
        return ""
    annotation = _result(item) if isinstance(item, Function) else unquoted(item.annotation)
    is_shared = annotation.partition("[")[0].endswith("ClassVar")
    return annotation.partition("[")[2].removesuffix("]") if is_shared else annotation


def unquoted(annotation: str | None) -> str:
    """An annotation without the quotes around names that are defined later."""
    if not annotation or not {"'", '"'} & set(annotation):
        return annotation or ""
    try:
        return ast.unparse(_Unquoted().visit(ast.parse(annotation, mode="eval")))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return annotation


class _Unquoted(ast.NodeTransformer):
    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        # Inside ``Literal`` and ``Annotated``, strings really are strings.
        if last_name(ast.unparse(node.value)) in ("Literal", "L", "Annotated"):
            return node
        return self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        return ast.parse(node.value, mode="eval").body if isinstance(node.value, str) else node


def _call(name: str, function: Function, *, bound: bool) -> str:
    parameters = function.parameters
    is_static = function_kind(function.decorators) == "staticmethod"
    if bound and not is_static and parameters and parameters[0].kind in ("pos", "posonly"):
        parameters = parameters[1:]
    result = _result(function)
    returns = f" -> {result}" if result else ""
    return f"{name}({parameters_text([_shown(each) for each in parameters])}){returns}"


def _result(function: Function) -> str:
    """The type of a call's value, which is not always what the function's body returns."""
    returns = unquoted(function.returns)
    decorators = set(map(last_name, function.decorators))
    if managers := decorators & _MANAGERS:
        is_async = function.is_async or "asynccontextmanager" in managers
        manager, entered = "AsyncContextManager" if is_async else "ContextManager", _first(returns)
        return f"{manager}[{entered}]" if entered else manager
    if function.is_async_generator:
        return returns or "AsyncIterator"
    if function.is_async and not decorators & _MADE_SYNCHRONOUS:
        return f"Awaitable[{returns}]" if returns else "Awaitable"
    return returns


def _first(annotation: str) -> str:
    """``X`` of ``Iterator[X]`` or of ``Generator[X, None, None]``; empty without arguments."""
    node = parse_expression(annotation)
    if not isinstance(node, ast.Subscript):
        return ""
    argument = node.slice
    if isinstance(argument, ast.Tuple) and argument.elts:
        argument = argument.elts[0]
    return ast.unparse(argument)


def _shown(parameter: Parameter) -> Parameter:
    annotation, default = unquoted(parameter.annotation) or None, parameter.default
    if default is not None and len(default) > MAX_DEFAULT_LENGTH:
        default = "..."
    if (annotation, default) == (parameter.annotation, parameter.default):
        return parameter
    return parameter.model_copy(update={"annotation": annotation, "default": default})
