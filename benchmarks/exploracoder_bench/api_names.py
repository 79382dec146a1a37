"""The names of APIs in a solution: which it calls, and which of them no library of the task has."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from exploracoder.errors import SetupError
from exploracoder.prepare import open_index
from exploracoder_retrieval.errors import RetrievalError

_OWN_OF_PYTHON = frozenset(dir(builtins))
# Attributes of built-in types: a name that no library has may be one of these.
_OF_VALUES = frozenset(
    name
    for kind in (str, bytes, int, float, complex, bool, list, tuple, dict, set, frozenset, slice)
    for name in dir(kind)
)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


def gold_names(solution: str, context: str = "") -> tuple[str, ...]:
    """The names that a known solution calls, each once.

    Names that the solution or its context defines are left out, and so are built-ins. Only last
    names are given (``parse_csv``): a solution does not say which class a method belongs to.
    """
    calls = _parsed(solution)
    own = _defined(calls) | _defined(_parsed(context)) | _OWN_OF_PYTHON
    names = (_name(node.func) for node in ast.walk(calls) if isinstance(node, ast.Call))
    return tuple(dict.fromkeys(name for name in names if name and name not in own))


def called_names(
    solution: str, context: str, libraries: Collection[str], api_names: Collection[str]
) -> tuple[str, ...]:
    """The last names that a solution calls from ``libraries`` (import names), each once.

    They come from the libraries, or from values of unknown origin. Names that the code defines
    itself are left out, as are built-ins, anything from other modules or their values, and methods
    of built-in types unless the libraries have one of that name: ``api_names`` are the last names
    of all their APIs.
    """
    tree, around = _parsed(solution), _parsed(context)
    own = _defined(tree) | _defined(around) | _OWN_OF_PYTHON
    origins = _Origins(libraries)
    origins.read(around)
    origins.read(tree)
    names = []
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or not origins.may_be_library(node.func):
            continue
        python = own if isinstance(node.func, ast.Name) else _OF_VALUES.difference(api_names)
        if (name := _name(node.func)) and name not in python:
            names.append(name)
    return tuple(dict.fromkeys(names))


@lru_cache(maxsize=64)
def last_names(libraries: tuple[str, ...], folder: Path | None) -> frozenset[str]:
    """The last names of all APIs of these libraries, which are named as in the user's index.

    Of libraries of one name, those in ``folder`` count. Empty when one is not indexed.
    """
    try:
        with open_index() as index:
            if folder is not None:
                index.prefer(folder)
            docs = [doc for name in libraries for doc in index.docs(name)]
    except (RetrievalError, SetupError):
        return frozenset()
    paths = (path for doc in docs for path in (doc.path, *doc.aliases))
    return frozenset(path.rpartition(".")[2] for path in paths)


@dataclass(slots=True)
class _Origins:
    """Which names come from the libraries, and which from elsewhere; the rest are unknown.

    A name that is bound twice counts as a library's if one of the bindings is.
    """

    libraries: Collection[str]
    ours: set[str] = field(default_factory=set)
    others: set[str] = field(default_factory=set)

    def read(self, tree: ast.AST) -> None:
        """Record the imports and bindings of some code."""
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                for one in node.names:
                    self._note(one.asname or one.name.partition(".")[0], one.name)
            elif isinstance(node, ast.ImportFrom) and not node.level:
                for one in node.names:
                    self._note(one.asname or one.name, node.module or "")
        for node in ast.walk(tree):
            for target, value in _bindings(node):
                names = [one.id for one in ast.walk(target) if isinstance(one, ast.Name)]
                self._sort(value, names)

    def may_be_library(self, node: ast.expr) -> bool:
        """Whether an expression may come from a library: not if it surely comes from elsewhere."""
        return self._is_ours(node) is not False

    def _note(self, name: str, module: str) -> None:
        (self.ours if module.partition(".")[0] in self.libraries else self.others).add(name)

    def _sort(self, value: ast.expr, names: Collection[str]) -> None:
        is_ours = self._is_ours(value)
        if is_ours is not None:
            (self.ours if is_ours else self.others).update(names)

    def _is_ours(self, node: ast.expr) -> bool | None:
        while isinstance(node, ast.Attribute | ast.Call | ast.Subscript | ast.Await):
            node = node.func if isinstance(node, ast.Call) else node.value
        if isinstance(node, ast.Name):
            is_other = node.id in self.others or node.id in _OWN_OF_PYTHON
            return True if node.id in self.ours else False if is_other else None
        return False if isinstance(node, ast.Constant | ast.JoinedStr) else None


def _bindings(node: ast.AST) -> Iterator[tuple[ast.expr, ast.expr]]:
    """The targets that a node binds, each with its value."""
    if isinstance(node, ast.Assign):
        yield from ((target, node.value) for target in node.targets)
    elif isinstance(node, ast.withitem) and node.optional_vars is not None:
        yield node.optional_vars, node.context_expr
    elif isinstance(node, ast.For | ast.comprehension):
        yield node.target, node.iter


def _defined(tree: ast.AST) -> frozenset[str]:
    """Functions and classes of the code, parameters, and names that lambdas are bound to."""
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(node.name)
        if isinstance(node, _FUNCTIONS):
            names |= {one.arg for one in ast.walk(node.args) if isinstance(one, ast.arg)}
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Lambda):
            names |= {one.id for one in node.targets if isinstance(one, ast.Name)}
    return frozenset(names)


def _name(node: ast.expr) -> str:
    """The last name of what is called."""
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def _parsed(code: str) -> ast.AST:
    """The syntax tree of the code; an empty module if it does not parse."""
    try:
        return ast.parse(code)
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return ast.Module([], [])
