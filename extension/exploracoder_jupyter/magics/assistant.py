"""Carries out the magics: explores, steers, looks up, and shows the outcome in the cell."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from exploracoder import commands as c
from exploracoder import document, prepare
from exploracoder.api import open_exploration
from exploracoder.background import Job
from exploracoder.commands import MAX_CODE_CHARS
from exploracoder.errors import (
    CommandError,
    ExploraCoderError,
    InputError,
    UntrustedError,
    raised_as,
)
from exploracoder.live_exploration import LiveExploration
from exploracoder.state import Exploration
from exploracoder.workspace import check_trust
from exploracoder_kernel.errors import SidecarError
from exploracoder_kernel.variable_transfer import OwnVariables
from exploracoder_retrieval.errors import RetrievalError

from exploracoder_jupyter.magics import help_page, library_requests, pages, places, registry
from exploracoder_jupyter.magics.cell_view import short
from exploracoder_jupyter.magics.configuration import Configuration
from exploracoder_jupyter.magics.display import Display
from exploracoder_jupyter.magics.keeper import Keeper
from exploracoder_jupyter.magics.magic_names import TRY_NAME
from exploracoder_jupyter.magics.named_code import code_named
from exploracoder_jupyter.magics.parsing import Order, Request, parse
from exploracoder_jupyter.magics.steering_words import STEERING, command_for, plan_command
from exploracoder_jupyter.magics.tool_words import ask_tools, parse_tools


class Assistant:
    """Serves the magics of one shell. It reads the user's namespace, and never writes to it."""

    def __init__(self, shell: Any) -> None:
        self._shell = shell
        self._keeper = Keeper()
        self._configuration = Configuration()
        # The digest of the last preview shown of an exploration that was not made here.
        self._preview_digest = ""
        self._display = Display(shell, self._keeper, self.press)
        self._handlers: Mapping[str, Callable[[Order], None]] = {
            "use": self._use,
            "search": self._search,
            "docs": self._docs,
            "tools": self._tools,
            "plan": self._plan,
            "edit": self._edit,
            "insert": self._insert,
            "save": self._save,
            "resume": self._resume,
            "replay": self._replay,
            "trust": self._trust,
            "status": self._status,
            "cost": self._cost,
            "cancel": self._cancel,
            "config": self._config,
            "help": self._help,
        }

    def run(self, line: str, cell: str | None) -> None:
        """Do what a line, or the cell below it, says; raises whatever error occurs."""
        instruction = parse(line, cell)
        if isinstance(instruction, Request):
            self._explore(instruction)
        else:
            self._do(instruction)

    def press(self, order: Order) -> None:
        """Do what a widget's button stands for; an error is shown beside the button."""
        with self._display.pressed():
            try:
                self._do(order)
            except (ExploraCoderError, SidecarError, RetrievalError) as error:
                self._display.show(pages.message_page(str(error), "bad"))

    def _do(self, order: Order) -> None:
        if order.name in STEERING:
            live = self._keeper.live
            self._steer(command_for(order.name, order.rest, live.exploration), order)
        else:
            self._handlers[order.name](order)

    def try_code(self, line: str, cell: str) -> None:
        """Make a cell the user's own candidate for the subtask that ``line`` names."""
        order = parse(f"edit {line}", None)
        assert isinstance(order, Order), "the line begins with a sub-command"
        step = places.subtask_or_shown(self._keeper.live.exploration, order.rest)
        code = cell.strip("\n")
        if not 0 < len(code) <= MAX_CODE_CHARS:
            raise InputError(f"The cell must have code, at most {MAX_CODE_CHARS} characters.")
        self._steer(c.TryCode(subtask=step.subtask.id, code=code), order)

    def close(self) -> None:
        """Stop the work, save, and end its thread."""
        self._keeper.close()
        self._display.close()

    def _explore(self, request: Request) -> None:
        self._keeper.check_free()
        libraries = request.libraries or self._configuration.libraries
        if not libraries:
            raise InputError(
                "Name a library: --library LIB beside the task, or '%exploracoder use LIB' for all"
                " tasks."
            )
        names = self._shell.user_ns
        arguments = {
            "libraries": libraries,
            "context": code_named(request.context, names, "--context"),
            "check": code_named(request.check, names, "--check"),
            "entry_point": request.entry_point,
            "output": request.output,
            "mode": request.mode or self._configuration.mode,
        }
        source = self._brought(request.bring)
        is_done = self._open(request.task, arguments, source, is_waited_for=request.is_waited_for)
        if request.is_inserted and is_done:
            self._put_solution()

    def _open(
        self,
        task: str | Exploration,
        arguments: Mapping[str, Any],
        source: OwnVariables | None,
        *,
        is_waited_for: bool,
    ) -> bool:
        """Open an exploration; False when it was stopped."""
        manager = _opened(
            task,
            **arguments,
            model=self._configuration.model,
            options=self._configuration.options,
            on_event=self._display.hear,
            source=source,
        )
        self._display.begin(self._configuration.widgets)
        job = self._keeper.open(manager, self._display.end)
        return self._wait(job, is_waited_for=is_waited_for)

    def _steer(self, command: c.Command, order: Order) -> None:
        live = self._keeper.live
        # Once the progress says that it rests, a command may come before its last turn is over.
        if live.is_working and live.progress.activity == "working":
            live_message = live.progress.message or "something"
            raise CommandError(
                f"It is working ({live_message}). Wait, or stop it: %exploracoder cancel"
            )
        self._display.begin(self._configuration.widgets)
        job = self._keeper.do(command, self._display.end)
        self._wait(job, is_waited_for=order.is_waited_for)

    def _wait(self, job: Job[None], *, is_waited_for: bool) -> bool:
        return self._display.wait(job, is_waited_for=is_waited_for or self._configuration.wait)

    def _brought(self, names: Sequence[str]) -> OwnVariables | None:
        """Copy the user's variables. Raises InputError when one does not exist."""
        if not names:
            return None
        variables = [name for name in self._shell.user_ns if not name.startswith("_")]
        for name in names:
            if name.isidentifier() and name not in self._shell.user_ns:
                near = registry.nearest(name, variables, cutoff=0.5)
                hint = f" Did you mean {near}?" if near else ""
                raise InputError(f"--bring: this kernel has no variable {name!r}.{hint}")
        source = OwnVariables(names)
        if len(source.refused) == len(source.names):
            source.close()
            reasons = "; ".join(f"{name} ({why})" for name, why in source.refused.items())
            raise InputError(f"--bring: none of the variables can be copied: {reasons}.")
        return source

    def _libraries(self) -> tuple[str, ...]:
        """The libraries in use, or the open exploration's. Raises InputError if there are none."""
        live = self._keeper.found
        libraries = self._configuration.libraries
        libraries = libraries or (live.exploration.task.libraries if live else ())
        if not libraries:
            raise InputError("No library is in use. Name one: %exploracoder use LIB")
        return libraries

    def _use(self, order: Order) -> None:
        targets = [prepare.absolute_target(word) for word in order.words]
        targets = targets or list(self._libraries())
        options = self._configuration.options
        libraries = self._keeper.run(library_requests.read_libraries(targets, options))
        self._configuration = replace(self._configuration, libraries=tuple(targets))
        self._display.show(pages.libraries_page(libraries))

    def _search(self, order: Order) -> None:
        if not order.rest:
            raise InputError("search needs words: %exploracoder search QUERY")
        options = self._configuration.options
        hits = self._keeper.run(library_requests.search(order.rest, self._libraries(), options))
        self._display.show(pages.search_page(order.rest, hits))

    def _docs(self, order: Order) -> None:
        if len(order.words) != 1:
            raise InputError("docs needs one name: %exploracoder docs NAME")
        options = self._configuration.options
        doc = self._keeper.run(library_requests.find_doc(order.rest, self._libraries(), options))
        self._display.show(pages.doc_page(doc))

    def _tools(self, order: Order) -> None:
        lookup = parse_tools(order.rest, self._shell.user_ns)
        roots = (lookup.root,) if lookup.root else self._libraries()
        answers = ask_tools(lookup, roots, self._configuration.options)
        self._display.show(pages.tools_page(self._keeper.run(answers)))

    def _plan(self, order: Order) -> None:
        exploration = self._keeper.live.exploration
        if not order.rest:
            if not exploration.steps:
                raise CommandError("There is no plan yet. '%exploracoder next' makes one.")
            self._display.show(pages.plan_page(exploration))
            return
        command = plan_command(order.rest, exploration)
        if isinstance(command, c.Replan):
            self._steer(command, order)
            return
        self._keeper.edit(command)
        self._display.show(pages.plan_page(self._keeper.live.exploration))

    def _edit(self, order: Order) -> None:
        step, candidate = places.candidate(self._keeper.live.exploration, order.rest)
        code = candidate.code if candidate else f"# {step.subtask.goal}"
        self._shell.set_next_input(f"%%{TRY_NAME} {step.subtask.id}\n{code}")
        self._display.show(
            pages.message_page("It is in the next cell. Change it there, and run it to try it.")
        )

    def _insert(self, order: Order) -> None:
        self._put_solution()

    def _put_solution(self) -> None:
        exploration = self._keeper.live.exploration
        solution = exploration.solution
        if solution is None or not solution.final.is_good:
            raise CommandError(
                "There is no solution that ran yet. '%exploracoder status' says where it is."
            )
        self._shell.set_next_input(solution.final.code)
        message = "The solution is in the next cell. It was not run there."
        if self._display.is_pressed:
            # A kernel can only insert a cell in its reply to an executed cell.
            message = (
                "The solution comes below the next cell that you run, whatever that cell does. It"
                " is not run itself. To choose the place, run %exploracoder insert in a cell there."
            )
        warning = document.warning(exploration)
        self._display.show(pages.message_page(f"{message} {warning}".strip()))

    def _save(self, order: Order) -> None:
        live = self._keeper.live
        path = prepare.named_output(order.rest) if order.rest else live.output
        with raised_as(InputError, OSError):
            is_own = live.output.exists() and path.exists() and path.samefile(live.output)
        if is_own:
            self._keeper.save()
            message = f"It is saved at every step in {short(live.output)}."
        else:
            prepare.make_room(path)
            document.save(path, exploration := live.exploration)
            live.count_as_saved(exploration)
            message = f"Saved in {short(path)}."
        self._display.show(pages.message_page(message))

    def _resume(self, order: Order) -> None:
        self._keeper.check_free()
        path, exploration = self._saved(order)
        source = self._brought([one.name for one in exploration.brought.variables])
        arguments = {"output": path, "mode": self._configuration.mode}
        self._open(exploration, arguments, source, is_waited_for=order.is_waited_for)

    def _replay(self, order: Order) -> None:
        path, exploration = self._saved(order)
        source = self._brought([one.name for one in exploration.brought.variables])
        folder, options = path.absolute().parent, self._configuration.options
        try:
            again = library_requests.replay_again(exploration, folder, options, source)
            replay = self._keeper.run(again)
        finally:
            if source is not None:
                source.close()
        self._display.show(pages.replay_page(short(path), replay))

    def _trust(self, order: Order) -> None:
        path, _ = self._saved(order, agreed_digest=self._preview_digest)
        message = f"{short(path)} may run now: %exploracoder resume, or replay, it."
        self._display.show(pages.message_page(message))

    def _saved(self, order: Order, agreed_digest: str = "") -> tuple[Path, Exploration]:
        """Load the exploration that an order names; for one from elsewhere, show what would run.

        Raises InputError when it cannot be read, or was made elsewhere and not agreed to.
        """
        if not order.rest:
            raise InputError(f"{order.name} needs a notebook: %exploracoder {order.name} FILE")
        path = Path(os.path.expanduser(order.rest))
        exploration = document.load(path)
        try:
            check_trust(
                exploration, str(path), self._configuration.options, agreed_digest=agreed_digest
            )
        except UntrustedError as error:
            self._preview_digest = error.preview.digest
            self._display.show(pages.preview_page(error.preview))
            raise InputError(f"{error} To agree: %exploracoder trust {path}") from None
        return path, exploration

    def _status(self, order: Order) -> None:
        moment = self._display.moment()
        if self._display.has_widgets(self._configuration.widgets):
            self._display.begin(self._configuration.widgets)
        elif moment.exploration is None:
            self._display.show(pages.moment_page(moment))
        else:
            self._display.show(pages.moment_page(replace(moment, error="", note="")))

    def _cost(self, order: Order) -> None:
        self._display.show(pages.cost_page(self._keeper.live.exploration))

    def _cancel(self, order: Order) -> None:
        was_working = self._keeper.cancel()
        message = "Stopped. All that was found is kept." if was_working else "Nothing is worked on."
        self._display.show(pages.message_page(message))

    def _config(self, order: Order) -> None:
        configuration = self._configuration
        for assignment in order.words:
            configuration = configuration.changed(assignment)
        is_mode = any(word.startswith("mode=") for word in order.words)
        if is_mode and self._keeper.found is not None:
            self._keeper.edit(c.SetMode(mode=configuration.mode))
        self._configuration = configuration
        self._display.show(configuration.page())

    def _help(self, order: Order) -> None:
        self._display.show(help_page.help_page(order.rest))


@asynccontextmanager
async def _opened(
    task: str | Exploration, *, source: OwnVariables | None, **arguments: Any
) -> AsyncIterator[LiveExploration]:
    """Open the exploration, and discard the copies of variables when it is closed."""
    try:
        async with open_exploration(task, source=source, **arguments) as live:
            yield live
    finally:
        if source is not None:
            source.close()
