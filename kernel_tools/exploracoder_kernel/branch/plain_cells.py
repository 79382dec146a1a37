"""Cells in plain Python, for an interpreter without IPython."""

from __future__ import annotations

import ast
import builtins
import codeop
import inspect
import linecache
import re
import sys
import types
import warnings
from collections.abc import Callable
from typing import Any, Optional

from . import name_checks
from .cell import NO_CELL, Cell
from .error_reports import brief, message_of
from .loops import Loop
from .text import shorten

Tell = Callable[[dict[str, Any]], None]

_DOTTED = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*")


class PlainCells:
    """Runs cells with ``exec``; the value of a last expression is shown, ``await`` is allowed."""

    kind = "plain Python"

    def __init__(self, tell: Tell, loop: Loop) -> None:
        self._tell = tell
        self._loop = loop
        self._main = types.ModuleType("__main__")
        self._main.__dict__["__builtins__"] = builtins
        sys.modules["__main__"] = self._main
        self.namespace: dict[str, Any] = self._main.__dict__
        self._initial_namespace = dict(self.namespace)
        self.cell = NO_CELL
        self.shown_error: Optional[BaseException] = None
        self.traceback: list[str] = []
        self.max_chars = 20_000

    def is_hidden(self, name: str, value: object) -> bool:
        """Whether the name was there before the user's code ran."""
        return name in self._initial_namespace and self._initial_namespace[name] is value

    def parse(self, code: str) -> ast.Module | None:
        """The tree of a cell; None when it doesn't compile."""
        try:
            return ast.parse(code)
        except (SyntaxError, ValueError):
            return None

    def prepare(self, cell: Cell, _parent: dict[str, Any]) -> None:
        """Attribute what runs from now on to ``cell``."""
        self.cell = cell

    def execute(self, cell: Cell) -> BaseException | None:
        """Run a cell; return the exception that left it, if any."""
        lines = cell.code.splitlines(keepends=True)
        linecache.cache[cell.name] = (len(cell.code), None, lines, cell.name)
        sys.displayhook = self._display
        try:
            programs = self._compile(cell)
        except Exception as error:  # noqa: BLE001  # text may fail to compile in several ways
            return error.with_traceback(None)
        try:
            for program in programs:
                result = eval(program, self.namespace)
                if inspect.iscoroutine(result):
                    self._loop.run(result)
        except BaseException as error:  # noqa: BLE001  # whatever leaves the cell is its outcome
            return error
        return None

    def answers(self, expressions: dict[str, str]) -> dict[str, Any]:
        """The values of expressions, as a front end shows them."""
        return {name: self._answer(expression) for name, expression in expressions.items()}

    def _answer(self, expression: str) -> dict[str, Any]:
        try:
            text = shorten(repr(eval(expression, self.namespace)), self.max_chars)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001  # the user's code may raise anything
            report = {"ename": type(error).__name__, "evalue": message_of(error)}
            return {"status": "error", **report, "traceback": [brief(error)]}
        return {"status": "ok", "data": {"text/plain": text}, "metadata": {}}

    def payloads(self) -> list[dict[str, Any]]:
        """Plain Python asks nothing of a front end."""
        return []

    def complete(self, code: str, cursor: int) -> dict[str, Any]:
        """Names that complete the code at ``cursor``, and the range that they replace."""
        import rlcompleter
        import string

        alphabet = string.ascii_letters + string.digits + "_."
        start = cursor
        while start > 0 and code[start - 1] in alphabet:
            start -= 1
        completer = rlcompleter.Completer(self.namespace)
        matches: list[str] = []
        while len(matches) < 200:
            match = completer.complete(code[start:cursor], len(matches))
            if match is None:
                break
            matches.append(match.rstrip("() "))
        return {"matches": matches, "start": start, "end": cursor}

    def is_complete(self, code: str) -> tuple[str, str]:
        """Whether a console would run this now and, if not, the indent of the next line."""
        last = (code.splitlines() or [""])[-1]
        indent = last[: len(last) - len(last.lstrip())]
        opens = last.rstrip().endswith(":")
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                program = codeop.compile_command(code, "<input>", "exec")
        except (SyntaxError, ValueError, OverflowError):
            return "invalid", ""
        if program is None or (indent and not code.endswith("\n")):
            return "incomplete", indent + "    " if opens else indent
        return "complete", ""

    def inspect_at(self, code: str, cursor: int, detail: int) -> dict[str, Any]:
        """What a front end shows about the name at ``cursor``: a MIME bundle, empty if unknown."""
        around = [name for name in _DOTTED.finditer(code) if name.start() <= cursor <= name.end()]
        before = _DOTTED.finditer(code[:cursor])
        calls = [name for name in before if code[name.end() :].startswith("(")]
        for name in [*around, *reversed(calls)]:
            info = name_checks.inspect_name(name.group(), self.namespace)
            if info["found"]:
                return {"text/plain": _described(info, detail)}
        return {}

    def _compile(self, cell: Cell) -> list[types.CodeType]:
        tree = ast.parse(cell.code, cell.name)
        last: list[ast.stmt] = []
        is_shown = not cell.is_silent and not cell.code.rstrip().endswith(";")
        if tree.body and isinstance(tree.body[-1], ast.Expr) and is_shown:
            last = [tree.body.pop()]
        flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
        programs = [compile(tree, cell.name, "exec", flags, dont_inherit=True)]
        if last:
            last_tree = ast.Interactive(body=last)
            programs.append(compile(last_tree, cell.name, "single", flags, dont_inherit=True))
        return programs

    def _display(self, value: object) -> None:
        if value is None:
            return
        builtins._ = value  # type: ignore[attr-defined]  # as Python's own display hook does
        output = {
            "output_type": "execute_result",
            "execution_count": self.cell.number,
            "data": {"text/plain": shorten(repr(value), self.max_chars)},
            "metadata": {},
        }
        self._tell({"output": output})


def _described(info: dict[str, Any], detail: int) -> str:
    """The facts about a name, one per line; ``detail`` adds its line in the file."""
    facts = [
        ("Signature", f"{info['name']}{info['signature']}" if info.get("signature") else None),
        ("Type", info.get("type")),
        ("File", info.get("file")),
        ("Line", info.get("line") if detail else None),
        ("Docstring", info.get("documentation")),
    ]
    return "\n".join(f"{label}: {fact}" for label, fact in facts if fact)
