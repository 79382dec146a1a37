"""Solutions that are certainly wrong, made from a known one: a check accepts none of them."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping

from exploracoder_bench.problems import Problem

_Change = Callable[[ast.stmt], list[ast.stmt]]

_CONSTRUCTOR = "__init__"
_RAISE = "raise RuntimeError('mutant')"


def mutants(problem: Problem) -> Mapping[str, str]:
    """Wrong solutions by what is wrong with them.

    What the solution makes is replaced whole, by an object that equals nothing else, by None, and
    by an error. Finer changes (another constant, a call less) may leave a solution right, so a
    check that accepts those proves nothing against it.
    """
    if problem.place is not None:
        return class_mutants(problem.solution, problem.entry_point or "")
    made = problem.entry_point or problem.target
    known = problem.solution.rstrip()
    if problem.entry_point:
        head = f"{known}\n\n\ndef {made}(*args, **kwargs):\n    "
        return {
            "returns an alien object": f"{head}return object()\n",
            "returns None": f"{head}return None\n",
            "raises": f"{head}raise RuntimeError('mutant')\n",
        }
    names = [made] if made else _assigned(known)
    return {
        "makes alien objects": _after(known, names, "object()"),
        "makes None": _after(known, names, "None"),
    }


def class_mutants(known: str, name: str) -> Mapping[str, str]:
    """The class ``name`` not written at all, with failing, no and idle methods.

    Bases, decorators and what is assigned stay in all but the first, so that it can be imported
    and inherited from; where other methods fail, the constructor stays too, so that a test which
    only makes an object does not fail. Of a class without methods nothing else stays.
    """
    methods = [one for one in _class(ast.parse(known), name).body if _is_method(one)]
    if not methods:
        return {"is missing": "", "is empty": _changed(known, name, lambda _: [])}
    kept = _CONSTRUCTOR if any(map(_is_no_constructor, methods)) else ""
    return {
        "is missing": "",
        "has methods that raise": _changed(known, name, _doing(_RAISE, kept)),
        "has no methods": _changed(known, name, lambda one: [] if _is_method(one) else [one]),
        "has methods that return None": _changed(known, name, _doing("return None")),
    }


def _changed(known: str, name: str, change: _Change) -> str:
    """The class with what ``change`` makes of each statement of its body."""
    tree = ast.parse(known)
    node = _class(tree, name)
    node.body = [new for one in node.body for new in change(one)] or [ast.Pass()]
    return ast.unparse(tree) + "\n"


def _doing(body: str, kept: str = "") -> _Change:
    def change(node: ast.stmt) -> list[ast.stmt]:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name != kept:
            node.body = ast.parse(body).body
        return [node]

    return change


def _class(tree: ast.Module, name: str) -> ast.ClassDef:
    """The last class of that name; an empty one where the solution has none."""
    found = [one for one in tree.body if isinstance(one, ast.ClassDef) and one.name == name]
    return found[-1] if found else ast.ClassDef(name, [], [], [ast.Pass()], [])


def _is_method(node: ast.stmt) -> bool:
    return isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)


def _is_no_constructor(node: ast.stmt) -> bool:
    return getattr(node, "name", _CONSTRUCTOR) != _CONSTRUCTOR


def _after(known: str, names: list[str], value: str) -> str:
    return "\n".join([known, *(f"{name} = {value}" for name in names), ""])


def _assigned(code: str) -> list[str]:
    try:
        tree = ast.parse(code)
    except SyntaxError:
        return []
    found: list[str] = []
    for node in tree.body:
        if isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            found += [ast.unparse(target) for target in targets]
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.append(node.name)
    return list(dict.fromkeys(found))
