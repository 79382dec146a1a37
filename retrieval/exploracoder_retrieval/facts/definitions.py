"""Functions, classes and their variables, read from syntax."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import Any

from exploracoder_retrieval.facts.conditions import statements
from exploracoder_retrieval.facts.fact_types import Class, Function, Variable, VariablePlace
from exploracoder_retrieval.facts.function_bodies import (
    Tables,
    has_yield,
    read_choices,
    read_raises,
    walk_body,
)
from exploracoder_retrieval.facts.parameters import dotted, read_parameters, unparse

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef
_MAX_VALUE_CHARS = 1000
# ``type Json = …``, which only Python 3.12 and newer can read.
_TypeAlias: Any = getattr(ast, "TypeAlias", ())


def read_function(node: FunctionNode, tables: Tables) -> Function:
    """Read a module-level function; ``tables`` are the strings that its module lists."""
    return _function(node, list(walk_body(node.body)), tables, "")


def read_class(
    node: ast.ClassDef, version: tuple[int, ...], tables: Tables, prefix: str = ""
) -> Class:
    """Read a class with everything that its body and methods define."""
    qualname = prefix + node.name
    body = list(statements(node.body, version))
    methods = [(one, list(walk_body(one.body))) for one in body if isinstance(one, FunctionNode)]
    inner = [one for one in body if isinstance(one, ast.ClassDef)]
    return Class(
        name=node.name,
        qualname=qualname,
        line=node.lineno,
        first_line=first_line(node),
        end_line=node.end_lineno or node.lineno,
        bases=tuple(map(_text, node.bases)),
        decorators=tuple(map(_text, node.decorator_list)),
        doc=read_doc(node),
        functions=tuple(_function(*one, tables, f"{qualname}.") for one in methods),
        variables=tuple(_class_variables(body, methods)),
        classes=tuple(read_class(one, version, tables, f"{qualname}.") for one in inner),
    )


def read_variables(body: Sequence[ast.stmt]) -> Iterator[Variable]:
    """The names that the statements of one scope assign or annotate."""
    for node, below in zip_longest(body, body[1:]):
        match node:
            case ast.AnnAssign(target=ast.Name(id=name), annotation=annotation, value=value):
                yield _variable(name, node, annotation, value, _string_of(below))
            case ast.Assign(targets=targets, value=value):
                for target in targets:
                    yield from _assigned(target, value, node, _string_of(below))
            case _ if isinstance(node, _TypeAlias):
                yield _variable(node.name.id, node, None, node.value, _string_of(below))


def first_line(node: FunctionNode | ast.ClassDef) -> int:
    """The line of the first decorator, or of the definition itself."""
    return min([node.lineno, *(one.lineno for one in node.decorator_list)])


def read_doc(node: FunctionNode | ast.ClassDef | ast.Module) -> str:
    """The docstring."""
    return ast.get_docstring(node) or ""


def _text(node: ast.expr) -> str:
    return dotted(node) or ast.unparse(node)


def _function(node: FunctionNode, body: Sequence[ast.AST], tables: Tables, prefix: str) -> Function:
    parameters = read_parameters(node.args)
    choices = read_choices(body, tables)
    return Function(
        name=node.name,
        qualname=prefix + node.name,
        line=node.lineno,
        first_line=first_line(node),
        end_line=node.end_lineno or node.lineno,
        parameters=parameters,
        returns=unparse(node.returns),
        decorators=tuple(map(_text, node.decorator_list)),
        is_async=isinstance(node, ast.AsyncFunctionDef),
        is_async_generator=isinstance(node, ast.AsyncFunctionDef) and has_yield(node.body),
        doc=read_doc(node),
        choices={each.name: choices[each.name] for each in parameters if each.name in choices},
        raises=read_raises(body),
    )


def _class_variables(
    body: Sequence[ast.stmt], methods: Sequence[tuple[FunctionNode, Sequence[ast.AST]]]
) -> Iterator[Variable]:
    for variable in read_variables(body):
        if variable.name == "__slots__":
            yield from _slots(body)
        else:
            yield variable
    for method in methods:
        yield from _set_by(*method)


def _slots(body: Sequence[ast.stmt]) -> Iterator[Variable]:
    for node in body:
        if not isinstance(node, ast.Assign | ast.AnnAssign) or node.value is None:
            continue
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        if any(isinstance(one, ast.Name) and one.id == "__slots__" for one in targets):
            for inner in ast.walk(node.value):
                if isinstance(inner, ast.Constant) and isinstance(inner.value, str):
                    yield Variable(name=inner.value, line=inner.lineno, place="slots")


def _set_by(method: FunctionNode, body: Sequence[ast.AST]) -> Iterator[Variable]:
    """Attributes that a method sets on its first parameter."""
    arguments = [*method.args.posonlyargs, *method.args.args]
    kinds = set(map(_text, method.decorator_list))
    if not arguments or "staticmethod" in kinds:
        return
    place: VariablePlace = "class" if "classmethod" in kinds else "instance"
    owner = arguments[0].arg
    assignments: dict[int, ast.AnnAssign] = {}
    for node in body:
        if isinstance(node, ast.AnnAssign):
            assignments[id(node.target)] = node
        if (
            isinstance(node, ast.Attribute)
            and isinstance(node.ctx, ast.Store)
            and isinstance(node.value, ast.Name)
            and node.value.id == owner
        ):
            assignment = assignments.get(id(node))
            annotation = unparse(assignment.annotation) if assignment else None
            yield Variable(name=node.attr, line=node.lineno, place=place, annotation=annotation)


def _assigned(target: ast.expr, value: ast.expr, node: ast.stmt, doc: str) -> Iterator[Variable]:
    if isinstance(target, ast.Name):
        yield _variable(target.id, node, None, value, doc)
    elif isinstance(target, ast.Tuple | ast.List):
        for element in target.elts:
            if isinstance(element, ast.Name):
                yield Variable(name=element.id, line=node.lineno)


def _variable(
    name: str, node: ast.stmt, annotation: ast.expr | None, value: ast.expr | None, doc: str
) -> Variable:
    text = unparse(value)
    if text is not None and len(text) > _MAX_VALUE_CHARS:
        text = text[:_MAX_VALUE_CHARS] + " …"
    return Variable(
        name=name,
        line=node.lineno,
        annotation=unparse(annotation),
        value=text,
        alias=dotted(value),
        doc=doc or _doc_argument(value),
    )


def _string_of(node: ast.stmt | None) -> str:
    """The text of a statement that is just a string; empty for any other."""
    match node:
        case ast.Expr(value=ast.Constant(value=str(text))):
            return inspect.cleandoc(text)
    return ""


def _doc_argument(value: ast.expr | None) -> str:
    for keyword in value.keywords if isinstance(value, ast.Call) else ():
        if keyword.arg == "doc" and isinstance(keyword.value, ast.Constant):
            return inspect.cleandoc(str(keyword.value.value or ""))
    return ""
