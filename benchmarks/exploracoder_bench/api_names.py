"""The names of APIs in a solution: which it calls, and which of them no library of the task has."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from functools import lru_cache

from exploracoder.errors import SetupError
from exploracoder.prepare import open_index
from exploracoder_retrieval.errors import RetrievalError

_OWN_OF_PYTHON = frozenset(dir(builtins))
# What a value of Python's own has: a name that no library knows may be one of these.
_OF_VALUES = frozenset(
    name
    for kind in (str, bytes, int, float, complex, bool, list, tuple, dict, set, frozenset, slice)
    for name in dir(kind)
)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


def gold_names(solution: str, context: str = "") -> tuple[str, ...]:
    """The names that a known solution calls, each once.

    Those that the solution or its context defines are left out, and so are Python's own. They are
    last names only (``parse_csv``): a solution does not say of which class a method is.
    """
    calls = _parsed(solution)
    own = _defined(calls) | _defined(_parsed(context)) | _OWN_OF_PYTHON
    names = (_name(node.func) for node in ast.walk(calls) if isinstance(node, ast.Call))
    return tuple(dict.fromkeys(name for name in names if name and name not in own))


def called_names(
    solution: str, context: str, libraries: Collection[str], api_names: Collection[str]
) -> tuple[str, ...]:
    """The last names that a solution calls of ``libraries`` (import names), each once.

    They are what comes from the libraries or from values of which nothing is known. Left out are
    what the code defines itself, Python's own, what comes from other modules and from values of
    theirs, and methods that Python's own values have, unless the libraries have one of that name:
    ``api_names`` are the last names of all their APIs.
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
def last_names(libraries: tuple[str, ...]) -> frozenset[str]:
    """The last names of all APIs of libraries, by their names in the user's index.

    Empty when one of them is not there.
    """
    try:
        with open_index() as index:
            docs = [doc for name in libraries for doc in index.docs(name)]
    except (RetrievalError, SetupError):
        return frozenset()
    paths = (path for doc in docs for path in (doc.path, *doc.aliases))
    return frozenset(path.rpartition(".")[2] for path in paths)


@dataclass(slots=True)
class _Origins:
    """Which names stand for a library's, which for something else's; of the rest nothing is known.

    A name that is bound twice counts as the library's if it is that once.
    """

    libraries: Collection[str]
    ours: set[str] = field(default_factory=set)
    others: set[str] = field(default_factory=set)

    def read(self, tree: ast.AST) -> None:
        """Note what the imports and bindings of some code say."""
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
        """Whether an expression may be a library's: all but what surely is something else's."""
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
    """What is bound to what."""
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
    """The code's tree; that of no code where it is no Python."""
    try:
        return ast.parse(code)
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return ast.Module([], [])
