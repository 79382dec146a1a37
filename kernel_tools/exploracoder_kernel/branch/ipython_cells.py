"""Cells in IPython: magics, rich display, top-level await."""

from __future__ import annotations

import ast
import asyncio
import contextlib
import importlib.util
import os
import sys
import warnings
from collections.abc import Callable
from typing import Any, Optional

from IPython.core.completer import provisionalcompleter, rectify_completions
from IPython.utils.tokenutil import token_at_cursor

from .bundles import bounded, bounded_answers
from .cell import NO_CELL, Cell
from .error_reports import full_message_of
from .ipython_shell import make_shell, resemble_notebook
from .loops import Loop

Tell = Callable[[dict[str, Any]], None]

_MOST_MATCHES = 200


class IPythonCells:
    """Runs cells with ``run_cell`` of IPython's shell."""

    kind = "IPython"

    def __init__(self, tell: Tell, loop: Loop, ipython_dir: str) -> None:
        self._tell = tell
        self.max_chars = 20_000
        self.cell = NO_CELL
        self.is_displaying = False
        self.shown_error: Optional[BaseException] = None
        self.traceback: list[str] = []
        self._display_error: Optional[BaseException] = None
        _choose_plots()
        self._loop = loop
        self._shell = make_shell(self, ipython_dir)
        self._shell.loop_runner = loop.run
        self._about_exit = _silence_about_exit()
        self.namespace: dict[str, Any] = self._shell.user_ns
        self._initial_namespace = dict(self._shell.user_ns_hidden)

    def is_hidden(self, name: str, value: object) -> bool:
        """Whether IPython put the name there."""
        return name in self._initial_namespace and self._initial_namespace[name] is value

    def parse(self, code: str) -> ast.Module | None:
        """The tree of a cell, magics turned into calls; None when it doesn't compile."""
        try:
            return ast.parse(str(self._shell.transform_cell(code)))
        except (SyntaxError, ValueError):
            return None

    @property
    def was_interrupted(self) -> bool:
        """Whether SIGINT ended an ``await``: what waited sees a cancellation."""
        return self._loop.was_interrupted

    def prepare(self, cell: Cell, parent: dict[str, Any]) -> None:
        """Attribute what runs from now on to ``cell``, requested by the message ``parent``."""
        self.cell, self.shown_error, self.traceback, self._display_error = cell, None, [], None
        self._loop.was_interrupted = False
        if cell.has_front and not hasattr(self._shell, "kernel"):
            resemble_notebook(self._shell)
            with contextlib.suppress(ValueError):  # the user may have reset all filters
                warnings.filters.remove(self._about_exit)  # type: ignore[attr-defined]  # a list
        if hasattr(self._shell, "kernel"):
            self._shell.kernel.parent = parent

    def execute(self, cell: Cell) -> BaseException | None:
        """Run a cell; return the exception that left it, if any."""
        self._shell.execution_count = cell.number
        options = {"store_history": cell.is_stored, "silent": cell.is_silent}
        if cell.has_front:
            result = self._loop.run(self._execute_in_loop(cell, options))
        else:
            result = self._shell.run_cell(cell.code, **options)
        self._shell.history_manager.db_input_cache.clear()
        error = result.error_before_exec or result.error_in_exec
        if isinstance(error, asyncio.CancelledError) and self.was_interrupted:
            error = self.shown_error
        if error is None and cell.has_front:
            error = self._display_error
        return error if isinstance(error, BaseException) else None

    async def _execute_in_loop(self, cell: Cell, options: dict[str, bool]) -> Any:
        """Run a notebook's cell inside the running event loop, even one without an ``await``."""
        shell, exc_info = self._shell, None
        try:
            code = shell.transform_cell(cell.code)
        except Exception:  # noqa: BLE001  # the shell wants to show it itself
            code, exc_info = cell.code, sys.exc_info()
        more = {"transformed_cell": code, "preprocessing_exc_tuple": exc_info}
        if not shell.should_run_async(cell.code, **more):
            return shell.run_cell(cell.code, **options)
        result = None
        try:
            result = await shell.run_cell_async(cell.code, **options, **more)
        finally:
            shell.events.trigger("post_execute")
            if not cell.is_silent:
                shell.events.trigger("post_run_cell", result)
        return result

    def answers(self, expressions: dict[str, str]) -> dict[str, Any]:
        """The values of expressions, as a front end shows them."""
        return bounded_answers(self._shell.user_expressions(expressions), self.max_chars)

    def payloads(self) -> list[dict[str, Any]]:
        """What the cell asks of a front end."""
        wishes = list(self._shell.payload_manager.read_payload())
        self._shell.payload_manager.clear_payload()
        return wishes if self.cell.has_front else []

    def complete(self, code: str, cursor: int) -> dict[str, Any]:
        """Completions at ``cursor``, and the range that they replace."""
        with warnings.catch_warnings(), provisionalcompleter():
            warnings.simplefilter("ignore")
            completions = list(self._shell.Completer.completions(code, cursor))
            completions = list(rectify_completions(code, completions))[:_MOST_MATCHES]
        start, end = (completions[0].start, completions[0].end) if completions else (cursor, cursor)
        types = [
            {"start": one.start, "end": one.end, "text": one.text, "type": one.type or "<unknown>"}
            for one in completions
        ]
        return {
            "matches": [one.text for one in completions],
            "start": start,
            "end": end,
            "metadata": {"_jupyter_types_experimental": types},
        }

    def is_complete(self, code: str) -> tuple[str, str]:
        """Whether a console would run this now and, if not, the indent of the next line."""
        status, spaces = self._shell.input_transformer_manager.check_complete(code)
        return str(status), " " * (spaces or 0)

    def inspect_at(self, code: str, cursor: int, detail: int) -> dict[str, Any]:
        """What a front end shows about the name at ``cursor``: a MIME bundle, empty if unknown."""
        try:
            bundle = self._shell.object_inspect_mime(
                token_at_cursor(code, cursor), detail_level=detail
            )
        except KeyError:
            return {}
        if not self._shell.enable_html_pager:
            bundle.pop("text/html", None)
        return bounded(bundle, 200_000)

    def show(self, kind: str, data: dict[str, Any], metadata: dict[str, Any], **more: Any) -> None:
        """Send a MIME bundle to the owner."""
        output = {"output_type": kind, "data": bounded(data, self.max_chars), "metadata": metadata}
        if kind == "execute_result":
            more["execution_count"] = self.cell.number
        self._tell({"output": {**output, **more}})

    def clear(self, wait: bool) -> None:
        """Tell the owner to clear the output shown so far."""
        self._tell({"output": {"output_type": "clear_output", "wait": wait}})

    def fail(self, error: BaseException) -> None:
        """Note an error that the shell shows; its traceback may follow."""
        self.shown_error, self.traceback = error, []
        if self.is_displaying:
            self._display_error = error

    def show_error(self, kind: type, error: BaseException, traceback: list[str]) -> None:
        """Send an error to the owner."""
        self.traceback = traceback
        words = full_message_of(error, self.max_chars)
        report = {"ename": kind.__name__, "evalue": words, "traceback": traceback}
        self._tell({"output": {"output_type": "error", **report}})


def _silence_about_exit() -> Any:
    """Suppress IPython's advice on keys, useless in an observation; return the filter's entry."""
    warnings.filterwarnings("ignore", "To exit: use 'exit'", UserWarning)
    return warnings.filters[0]


def _choose_plots() -> None:
    """Turn figures into outputs if IPython's inline backend is installed."""
    if "MPLBACKEND" not in os.environ:
        is_there = importlib.util.find_spec("matplotlib_inline") is not None
        os.environ["MPLBACKEND"] = (
            "module://matplotlib_inline.backend_inline" if is_there else "Agg"
        )
