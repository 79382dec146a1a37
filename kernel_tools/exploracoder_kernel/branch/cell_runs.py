"""Runs of the user's code in a branch, from the request to the reply."""

from __future__ import annotations

import contextlib
import itertools
import os
import signal
import time
from collections.abc import Callable
from typing import Any, NoReturn, Optional

from . import comms, forks, memory_use, private_folder, rlimits, streams, variables, wire
from .cell import Cell
from .error_reports import full_message_of, line_in, report
from .interrupts import Interrupts
from .owner import Owner
from .stdin import Stdin

Message = wire.Message
Action = Callable[[], tuple[Optional[BaseException], Message]]


class Runs:
    """Runs cells, and callbacks of comms, one at a time."""

    def __init__(
        self, owner: Owner, cells: Any, interrupts: Interrupts, channels: streams.Channels
    ) -> None:
        self._owner = owner
        self._cells = cells
        self._interrupts = interrupts
        self._channels = channels
        self._stdin = Stdin(owner)
        self._last_number = 0
        self._numbers = itertools.count(1)

    def run(self, request: Message) -> Message:
        """Run a cell."""
        code = str(request["code"])
        cell = self._new_cell(code, request)
        wants_variables = bool(request.get("wants_variables"))
        before = variables.mark_all(self.users()) if wants_variables else None
        outcome = self._observe(cell, request, lambda: self._execute(cell, request))
        if cell.is_stored:
            self._last_number = outcome["execution_count"] = cell.number
        if before is not None:
            # Whatever goes wrong here, the cell has run.
            with contextlib.suppress(KeyboardInterrupt, Exception), self._interrupts.allowed():
                outcome["variables"] = self._changed(before, code, bool(request["may_force"]))
        outcome["resident_bytes"] = memory_use.resident_bytes() + private_folder.memory_bytes()
        return outcome

    def deliver(self, request: Message) -> Message:
        """Deliver a comm message to the code that waits for it."""
        cell = Cell("", "<comm>", self._last_number + 1, is_stored=False, has_front=True)
        parent = request.get("parent") or {}
        tell = self._owner.tell

        def call() -> tuple[None, Message]:
            comms.deliver(request["message"], parent, tell)
            return None, {}

        return self._observe(cell, request, call)

    def users(self) -> variables.Variables:
        """The user's variables."""
        return {
            name: value
            for name, value in list(self._cells.namespace.items())
            if isinstance(name, str)
            and variables.is_users(name, value)
            and not self._cells.is_hidden(name, value)
        }

    def describe(self, names: Any, among: variables.Variables, may_force: bool) -> Any:
        """Describe the named variables, lazy ones by their first elements if a fork is safe."""
        return variables.describe(names, among, forks.first_elements if may_force else None)

    def _changed(self, before: dict[str, variables.Mark], code: str, may_force: bool) -> Any:
        after = self.users()
        names = variables.changed(before, after, self._cells.parse(code))
        return self.describe(names, after, may_force)

    def _new_cell(self, code: str, request: Message) -> Cell:
        is_silent = bool(request.get("is_silent"))
        is_stored = bool(request.get("is_stored", True)) and not is_silent and bool(code.strip())
        number = self._last_number + 1
        name = f"<cell {number}>" if is_stored else f"<cell {number}.{next(self._numbers)}>"
        return Cell(code, name, number, is_stored, is_silent, bool(request.get("has_front")))

    def _execute(self, cell: Cell, request: Message) -> tuple[Optional[BaseException], Message]:
        error = self._cells.execute(cell)
        more = {"payloads": self._cells.payloads()}
        if error is None and request.get("user_expressions"):
            more["user_expressions"] = self._cells.answers(request["user_expressions"])
        return error, more

    def _observe(self, cell: Cell, request: Message, action: Action) -> Message:
        self._cells.max_chars = int(request["max_output_chars"])
        self._cells.prepare(cell, request.get("parent") or {})
        self._stdin.is_allowed = bool(request.get("allow_stdin"))
        self._channels.reset()
        streams.repair(self._channels)
        private_folder.restore()
        start = time.perf_counter()
        error, outcome = self._act(action, request["memory_bytes"])
        outcome["seconds"] = time.perf_counter() - start
        self._stdin.is_allowed = False
        outcome["status"] = "ok"
        if error is not None:
            is_interrupt = isinstance(error, KeyboardInterrupt)
            outcome["status"] = "interrupted" if is_interrupt else "error"
            outcome["error"] = self._report(error, cell)
            limit = rlimits.hit_by(error, has_memory_limit=bool(request["memory_bytes"]))
            outcome["limits_hit"] = [] if limit is None else [limit]
        streams.flush_all()
        self._owner.tell({"finished": True})
        return outcome

    def _act(
        self, action: Action, memory_bytes: Optional[int]
    ) -> tuple[Optional[BaseException], Message]:
        more: Message = {}
        self._interrupts.install()
        try:
            with self._interrupts.allowed(), rlimits.in_cell(memory_bytes):
                error, more = action()
        except BaseException as exception:  # noqa: BLE001  # whatever leaves the cell is its outcome
            error = exception
        self._interrupts.forbid()
        if not self._owner.is_ours:
            _leave_copy(error)
        return error, more

    def _report(self, error: BaseException, cell: Cell) -> Message:
        """The reply's report of an error; shows it to a front end unless that was done already."""
        plain = report(error, cell.name)
        if not cell.has_front:
            return plain
        plain["is_shown"] = True
        if self._cells.shown_error is error:
            message = full_message_of(error, self._cells.max_chars)
            line = line_in(error, cell.name)
            fields = {"evalue": message, "traceback": self._cells.traceback, "line": line}
            return {**plain, **fields}
        output = {key: plain[key] for key in ("ename", "evalue", "traceback")}
        self._owner.tell({"output": {"output_type": "error", **output}})
        return plain


def _leave_copy(error: Optional[BaseException]) -> NoReturn:
    """End a fork that the snippet itself made: past the snippet's end, it must not reply for us."""
    streams.flush_all()
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    code = error.code if isinstance(error, SystemExit) else bool(error)
    os._exit(code if isinstance(code, int) else 1)
