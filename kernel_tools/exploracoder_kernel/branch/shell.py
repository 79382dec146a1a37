"""IPython's shell, reporting to the branch in place of a terminal."""

from __future__ import annotations

import asyncio
import importlib
import os
import sys
from typing import TYPE_CHECKING, Any

from .failures import without_our_frames
from .text import without_colours

if TYPE_CHECKING:
    from .ipython_cells import IPythonCells


def make_shell(stage: IPythonCells, ipython_dir: str) -> Any:
    """The shell of this process, reporting to ``stage``. Its history is kept in memory: on disk it would need a thread."""
    from IPython.core.interactiveshell import InteractiveShell
    from traitlets.config import Config

    config = Config()
    config.HistoryManager.enabled = False
    config.IPCompleter.use_jedi = False
    return _shell_class(InteractiveShell, stage).instance(config=config, ipython_dir=ipython_dir)


def _compiler_class(stage: IPythonCells) -> Any:
    from IPython.core.compilerop import CachingCompiler

    class Compiler(CachingCompiler):
        """IPython drops blank lines at the start of a cell; put back, lines are counted right."""

        def get_code_name(self, raw_code: str, transformed_code: str, number: int) -> str:
            return stage.cell.name

        def cache(self, transformed_code: str, *args: Any, **options: Any) -> Any:
            return super().cache(self._with_blanks(transformed_code), *args, **options)

        def ast_parse(self, source: str, *args: Any, **options: Any) -> Any:
            return super().ast_parse(self._with_blanks(source), *args, **options)

        def _with_blanks(self, source: str) -> str:
            return "\n" * stage.cell.blank_lines + source

    return Compiler


def _hook_class(stage: IPythonCells) -> Any:
    from IPython.core.displayhook import DisplayHook

    class Hook(DisplayHook):
        @property
        def prompt_count(self) -> int:
            return stage.cell.number

        def __call__(self, result: Any = None) -> None:
            stage.is_displaying = True
            try:
                super().__call__(result)  # type: ignore[no-untyped-call]  # IPython's
            finally:
                stage.is_displaying = False

        def write_output_prompt(self) -> None:
            return

        def write_format_data(self, format_dict: Any, md_dict: Any = None) -> None:
            stage.show("execute_result", format_dict, md_dict or {})

        def finish_displayhook(self) -> None:
            self._is_active = False

        def quiet(self) -> bool:
            try:
                ends: Any = self.semicolon_at_end_of_expression
                return bool(ends(stage.cell.code))
            except Exception:  # noqa: BLE001  # not each source with magics is made of tokens
                return stage.cell.code.rstrip().endswith(";")

    return Hook


def _publisher_class(stage: IPythonCells) -> Any:
    from IPython.core.displaypub import DisplayPublisher

    class Publisher(DisplayPublisher):
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
            stage.show(kind, data, metadata or {}, transient=transient or {})

        def clear_output(self, wait: bool = False) -> None:
            stage.clear(bool(wait))

    return Publisher


def _shell_class(base: Any, stage: IPythonCells) -> Any:
    from IPython.core import page
    from IPython.core.autocall import ZMQExitAutocall
    from IPython.core.error import UsageError
    from traitlets import Instance

    class Shell(base):  # type: ignore[misc]  # the base is only known here
        compiler_class = _compiler_class(stage)
        displayhook_class = _hook_class(stage)
        display_pub_class = _publisher_class(stage)
        exiter = Instance(ZMQExitAutocall)
        keepkernel_on_exit = None

        def _exiter_default(self) -> Any:
            return ZMQExitAutocall(self)  # type: ignore[no-untyped-call]  # IPython's

        def init_virtualenv(self) -> None:
            """Leave ``sys.path`` as the user's interpreter has it."""

        # Output of ``!command`` goes to the descriptors, as that of any other child process.
        system = base.system_raw

        def init_hooks(self) -> None:
            super().init_hooks()
            as_hook: Any = page.as_hook
            self.set_hook("show_in_pager", as_hook(self._page), 99)

        def _page(self, text: Any, start: int = 0, **_options: Any) -> None:
            data = text if isinstance(text, dict) else {"text/plain": text}
            if stage.cell.has_front:
                wish = {"source": "page", "data": data, "start": max(0, start)}
                self.payload_manager.write_payload(wish)
            else:
                print(without_colours(str(data.get("text/plain", ""))))  # noqa: T201

        def set_next_input(self, s: str, replace: bool = False) -> None:
            wish = {"source": "set_next_input", "text": s, "replace": replace}
            self.payload_manager.write_payload(wish)

        def ask_exit(self) -> None:
            """``exit``: a front end ends the kernel; without one it ends the cell."""
            if not stage.cell.has_front:
                raise SystemExit
            keep = self.keepkernel_on_exit
            self.payload_manager.write_payload({"source": "ask_exit", "keepkernel": keep})

        def enable_gui(self, gui: Any = None) -> None:
            if gui not in (None, "", "inline", "none", "agg"):
                raise UsageError(f"No window of {gui!r} can be opened here. Use %matplotlib inline")

        def showtraceback(self, exc_tuple: Any = None, *args: Any, **options: Any) -> None:
            """Without a front end say nothing: the error is part of the reply."""
            error = exc_tuple[1] if exc_tuple else sys.exc_info()[1]
            if isinstance(error, asyncio.CancelledError) and stage.was_interrupted:
                error = KeyboardInterrupt().with_traceback(error.__traceback__)
                exc_tuple = (KeyboardInterrupt, error, error.__traceback__)
            if error is not None:
                stage.fail(error)
            if stage.cell.has_front:
                without_our_frames(error)
                super().showtraceback(exc_tuple, *args, **options)

        def showsyntaxerror(self, *args: Any, **options: Any) -> None:
            error = sys.exc_info()[1]
            if error is not None:
                stage.fail(error)
            if stage.cell.has_front:
                super().showsyntaxerror(*args, **options)

        def _showtraceback(self, etype: Any, evalue: Any, stb: Any) -> None:
            stage.show_error(etype, evalue, list(stb))

        def _format_exception_for_storage(self, exception: Any, *_a: Any, **_o: Any) -> Any:
            """Formatting costs much, and nothing here reads it."""
            return {"ename": type(exception).__name__, "evalue": "", "traceback": []}

    return Shell


class KernelFace:
    """``get_ipython().kernel``: libraries take a shell with one for a notebook's."""

    def __init__(self, shell: Any) -> None:
        self.shell = shell
        self.parent: dict[str, Any] = {}

    @property
    def comm_manager(self) -> Any:
        """What the comms of the process are registered with; the user's own package has it."""
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
