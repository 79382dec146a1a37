"""IPython's shell, reporting to the branch in place of a terminal."""

from __future__ import annotations

import asyncio
import importlib
import os
import shutil
import sys
from typing import TYPE_CHECKING, Any

from IPython.core import page
from IPython.core.autocall import ZMQExitAutocall
from IPython.core.compilerop import CachingCompiler
from IPython.core.displayhook import DisplayHook
from IPython.core.displaypub import DisplayPublisher
from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell
from traitlets import Instance
from traitlets.config import Config

from .error_reports import without_our_frames
from .text import without_colours

if TYPE_CHECKING:
    from .ipython_cells import IPythonCells


def make_shell(stage: IPythonCells, ipython_dir: str) -> Any:
    """The shell of this process, which reports to ``stage`` in place of a terminal.

    Its history is kept in memory: on disk it would need a thread.
    """
    config = Config()
    config.HistoryManager.enabled = False
    config.IPCompleter.use_jedi = False
    _Part.stage = stage
    shell: Any = Shell.instance(config=config, ipython_dir=ipython_dir)
    # The profile's folders are not used, and each fork would copy them.
    shutil.rmtree(shell.profile_dir.location, ignore_errors=True)
    return shell


class _Part:
    """A part of the shell that reports to ``stage``; IPython creates most of them itself."""

    stage: IPythonCells


class Compiler(_Part, CachingCompiler):
    """Puts back the leading blank lines that IPython drops, so that line numbers are right."""

    def get_code_name(self, raw_code: str, transformed_code: str, number: int) -> str:
        return self.stage.cell.name

    def cache(self, transformed_code: str, *args: Any, **options: Any) -> Any:
        return super().cache(self._with_blanks(transformed_code), *args, **options)

    def ast_parse(self, source: str, *args: Any, **options: Any) -> Any:
        return super().ast_parse(self._with_blanks(source), *args, **options)

    def _with_blanks(self, source: str) -> str:
        return "\n" * self.stage.cell.blank_lines + source


class Hook(_Part, DisplayHook):
    @property
    def prompt_count(self) -> int:
        return self.stage.cell.number

    def __call__(self, result: Any = None) -> None:
        self.stage.is_displaying = True
        try:
            super().__call__(result)  # type: ignore[no-untyped-call]  # IPython's
        finally:
            self.stage.is_displaying = False

    def write_output_prompt(self) -> None:
        return

    def write_format_data(self, format_dict: Any, md_dict: Any = None) -> None:
        self.stage.show("execute_result", format_dict, md_dict or {})

    def finish_displayhook(self) -> None:
        self._is_active = False

    def quiet(self) -> bool:
        try:
            ends: Any = self.semicolon_at_end_of_expression
            return bool(ends(self.stage.cell.code))
        except Exception:  # noqa: BLE001  # not each source with magics is made of tokens
            return self.stage.cell.code.rstrip().endswith(";")


class Publisher(_Part, DisplayPublisher):
    def publish(
        self,
        data: Any,
        metadata: Any = None,
        *_rest: Any,
        transient: Any = None,
        update: bool = False,
        **_options: Any,
    ) -> None:
        kind = "update_display_data" if update else "display_data"
        self.stage.show(kind, data, metadata or {}, transient=transient or {})

    def clear_output(self, wait: bool = False) -> None:
        self.stage.clear(bool(wait))


class Shell(_Part, InteractiveShell):
    compiler_class = Compiler
    displayhook_class = Hook
    display_pub_class = Publisher
    exiter = Instance(ZMQExitAutocall)
    keepkernel_on_exit = None

    def _exiter_default(self) -> Any:
        return ZMQExitAutocall(self)  # type: ignore[no-untyped-call]  # IPython's

    def init_virtualenv(self) -> None:
        """Leave ``sys.path`` as the user's interpreter has it."""

    # Output of ``!command`` goes to the descriptors, like that of any other child process.
    system = InteractiveShell.system_raw

    def init_hooks(self) -> None:
        super().init_hooks()  # type: ignore[no-untyped-call]  # IPython's
        as_hook: Any = page.as_hook
        self.set_hook("show_in_pager", as_hook(self._page), 99)  # type: ignore[no-untyped-call]  # IPython's

    def _page(self, text: Any, start: int = 0, **_options: Any) -> None:
        data = text if isinstance(text, dict) else {"text/plain": text}
        if self.stage.cell.has_front:
            self._wish(source="page", data=data, start=max(0, start))
        else:
            print(without_colours(str(data.get("text/plain", ""))))  # noqa: T201

    def set_next_input(self, s: str, replace: bool = False) -> None:
        self._wish(source="set_next_input", text=s, replace=replace)

    def _wish(self, **wish: Any) -> None:
        manager: Any = self.payload_manager
        manager.write_payload(wish)

    def ask_exit(self) -> None:
        """``exit``: ask the front end to end the kernel; without one, end the cell."""
        if not self.stage.cell.has_front:
            raise SystemExit
        self._wish(source="ask_exit", keepkernel=self.keepkernel_on_exit)

    def enable_gui(self, gui: Any = None) -> None:
        if gui not in (None, "", "inline", "none", "agg"):
            raise UsageError(f"No window of {gui!r} can be opened here. Use %matplotlib inline")

    def showtraceback(self, exc_tuple: Any = None, *args: Any, **options: Any) -> None:
        """Show nothing if there is no front end: the error is part of the reply."""
        error = exc_tuple[1] if exc_tuple else sys.exc_info()[1]
        if isinstance(error, asyncio.CancelledError) and self.stage.was_interrupted:
            error = KeyboardInterrupt().with_traceback(error.__traceback__)
            exc_tuple = (KeyboardInterrupt, error, error.__traceback__)
        if error is not None:
            self.stage.fail(error)
        if self.stage.cell.has_front:
            without_our_frames(error)
            super().showtraceback(exc_tuple, *args, **options)

    def showsyntaxerror(self, *args: Any, **options: Any) -> None:
        error = sys.exc_info()[1]
        if error is not None:
            self.stage.fail(error)
        if self.stage.cell.has_front:
            super().showsyntaxerror(*args, **options)  # type: ignore[no-untyped-call]  # IPython's

    def _showtraceback(self, etype: Any, evalue: Any, stb: Any) -> None:
        self.stage.show_error(etype, evalue, list(stb))

    def _format_exception_for_storage(self, exception: Any, *_a: Any, **_o: Any) -> Any:
        """Skip the formatting: it is expensive, and nothing here reads it."""
        return {"ename": type(exception).__name__, "evalue": "", "traceback": []}


class KernelFace:
    """``get_ipython().kernel``: libraries take a shell that has one for a notebook's."""

    def __init__(self, shell: Any) -> None:
        self.shell = shell
        self.parent: dict[str, Any] = {}

    @property
    def comm_manager(self) -> Any:
        """The manager of this process's comms, from the user's own ``comm`` package."""
        return importlib.import_module("comm").get_comm_manager()

    def get_parent(self, _channel: str = "shell") -> dict[str, Any]:
        """The message that asked for the running cell."""
        return self.parent


def resemble_notebook(shell: Any) -> None:
    """Let libraries recognise a notebook: they look at these names to choose rich display."""
    kind = type(shell)
    kind.__name__ = kind.__qualname__ = "ZMQInteractiveShell"
    shell.config.IPKernelApp.parent_appname = "exploracoder"
    shell.kernel = KernelFace(shell)
    os.environ.setdefault("PAGER", "cat")
    os.environ.setdefault("GIT_PAGER", "cat")
