"""The branch: answers requests from its socket, one at a time, in one thread."""

from __future__ import annotations

import builtins
import contextlib
import os
import signal
import socket
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any, NoReturn, Optional

from . import evidence, forks, linux, memory, names, splitting, streams, variables, wire
from .failures import brief, report
from .interrupts import Interrupts
from .ipython_cells import make_cells
from .loops import Loop

Message = wire.Message


def serve_root(sock: socket.socket, scratch: str) -> NoReturn:
    """Become the root branch of the keeper that forked this process; does not return."""
    keeper = os.getppid()
    os.setsid()
    linux.die_with_parent(keeper)
    try:
        Branch(sock, keeper, scratch).serve()
    finally:
        os._exit(1)


def _no_input(prompt: object = "", /) -> str:
    raise EOFError(
        "input() is not available: nobody sits at this kernel. Put the value into the code."
    )


class Branch:
    """One process state, and what may be asked of it."""

    def __init__(self, sock: socket.socket, keeper: int, scratch: str) -> None:
        self._sock = sock
        self._keeper = keeper
        self._pid = os.getpid()
        self._interrupts = Interrupts()
        self._interrupts.install()
        self._channels = streams.Channels(sock)
        streams.install(self._channels)
        self._loop = Loop()
        self._cells = make_cells(self._emit, self._loop, scratch)
        builtins.input = _no_input
        self._count = 0
        self._operations: dict[str, Callable[[Message], Message]] = {
            "variables": self._variables,
            "resolve": self._resolve,
            "complete": self._complete,
            "inspect": self._inspect,
            "memory": memory.answer,
        }

    def serve(self) -> NoReturn:
        """Answer until the owner closes its end."""
        self._say_ready()
        while True:
            request, descriptors = wire.receive(self._sock)
            if request is None or request["op"] == "shutdown":
                os._exit(0)
            if request["op"] == "fork":
                self._fork(request, descriptors)
            else:
                wire.send(self._sock, {"reply": self._answer(request)})

    def _say_ready(self) -> None:
        wire.send(self._sock, {"ready": {"pid": self._pid, "cells": self._cells.kind}})

    def _answer(self, request: Message) -> Message:
        try:
            if request["op"] == "run":
                return self._run(request)
            with self._interrupts.allowed():
                return self._operations[request["op"]](request)
        except KeyboardInterrupt:
            return {"failed": "interrupted"}
        except Exception as error:  # noqa: BLE001  # the outermost frame of the process
            return {"failed": brief(error)}
        finally:
            self._interrupts.forbid()

    def _emit(self, message: Message) -> None:
        if os.getpid() != self._pid:
            return  # a process that the snippet forked must not speak on our socket
        with self._interrupts.held():
            self._channels.enter_socket()
            wire.send(self._sock, message)

    def _fork(self, request: Message, descriptors: list[int]) -> None:
        is_forced = bool(request["is_forced"])
        split = splitting.split(self._loop.reason_not_to_fork(), is_forced=is_forced)
        if split.is_child:
            self._become_child(descriptors)
            return
        wire.send(self._sock, {"reply": {"refused": split.refusal}})
        for fd in descriptors:
            os.close(fd)

    def _become_child(self, descriptors: list[int]) -> None:
        sock, stdout, stderr = descriptors
        self._sock.close()
        self._sock = socket.socket(fileno=sock)
        self._pid = os.getpid()
        os.dup2(stdout, 1)
        os.dup2(stderr, 2)
        os.close(stdout)
        os.close(stderr)
        self._channels.reset(self._sock)
        self._say_ready()
        linux.die_with_parent(self._keeper)

    def _run(self, request: Message) -> Message:
        code, max_chars = str(request["code"]), int(request["max_output_chars"])
        self._count += 1
        self._cells.max_chars = max_chars
        self._channels.reset(self._sock)
        streams.repair(self._channels)
        before = variables.mark_all(self._users())
        started = time.perf_counter()
        error, outcome = self._execute(code, request["memory_bytes"])
        outcome["seconds"] = time.perf_counter() - started
        streams.flush_all()
        self._emit({"finished": True})
        with contextlib.suppress(KeyboardInterrupt), self._interrupts.allowed():
            outcome["variables"] = self._changed(before, code, bool(request["may_force"]))
        outcome["resident_bytes"] = memory.resident_bytes()
        if isinstance(error, MemoryError) and request["memory_bytes"]:
            outcome["limits_hit"] = ["memory_bytes"]
        return outcome

    def _execute(
        self, code: str, memory_bytes: Optional[int]
    ) -> tuple[Optional[BaseException], Message]:
        cell_name = f"<cell {self._count}>"
        body = _keeping_lines(code)
        self._interrupts.install()
        try:
            with self._interrupts.allowed(), _memory_limit(memory_bytes):
                error = self._cells.execute(body, cell_name, self._count)
        except KeyboardInterrupt as interrupt:
            error = interrupt
        self._interrupts.forbid()
        if os.getpid() != self._pid:
            _leave_copy(error)
        if error is None:
            return None, {"status": "ok"}
        status = "interrupted" if isinstance(error, KeyboardInterrupt) else "error"
        return error, {"status": status, "error": report(error, cell_name)}

    def _changed(self, before: dict[str, variables.Mark], code: str, may_force: bool) -> Any:
        after = self._users()
        changed = variables.changed(before, after, self._cells.parse(code))
        return variables.describe(changed, after, self._force(may_force))

    def _force(self, may_force: bool) -> Optional[variables.Force]:
        is_possible = may_force and evidence.reason_not_to_fork() is None
        return forks.first_elements if is_possible else None

    def _users(self) -> variables.Variables:
        return {
            name: value
            for name, value in list(self._cells.namespace.items())
            if isinstance(name, str)
            and variables.is_users(name, value)
            and not self._cells.is_hidden(name, value)
        }

    def _variables(self, request: Message) -> Message:
        mine = self._users()
        force = self._force(bool(request["may_force"]))
        return {"variables": variables.describe(mine, mine, force)}

    def _resolve(self, request: Message) -> Message:
        namespace = self._cells.namespace
        return {"resolved": [names.resolve(str(name), namespace) for name in request["names"]]}

    def _complete(self, request: Message) -> Message:
        cursor = int(request["cursor"])
        matches, start = self._cells.complete(str(request["code"]), cursor)
        return {"matches": matches, "start": start, "end": cursor}

    def _inspect(self, request: Message) -> Message:
        return names.inspect_name(str(request["name"]), self._cells.namespace)


def _keeping_lines(code: str) -> str:
    """IPython drops blank lines at the start of a cell; as comments they stay, and lines are right.

    Cell magics have to come first, so before them the lines do go.
    """
    lines = code.splitlines(keepends=True)
    skipped = next((n for n, line in enumerate(lines) if line.strip()), 0)
    if not skipped:
        return code
    body = "".join(lines[skipped:])
    indent = body[: len(body) - len(body.lstrip())]
    return body if body.startswith("%%") else f"{indent}#\n" * skipped + body


def _leave_copy(error: Optional[BaseException]) -> NoReturn:
    """A fork that the snippet itself made came to the snippet's end: it must not answer for us."""
    streams.flush_all()
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    code = error.code if isinstance(error, SystemExit) else bool(error)
    os._exit(code if isinstance(code, int) else 1)


@contextlib.contextmanager
def _memory_limit(limit_bytes: Optional[int]) -> Iterator[None]:
    """Limit the address space while a cell runs; our own work afterwards needs a little more."""
    if not limit_bytes or sys.platform == "win32":
        yield
        return
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    capped = limit_bytes if hard == resource.RLIM_INFINITY else min(limit_bytes, hard)
    resource.setrlimit(resource.RLIMIT_AS, (capped, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
