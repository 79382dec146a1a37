"""What decorators and descriptors say about a definition, read from their source text."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from exploracoder_retrieval.harvest.names import Definition, Names
from exploracoder_retrieval.harvest.trees import EXTRA

if TYPE_CHECKING:
    import griffe

# What makes a method read like an attribute, known by the end of its name.
_PROPERTY_MAKERS = ("property", "Property", "cache_readonly", "reify")


def registered_names(cls: griffe.Object) -> Iterator[str]:
    """Names that a class decorator registers: its one argument is an identifier in quotes."""
    for call in _decorator_calls(cls):
        if len(call.args) == 1 and not call.keywords:
            name = _string(call.args[0]) or ""
            if name.isidentifier() and not name.startswith("_"):
                yield name


def is_property(obj: griffe.Object) -> bool:
    """Whether a member is read without being called: by a decorator, or made by one as a value."""
    if "property" in obj.labels:
        return True
    makers = [str(decorator.value) for decorator in getattr(obj, "decorators", ())]
    value = getattr(obj, "value", None)
    if value is not None and isinstance(call := _expression(str(value)), ast.Call):
        makers.append(ast.unparse(call.func))
    return any(maker.endswith(_PROPERTY_MAKERS) for maker in makers)


def accessor_class(member: Definition, names: Names) -> Definition | None:
    """The class behind ``text = Accessor("text", TextMethods)``: a namespace of more methods."""
    value = getattr(member.obj, "value", None)
    call = _expression(str(value)) if value is not None else None
    if not isinstance(call, ast.Call) or len(call.args) != 2:
        return None
    if _string(call.args[0]) != member.obj.name:
        return None
    found = names.in_scope(member.obj, ast.unparse(call.args[1]))
    return found if found is not None and found.obj.is_class else None


def given_text(definition: Definition, names: Names) -> str:
    """The docstring that a decorator or a descriptor gives; empty when none does.

    ``@doc("text")``, ``@doc(a_constant)``, ``@doc(a_documented_function, word="filled in")``,
    ``@doc(texts["name"] % values)``, ``property(getter, doc="text")``.
    """
    texts = [
        _filled(_text_of(call.args[0], definition, names), call).strip()
        for call in _decorator_calls(definition.obj)
        if call.args
    ]
    # The lowest decorator is applied first; one word is an argument, not a text.
    if given := [text for text in reversed(texts) if " " in text]:
        return "\n\n".join(given)
    value = getattr(definition.obj, "value", None)
    call_or_not = _expression(str(value)) if value is not None else None
    if isinstance(call_or_not, ast.Call):
        for keyword in call_or_not.keywords:
            if keyword.arg == "doc":
                return _text_of(keyword.value, definition, names).strip()
    return ""


def _decorator_calls(obj: griffe.Object) -> Iterator[ast.Call]:
    for decorator in getattr(obj, "decorators", ()):
        call = _expression(str(decorator.value))
        if isinstance(call, ast.Call):
            yield call


def _text_of(source: ast.expr, definition: Definition, names: Names) -> str:
    """A text given as a literal, by name, out of a table of texts, or made from a template."""
    if isinstance(source, ast.Constant):
        return source.value if isinstance(source.value, str) else ""
    if isinstance(source, ast.BinOp) and isinstance(source.op, ast.Mod):
        return _text_of(source.left, definition, names)
    if isinstance(source, ast.Call) and isinstance(source.func, ast.Attribute):
        if source.func.attr == "format":
            return _filled(_text_of(source.func.value, definition, names), source)
        return ""
    if isinstance(source, ast.Call):  # dedent("text") and its like
        return _text_of(source.args[0], definition, names) if len(source.args) == 1 else ""
    if isinstance(source, ast.Subscript):
        return _table_text(ast.unparse(source), definition, names)
    meant = names.in_scope(definition.obj, ast.unparse(source))
    if meant is None:
        return ""
    if not meant.obj.is_attribute:
        return meant.obj.docstring.value if meant.obj.docstring else ""
    value = getattr(meant.obj, "value", None)
    return _string(_expression(str(value))) or "" if value is not None else ""


def _table_text(source: str, definition: Definition, names: Names) -> str:
    """The text that a module assigned to ``table["name"]``, or imported the table from."""
    module = definition.obj.module
    own = module.extra[EXTRA].get("texts", {}).get(source)
    if own is not None:
        return str(own)
    table = names.in_scope(definition.obj, source.split("[", 1)[0])
    if table is None:
        return ""
    key = f"{table.obj.name}[{source.split('[', 1)[1]}"
    return str(table.obj.module.extra[EXTRA].get("texts", {}).get(key, ""))


def _filled(template: str, call: ast.Call) -> str:
    """A template with the call's literal keyword arguments in the place of ``{name}``."""
    for keyword in call.keywords:
        value = _string(keyword.value)
        if keyword.arg and value is not None:
            template = template.replace(f"{{{keyword.arg}}}", value)
    return template


def _expression(source: str) -> ast.expr | None:
    try:
        return ast.parse(source, mode="eval").body
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None


def _string(node: ast.expr | None) -> str | None:
    is_text = isinstance(node, ast.Constant) and isinstance(node.value, str)
    return node.value if is_text else None  # type: ignore[union-attr]
