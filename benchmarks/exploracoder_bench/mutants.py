"""Solutions that are certainly wrong, made from a known one: a check accepts none of them."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from exploracoder_bench.problems import Problem


def mutants(problem: Problem) -> Mapping[str, str]:
    """Wrong solutions by what is wrong with them.

    What the solution makes is replaced whole, by an object that equals nothing else, by None, and
    by an error. Finer changes (another constant, a call less) may leave a solution right, so a
    check that accepts those proves nothing against it.
    """
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
