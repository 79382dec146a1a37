"""Cells in plain Python, for an interpreter without IPython."""

from __future__ import annotations

import ast
import builtins
import inspect
import linecache
import sys
import types
from collections.abc import Callable
from typing import Any

from .loops import Loop
from .text import shorten

Emit = Callable[[dict[str, Any]], None]


class PlainCells:
    """Runs cells with ``exec``; the value of a last expression is shown, ``await`` is allowed."""

    kind = "plain Python"

    def __init__(self, emit: Emit, loop: Loop) -> None:
        self._emit = emit
        self._loop = loop
        self._main = types.ModuleType("__main__")
        self._main.__dict__["__builtins__"] = builtins
        sys.modules["__main__"] = self._main
        self.namespace: dict[str, Any] = self._main.__dict__
        self._given = dict(self.namespace)
        self._count = 0
        self.max_chars = 20_000

    def is_hidden(self, name: str, value: object) -> bool:
        """Whether the name was here before the user."""
        return name in self._given and self._given[name] is value

    def parse(self, code: str) -> ast.Module | None:
        """The tree of a cell; None when it doesn't compile."""
        try:
            return ast.parse(code)
        except (SyntaxError, ValueError):
            return None

    def execute(self, code: str, cell_name: str, count: int) -> BaseException | None:
        """Run a cell; the exception that left it is the answer."""
        self._count = count
        lines = code.splitlines(keepends=True)
        linecache.cache[cell_name] = (len(code), None, lines, cell_name)
        sys.displayhook = self._display
        try:
            for program in self._compile(code, cell_name):
                result = eval(program, self.namespace)
                if inspect.iscoroutine(result):
                    self._loop.run(result)
        except BaseException as error:  # noqa: BLE001  # whatever leaves the cell is its outcome
            return error
        return None

    def complete(self, code: str, cursor: int) -> tuple[list[str], int]:
        """Names that may go on at ``cursor``, and where they start."""
        import rlcompleter
        import string

        allowed = string.ascii_letters + string.digits + "_."
        start = cursor
        while start > 0 and code[start - 1] in allowed:
            start -= 1
        completer = rlcompleter.Completer(self.namespace)
        matches: list[str] = []
        while len(matches) < 200:
            match = completer.complete(code[start:cursor], len(matches))
            if match is None:
                break
            matches.append(match.rstrip("() "))
        return matches, start

    def _compile(self, code: str, cell_name: str) -> list[types.CodeType]:
        tree = ast.parse(code, cell_name)
        last: list[ast.stmt] = []
        if tree.body and isinstance(tree.body[-1], ast.Expr) and not code.rstrip().endswith(";"):
            last = [tree.body.pop()]
        flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
        programs = [compile(tree, cell_name, "exec", flags, dont_inherit=True)]
        if last:
            shown = ast.Interactive(body=last)
            programs.append(compile(shown, cell_name, "single", flags, dont_inherit=True))
        return programs

    def _display(self, value: object) -> None:
        if value is None:
            return
        builtins._ = value  # type: ignore[attr-defined]  # as Python's own display hook does
        output = {
            "output_type": "execute_result",
            "execution_count": self._count,
            "data": {"text/plain": shorten(repr(value), self.max_chars)},
            "metadata": {},
        }
        self._emit({"output": output})
