"""What decorators and descriptors say about a definition, read from their source text."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from exploracoder_retrieval.apidoc import DEPRECATED
from exploracoder_retrieval.facts.fact_types import Class, Variable
from exploracoder_retrieval.facts.kinds import last_name
from exploracoder_retrieval.facts.parameters import parse_expression
from exploracoder_retrieval.harvest.public_names import Api, Names

_DEPRECATING = frozenset({"deprecated", "deprecate"})


def registered_names(cls: Class) -> Iterator[str]:
    """Names that a class decorator registers: its one argument is an identifier in quotes."""
    for call in _calls(cls.decorators):
        if len(call.args) == 1 and not call.keywords:
            name = _string(call.args[0])
            if name.isidentifier() and not name.startswith("_"):
                yield name


def accessor_class(member: Api, names: Names) -> Api | None:
    """The class behind ``text = Accessor("text", TextMethods)``: a namespace of more methods."""
    value = member.item.value if isinstance(member.item, Variable) else None
    for call in _calls([value] if value else ()):
        if len(call.args) == 2 and _string(call.args[0]) == member.item.name:
            accessor = names.in_scope(member, ast.unparse(call.args[1]))
            return accessor if accessor is not None and isinstance(accessor.item, Class) else None
    return None


def deprecation(decorators: Iterable[str]) -> Iterator[str]:
    """What ``@deprecated("say why")`` says (PEP 702, and many libraries' own decorators)."""
    for source in decorators:
        if last_name(source) in _DEPRECATING:
            reasons = [_string(argument) for call in _calls([source]) for argument in call.args]
            yield ": ".join(filter(None, [DEPRECATED, *reasons[:1]]))


def given_text(api: Api, names: Names) -> str:
    """The docstring supplied by decorators; empty if there is none.

    ``@doc("text")``, ``@doc(a_constant)``, ``@doc(a_documented_function, word="filled in")``,
    ``@doc(texts["name"] % values)``.
    """
    texts = [
        _filled(_text_of(call.args[0], api, names), call).strip()
        for call in _calls(getattr(api.item, "decorators", ()))
        if call.args
    ]
    # The lowest decorator is applied first; one word is an argument, not a text.
    return "\n\n".join(text for text in reversed(texts) if " " in text)


def _calls(sources: Iterable[str]) -> Iterator[ast.Call]:
    for source in sources:
        call = parse_expression(source) if "(" in source else None
        if isinstance(call, ast.Call):
            yield call


def _text_of(source: ast.expr, api: Api, names: Names) -> str:
    """A text given as a literal, by name, from a table of texts, or made from a template."""
    match source:
        case ast.Constant():
            return _string(source)
        case ast.BinOp(left=template, op=ast.Mod()):
            return _text_of(template, api, names)
        case ast.Call(func=ast.Attribute(value=template, attr=method)):
            return _filled(_text_of(template, api, names), source) if method == "format" else ""
        case ast.Call(args=[inner]):  # dedent("text") and the like
            return _text_of(inner, api, names)
        case ast.Subscript(value=table):
            return _text_named(ast.unparse(source), ast.unparse(table), api, names)
        case ast.Name() | ast.Attribute():
            name = ast.unparse(source)
            return _text_named(name, name, api, names)
    return ""


def _text_named(key: str, name: str, api: Api, names: Names) -> str:
    """A definition's docstring, or the text a module assigns to a name or ``table["name"]``."""
    if key in api.module.texts:
        return api.module.texts[key]
    source = names.in_scope(api, name)
    if source is None or not isinstance(source.item, Variable):
        return source.item.doc if source else ""
    return source.module.texts.get(source.item.name + key.removeprefix(name), "")


def _filled(template: str, call: ast.Call) -> str:
    """A template with each ``{name}`` replaced by the call's literal keyword argument."""
    for keyword in call.keywords:
        if keyword.arg and isinstance(keyword.value, ast.Constant):
            template = template.replace(f"{{{keyword.arg}}}", _string(keyword.value))
    return template


def _string(node: ast.expr) -> str:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""
