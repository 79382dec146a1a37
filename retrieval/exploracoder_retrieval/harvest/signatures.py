"""Signatures as text, as a person would write the call."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import griffe

MAX_DEFAULT_LENGTH = 60
MAX_OVERLOADS = 4
MAX_SIGNATURE_CHARS = 2_000
_SUPPRESSED = re.compile(r"\b(field|Field|attrib|ib)\(")


@dataclass(frozen=True, slots=True)
class Field:
    """A field of a data class: it is a parameter of the class and an attribute of its objects."""

    name: str
    annotation: str
    default: str
    keyword_only: bool


def function_signature(name: str, function: griffe.Function, *, bound: bool) -> str:
    """``name(parameters) -> returns``; ``bound``: without self or cls.

    Overloads one a line where there is nothing else, as in stubs: an implementation has defaults.
    """
    overloads = function.overloads or []
    if any(each is function for each in overloads) or (overloads and is_opaque(function)):
        lines = [_call(name, each, bound=bound) for each in overloads]
        return "\n".join(list(dict.fromkeys(lines))[:MAX_OVERLOADS])
    return _call(name, function, bound=bound)


def class_signature(name: str, fields: Sequence[Field]) -> str:
    """The call of a data class, from its fields."""
    parts = [_field(field) for field in fields if not field.keyword_only]
    keyword_only = [_field(field) for field in fields if field.keyword_only]
    return f"{name}({', '.join([*parts, *(['*', *keyword_only] if keyword_only else [])])})"


def signature_in_doc(name: str, doc: str) -> str:
    """The call with which a compiled function's docstring often begins; empty when it does not."""
    call, _ = _split_call(name, doc)
    return call


def without_signature(name: str, doc: str) -> str:
    """A docstring without the call that it may begin with."""
    _, rest = _split_call(name, doc)
    return rest


def clip_signature(signature: str) -> str:
    """A signature that a prompt can hold; one that is longer says how much of it is left out."""
    if len(signature) <= MAX_SIGNATURE_CHARS:
        return signature
    kept = signature[:MAX_SIGNATURE_CHARS].rpartition(", ")[0] or signature[:MAX_SIGNATURE_CHARS]
    return f"{kept}, … ({len(signature) - len(kept)} more characters))"


def _split_call(name: str, doc: str) -> tuple[str, str]:
    # The call ends its line, or runs over several and ends its paragraph.
    for separator in ("\n", "\n\n"):
        head, _, rest = doc.strip().partition(separator)
        call = " ".join(head.split())
        # Most docstrings begin otherwise; making the pattern costs more than all else here.
        if f"{name}(" in call and re.fullmatch(
            rf"(?:[\w.]+\.)?{re.escape(name)}\(.*\)(\s*->.*)?", call
        ):
            return call[call.index(f"{name}(") :], rest.strip()
    return "", doc


def is_opaque(function: griffe.Function) -> bool:
    """Whether nothing is known of the parameters, as with many compiled functions."""
    names = [parameter.name for parameter in function.parameters]
    return [name for name in names if name not in {"self", "cls"}] == ["args", "kwargs"]


def _call(name: str, function: griffe.Function, *, bound: bool) -> str:
    parameters = list(function.parameters)
    if (
        bound
        and parameters
        and "staticmethod" not in function.labels
        and not _is_star(parameters[0])
    ):
        parameters = parameters[1:]
    returns = f" -> {function.returns}" if function.returns else ""
    return f"{name}({', '.join(_parameter_list(parameters))}){returns}"


def _parameter_list(parameters: Iterable[griffe.Parameter]) -> Iterable[str]:
    starred = False
    positional_only = False
    for parameter in parameters:
        kind = parameter.kind.value if parameter.kind else "positional or keyword"
        if positional_only and kind != "positional-only":
            yield "/"
        positional_only = kind == "positional-only"
        if kind == "keyword-only" and not starred:
            yield "*"
        starred = starred or kind in {"keyword-only", "variadic positional"}
        stars = {"variadic positional": "*", "variadic keyword": "**"}.get(kind, "")
        yield stars + _typed(
            parameter.name, str(parameter.annotation or ""), "" if stars else _default(parameter)
        )
    if positional_only:
        yield "/"


def _is_star(parameter: griffe.Parameter) -> bool:
    return parameter.kind is not None and parameter.kind.value.startswith("variadic")


def _default(parameter: griffe.Parameter) -> str:
    return "" if parameter.default is None else str(parameter.default)


def _field(field: Field) -> str:
    # `field(default_factory=list)` says that there is a default; how it is made helps nobody call.
    default = "..." if _SUPPRESSED.search(field.default) else field.default
    return _typed(field.name, field.annotation, default)


def _typed(name: str, annotation: str, default: str) -> str:
    annotation = annotation.strip("'\"") if annotation[:1] in "'\"" else annotation
    if len(default) > MAX_DEFAULT_LENGTH:
        default = "..."
    if not annotation:
        return f"{name}={default}" if default else name
    return f"{name}: {annotation} = {default}" if default else f"{name}: {annotation}"
