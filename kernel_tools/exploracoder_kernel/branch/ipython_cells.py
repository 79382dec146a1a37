"""Cells in IPython: magics, rich display, top-level await. IPython is imported on first use."""

from __future__ import annotations

import ast
import builtins
import sys
import warnings
from collections.abc import Callable
from typing import Any

from .loops import Loop
from .text import shorten

Emit = Callable[[dict[str, Any]], None]

_MAX_BINARY_CHARS = 8 * 1024 * 1024


def bounded_bundle(data: dict[str, Any], max_chars: int) -> dict[str, Any]:
    """A mime bundle in which plain text is cut and what is too large is left out."""
    kept: dict[str, Any] = {}
    for mime, content in data.items():
        if isinstance(content, bytes):
            import base64

            content = base64.b64encode(content).decode("ascii")
        if mime == "text/plain" and isinstance(content, str):
            kept[mime] = shorten(content, max_chars)
        elif not isinstance(content, str) or len(content) <= _size_limit(mime, max_chars):
            kept[mime] = content
    return kept or {"text/plain": "[an output too large to keep was left out]"}


def _size_limit(mime: str, max_chars: int) -> int:
    is_markup = mime.startswith("text/")
    return 4 * max_chars if is_markup else _MAX_BINARY_CHARS


class IPythonCells:
    """Runs cells with ``run_cell`` of a shell that has no history: history starts a thread."""

    kind = "IPython"

    def __init__(self, emit: Emit, loop: Loop, scratch: str) -> None:
        self._emit = emit
        self.max_chars = 20_000
        self._cell_name = "<cell>"
        self._is_quiet = False
        self._shell = self._make_shell(loop, scratch)
        self.namespace: dict[str, Any] = self._shell.user_ns
        self._given = dict(self._shell.user_ns_hidden)

    def is_hidden(self, name: str, value: object) -> bool:
        """Whether IPython put the name there."""
        return name in self._given and self._given[name] is value

    def parse(self, code: str) -> ast.Module | None:
        """The tree of a cell, magics turned into calls; None when it doesn't compile."""
        try:
            return ast.parse(str(self._shell.transform_cell(code)))
        except (SyntaxError, ValueError):
            return None

    def execute(self, code: str, cell_name: str, count: int) -> BaseException | None:
        """Run a cell; the exception that left it is the answer."""
        self._cell_name = cell_name
        self._shell.execution_count = count
        self._is_quiet = code.rstrip().endswith(";")
        result = self._shell.run_cell(code, store_history=False)
        error = result.error_before_exec or result.error_in_exec
        return error if isinstance(error, BaseException) else None

    def complete(self, code: str, cursor: int) -> tuple[list[str], int]:
        """Names that may go on at ``cursor``, and where they start."""
        start = code.rfind("\n", 0, cursor) + 1
        end = code.find("\n", cursor)
        line = code[start:] if end < 0 else code[start:end]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            text, matches = self._shell.complete(None, line, cursor - start)
        return list(matches)[:200], cursor - len(text)

    def _make_shell(self, loop: Loop, scratch: str) -> Any:
        from IPython import version_info
        from IPython.core.interactiveshell import InteractiveShell
        from traitlets.config import Config

        config = Config()
        config.HistoryManager.enabled = False
        config.IPCompleter.use_jedi = False
        config.InteractiveShell.cache_size = 0
        config.InteractiveShell.colors = "nocolor" if version_info[0] >= 9 else "NoColor"
        shell = _shell_class(InteractiveShell, self).instance(config=config, ipython_dir=scratch)
        shell.loop_runner = loop.run
        warnings.filterwarnings("ignore", "To exit: use 'exit'", UserWarning)
        return shell

    def show(self, output_type: str, data: dict[str, Any], metadata: dict[str, Any]) -> None:
        """Send one output to the owner."""
        output: dict[str, Any] = {
            "output_type": output_type,
            "data": bounded_bundle(data, self.max_chars),
            "metadata": metadata,
        }
        if output_type == "execute_result":
            output["execution_count"] = self._shell.execution_count
        self._emit({"output": output})

    def name_of_cell(self) -> str:
        """The file name that the running cell is compiled under."""
        return self._cell_name

    def is_quiet(self) -> bool:
        """Whether the running cell ends in a semicolon, which hides its value."""
        return self._is_quiet


def _shell_class(base: Any, cells: IPythonCells) -> Any:
    """A shell that reports to ``cells`` in place of the terminal."""
    from IPython.core.compilerop import CachingCompiler
    from IPython.core.displayhook import DisplayHook
    from IPython.core.displaypub import DisplayPublisher

    class Compiler(CachingCompiler):
        def get_code_name(self, raw_code: str, transformed_code: str, number: int) -> str:
            return cells.name_of_cell()

    class Hook(DisplayHook):
        def write_output_prompt(self) -> None:
            return

        def write_format_data(self, format_dict: Any, md_dict: Any = None) -> None:
            cells.show("execute_result", format_dict, md_dict or {})

        def finish_displayhook(self) -> None:
            return

        def quiet(self) -> bool:
            return cells.is_quiet()

    class Publisher(DisplayPublisher):
        def publish(self, data: Any, metadata: Any = None, *_rest: Any, **_options: Any) -> None:
            cells.show("display_data", data, metadata or {})

        def clear_output(self, wait: bool = False) -> None:
            return

    class Shell(base):  # type: ignore[misc]  # the base is only known here
        compiler_class = Compiler
        displayhook_class = Hook
        display_pub_class = Publisher

        def init_virtualenv(self) -> None:
            """Leave ``sys.path`` as the user's interpreter has it."""

        # Output of ``!command`` goes to the descriptors, as that of any other child process.
        system = base.system_raw

        def showtraceback(self, *_args: Any, **_options: Any) -> None:
            """Say nothing: the error is part of the reply."""

        def showsyntaxerror(self, *_args: Any, **_options: Any) -> None:
            """Say nothing: the error is part of the reply."""

        def ask_exit(self) -> None:
            """``exit`` in a cell ends the cell, as ``sys.exit()`` does."""
            raise SystemExit

    return Shell


def make_cells(emit: Emit, loop: Loop, scratch: str) -> Any:
    """IPython's cells where the interpreter has a working IPython, plain ones otherwise."""
    main, hook, prompt = sys.modules["__main__"], sys.displayhook, builtins.input
    try:
        return IPythonCells(emit, loop, scratch)
    except Exception:  # noqa: BLE001  # a broken or ancient IPython must not take Python away
        from .plain_cells import PlainCells

        sys.modules["__main__"], sys.displayhook, builtins.input = main, hook, prompt
        return PlainCells(emit, loop)
