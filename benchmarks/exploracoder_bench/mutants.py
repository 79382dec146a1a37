"""Certainly wrong solutions, made from a known one: a sound check accepts none of them."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping

from exploracoder_bench.problems import Problem

_Change = Callable[[ast.stmt], list[ast.stmt]]

_CONSTRUCTOR = "__init__"
_RAISE = "raise RuntimeError('mutant')"


def mutants(problem: Problem) -> Mapping[str, str]:
    """Wrong solutions, keyed by what is wrong with them.

    What the solution makes is replaced as a whole: by an object that equals nothing else, by None,
    and by an error. Finer changes (another constant, one call fewer) may leave a solution right, so
    a check is not faulted for accepting those. A solution that makes nothing that the check reads,
    such as a loop or an in-place call, is replaced by nothing, or by an error.
    """
    if problem.place is not None:
        return class_mutants(problem.solution, problem.entry_point or "")
    solution = problem.solution.rstrip()
    if problem.entry_point:
        head = f"{solution}\n\n\ndef {problem.entry_point}(*args, **kwargs):\n    "
        return {
            "returns an alien object": f"{head}return object()\n",
            "returns None": f"{head}return None\n",
            "raises": f"{head}{_RAISE}\n",
        }
    targets = [problem.target] if problem.target else _made(solution, problem.check)
    if targets:
        return {
            "makes alien objects": _after(solution, targets, "object()"),
            "makes None": _after(solution, targets, "None"),
        }
    return _unlike(solution, {"does nothing": "", "raises": f"{_RAISE}\n"})


def class_mutants(solution: str, name: str) -> Mapping[str, str]:
    """The class ``name`` left out, and with methods that raise, are missing, or return None.

    Bases, decorators and assignments stay in all but the first, so that it can be imported and
    inherited from; if other methods raise, the constructor stays too, so that a test which only
    makes an object does not fail. A class without methods is left out or emptied.
    """
    methods = [one for one in _class(ast.parse(solution), name).body if _is_method(one)]
    if not methods:
        empty = {"is missing": "", "is empty": _changed(solution, name, lambda _: [])}
        return _unlike(solution, empty)
    kept_method = _CONSTRUCTOR if any(map(_is_no_constructor, methods)) else ""
    variants = {
        "is missing": "",
        "has methods that raise": _changed(solution, name, _doing(_RAISE, kept_method)),
        "has no methods": _changed(solution, name, lambda one: [] if _is_method(one) else [one]),
        "has methods that return None": _changed(solution, name, _doing("return None")),
    }
    return _unlike(solution, variants)


def _unlike(solution: str, variants: Mapping[str, str]) -> Mapping[str, str]:
    """The variants that differ from the known solution: correct code is not a mutant."""
    own = _form(solution)
    return {what: code for what, code in variants.items() if _form(code) != own}


def _form(code: str) -> str:
    """A form of code to compare by, whatever its layout."""
    try:
        return ast.dump(ast.parse(code))
    except (SyntaxError, ValueError):
        return code.strip()


def _changed(solution: str, name: str, change: _Change) -> str:
    """The class with ``change`` applied to each statement of its body."""
    tree = ast.parse(solution)
    node = _class(tree, name)
    node.body = [new for one in node.body for new in change(one)] or [ast.Pass()]
    return ast.unparse(tree) + "\n"


def _doing(body: str, kept_method: str = "") -> _Change:
    def change(node: ast.stmt) -> list[ast.stmt]:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name != kept_method:
            node.body = ast.parse(body).body
        return [node]

    return change


def _class(tree: ast.Module, name: str) -> ast.ClassDef:
    """The last class of that name; an empty one where the solution has none."""
    classes = [one for one in tree.body if isinstance(one, ast.ClassDef) and one.name == name]
    return classes[-1] if classes else ast.ClassDef(name, [], [], [ast.Pass()], [])


def _is_method(node: ast.stmt) -> bool:
    return isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)


def _is_no_constructor(node: ast.stmt) -> bool:
    return getattr(node, "name", _CONSTRUCTOR) != _CONSTRUCTOR


def _after(solution: str, names: list[str], value: str) -> str:
    return "\n".join([solution, *(f"{name} = {value}" for name in names), ""])


def _made(solution: str, check: str) -> list[str]:
    """What a solution makes and its check reads: anything else may have any value."""
    try:
        body, check_nodes = ast.parse(solution).body, list(ast.walk(ast.parse(check)))
    except SyntaxError:
        return []
    names = {one for one in check_nodes if isinstance(one, ast.Name)}
    bound = {one.id for one in names if not isinstance(one.ctx, ast.Load)}
    read_names = {one.id for one in names} - bound
    targets = [target for node in body for target in _targets(node)]
    expressions = [ast.unparse(target) for target in targets if _owner(target) in read_names]
    return list(dict.fromkeys(expressions))


def _targets(node: ast.stmt) -> list[ast.expr]:
    """The targets that a statement binds, one by one."""
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return [ast.Name(node.name)]
    if isinstance(node, ast.Assign):
        return [one for target in node.targets for one in _parts(target)]
    return [node.target] if isinstance(node, ast.AnnAssign | ast.AugAssign) else []


def _parts(target: ast.expr) -> list[ast.expr]:
    if isinstance(target, ast.Starred):
        return _parts(target.value)
    if isinstance(target, ast.Tuple | ast.List):
        return [part for one in target.elts for part in _parts(one)]
    return [target]


def _owner(target: ast.expr) -> str:
    """The name that a target is, or is part of."""
    while isinstance(target, ast.Attribute | ast.Subscript):
        target = target.value
    return target.id if isinstance(target, ast.Name) else ""
