"""Functions, classes and their variables, read from syntax."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from exploracoder_retrieval.repotools.conditions import statements
from exploracoder_retrieval.repotools.facts import Class, Function, Variable, VariablePlace
from exploracoder_retrieval.repotools.parameters import read_parameters, unparse

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef
_MAX_DOC_CHARS = 2000
_MAX_VALUE_CHARS = 200


def read_function(node: FunctionNode, prefix: str = "") -> Function:
    """One function; ``prefix`` is its class and a dot."""
    return Function(
        name=node.name,
        qualname=prefix + node.name,
        line=node.lineno,
        first_line=first_line(node),
        end_line=node.end_lineno or node.lineno,
        parameters=read_parameters(node.args),
        returns=unparse(node.returns),
        decorators=tuple(ast.unparse(one) for one in node.decorator_list),
        is_async=isinstance(node, ast.AsyncFunctionDef),
        doc=read_doc(node),
    )


def read_class(node: ast.ClassDef, version: tuple[int, ...], prefix: str = "") -> Class:
    """One class with all that its body and its methods define."""
    qualname = prefix + node.name
    body = list(statements(node.body, version))
    methods = [one for one in body if isinstance(one, FunctionNode)]
    inner = [one for one in body if isinstance(one, ast.ClassDef)]
    return Class(
        name=node.name,
        qualname=qualname,
        line=node.lineno,
        first_line=first_line(node),
        end_line=node.end_lineno or node.lineno,
        bases=tuple(ast.unparse(base) for base in node.bases),
        decorators=tuple(ast.unparse(one) for one in node.decorator_list),
        doc=read_doc(node),
        functions=tuple(read_function(one, f"{qualname}.") for one in methods),
        variables=tuple(_class_variables(body, methods)),
        classes=tuple(read_class(one, version, f"{qualname}.") for one in inner),
    )


def read_variables(body: Sequence[ast.stmt]) -> Iterator[Variable]:
    """The names that the statements of one scope assign or annotate."""
    for node in body:
        match node:
            case ast.AnnAssign(target=ast.Name(id=name), annotation=annotation, value=value):
                yield _variable(name, node, "body", annotation, value)
            case ast.Assign(targets=targets, value=value):
                for target in targets:
                    yield from _assigned(target, value, node)


def first_line(node: FunctionNode | ast.ClassDef) -> int:
    """The line of the first decorator, or of the definition itself."""
    return min([node.lineno, *(one.lineno for one in node.decorator_list)])


def read_doc(node: FunctionNode | ast.ClassDef | ast.Module) -> str:
    """The docstring, cut at 2,000 characters."""
    return (ast.get_docstring(node) or "")[:_MAX_DOC_CHARS]


def dotted(node: ast.expr | None) -> str | None:
    """``a.b.c`` of names and attributes, and of such a thing with a subscript; else None."""
    if isinstance(node, ast.Subscript):
        return dotted(node.value)
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(parts)]) if isinstance(node, ast.Name) else None


def _class_variables(
    body: Sequence[ast.stmt], methods: Sequence[FunctionNode]
) -> Iterator[Variable]:
    for variable in read_variables(body):
        if variable.name == "__slots__":
            yield from _slots(body)
        else:
            yield variable
    for method in methods:
        yield from _set_by(method)


def _slots(body: Sequence[ast.stmt]) -> Iterator[Variable]:
    for node in body:
        if not isinstance(node, ast.Assign | ast.AnnAssign) or node.value is None:
            continue
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        if any(isinstance(one, ast.Name) and one.id == "__slots__" for one in targets):
            for inner in ast.walk(node.value):
                if isinstance(inner, ast.Constant) and isinstance(inner.value, str):
                    yield Variable(name=inner.value, line=inner.lineno, place="slots")


def _set_by(method: FunctionNode) -> Iterator[Variable]:
    """Attributes that a method sets on its first parameter."""
    arguments = [*method.args.posonlyargs, *method.args.args]
    kinds = {ast.unparse(one) for one in method.decorator_list}
    if not arguments or "staticmethod" in kinds:
        return
    place: VariablePlace = "class" if "classmethod" in kinds else "instance"
    owner = arguments[0].arg
    annotated: dict[int, ast.AnnAssign] = {}
    for node in _inside(method.body):
        if isinstance(node, ast.AnnAssign):
            annotated[id(node.target)] = node
        if (
            isinstance(node, ast.Attribute)
            and isinstance(node.ctx, ast.Store)
            and isinstance(node.value, ast.Name)
            and node.value.id == owner
        ):
            known = annotated.get(id(node))
            annotation = unparse(known.annotation) if known else None
            yield Variable(name=node.attr, line=node.lineno, place=place, annotation=annotation)


def _inside(body: Sequence[ast.AST]) -> Iterator[ast.AST]:
    """All nodes, parents first; what a nested class does is its own."""
    for node in body:
        if isinstance(node, ast.ClassDef):
            continue
        yield node
        yield from _inside(list(ast.iter_child_nodes(node)))


def _assigned(target: ast.expr, value: ast.expr, node: ast.stmt) -> Iterator[Variable]:
    if isinstance(target, ast.Name):
        yield _variable(target.id, node, "body", None, value)
    elif isinstance(target, ast.Tuple | ast.List):
        for element in target.elts:
            if isinstance(element, ast.Name):
                yield Variable(name=element.id, line=node.lineno)


def _variable(
    name: str,
    node: ast.stmt,
    place: VariablePlace,
    annotation: ast.expr | None,
    value: ast.expr | None,
) -> Variable:
    text = unparse(value)
    if text is not None and len(text) > _MAX_VALUE_CHARS:
        text = text[:_MAX_VALUE_CHARS] + " …"
    return Variable(
        name=name,
        line=node.lineno,
        place=place,
        annotation=unparse(annotation),
        value=text,
        alias=dotted(value),
    )
