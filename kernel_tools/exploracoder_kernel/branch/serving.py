"""The branch: answers requests from its socket, one at a time, in one thread."""

from __future__ import annotations

import builtins
import os
import socket
import sys
import traceback
from collections.abc import Callable
from typing import Any, NoReturn

from . import comms, double_fork, introspection, linux, private_folder, streams, wire
from .cell_runs import Runs
from .error_reports import brief
from .interrupts import Interrupts
from .loops import Loop
from .owner import Owner

Message = wire.Message


def serve_root(sock: socket.socket, ipython: str) -> NoReturn:
    """Serve as the root branch of the reaper that forked this process; does not return."""
    reaper = os.getppid()
    linux.die_with_parent(reaper)
    try:
        Branch(sock, reaper, ipython).serve()
    except BaseException:  # noqa: BLE001  # nothing of ours may be above this frame
        traceback.print_exc()
    finally:
        os._exit(1)


class Branch:
    """The state of one branch, and the requests that it answers."""

    def __init__(self, sock: socket.socket, reaper: int, ipython: str) -> None:
        self._reaper = reaper
        self._interrupts = Interrupts()
        self._interrupts.install()
        channels = self._channels = streams.Channels()
        streams.install(channels)
        channels.keep_ends()
        self._owner = Owner(sock, self._interrupts, channels)
        self._loop = Loop()
        self._cells = _cells(self._owner.tell, self._loop, ipython)
        comms.install(self._owner.tell)
        self._runs = Runs(self._owner, self._cells, self._interrupts, channels)
        self._answers = introspection.answers(self._cells, self._runs)

    def serve(self) -> NoReturn:
        """Answer until the owner closes its end."""
        self._say_ready()
        while True:
            self._go_on_with_tasks()
            request, descriptors = self._owner.receive()
            if request is None or request["op"] == "shutdown":
                os._exit(0)
            if request["op"] == "fork":
                self._fork(request, descriptors)
            elif request["op"] != "input_reply":  # one that came too late
                request["descriptors"] = descriptors
                number = request.get("number")
                self._owner.reply({"reply": self._answer(request), "number": number})

    def _go_on_with_tasks(self) -> None:
        """Run tasks until a request comes, if there is a front end; else none run between cells."""
        if not self._cells.cell.has_front:
            return
        try:
            with self._interrupts.allowed():
                self._owner.let_run(self._loop)
        except BaseException:  # noqa: BLE001  # tasks of the user's may raise anything
            sys.excepthook(*sys.exc_info())
        finally:
            self._interrupts.forbid()

    def _say_ready(self) -> None:
        self._owner.reply({"ready": {"pid": os.getpid(), "cells": self._cells.kind}})

    def _answer(self, request: Message) -> Message:
        try:
            if request["op"] == "run":
                return self._runs.run(request)
            if request["op"] == "comm":
                return self._runs.deliver(request)
            with self._interrupts.allowed():
                return self._answers[request["op"]](request)
        except KeyboardInterrupt:
            return {"failed": "interrupted"}
        except Exception as error:  # noqa: BLE001  # the outermost frame of the process
            return {"failed": brief(error)}
        finally:
            self._interrupts.forbid()

    def _fork(self, request: Message, descriptors: list[int]) -> None:
        split = self._split(is_forced=bool(request["is_forced"]))
        if split.is_child:
            self._become_child(descriptors)
            return
        answer = {"refused": split.refusal, "pid": split.pid}
        self._owner.reply({"reply": answer, "number": request.get("number")})
        for fd in descriptors:
            os.close(fd)

    def _split(self, *, is_forced: bool) -> double_fork.Split:
        try:
            return double_fork.split(self._loop.reason_not_to_fork(), is_forced=is_forced)
        except Exception as error:  # a snippet may have replaced what a fork uses
            if not self._owner.is_ours:
                raise
            return double_fork.Split(False, refusal=f"the fork failed ({brief(error)})")

    def _become_child(self, descriptors: list[int]) -> None:
        sock, stdout, stderr = descriptors
        self._owner.replace(socket.socket(fileno=sock))
        os.dup2(stdout, 1)
        os.dup2(stderr, 2)
        os.close(stdout)
        os.close(stderr)
        self._channels.keep_ends()
        private_folder.follow()
        self._say_ready()
        linux.die_with_parent(self._reaper)


def _cells(tell: Callable[[Message], None], loop: Loop, ipython_dir: str) -> Any:
    """IPython's cells if the interpreter has a working IPython, plain ones otherwise."""
    main, hook, prompt = sys.modules["__main__"], sys.displayhook, builtins.input
    try:
        from .ipython_cells import IPythonCells

        return IPythonCells(tell, loop, ipython_dir)
    except Exception:  # noqa: BLE001  # a broken or ancient IPython must not take Python away
        from .plain_cells import PlainCells

        os.environ["MPLBACKEND"] = "Agg"
        sys.modules["__main__"], sys.displayhook, builtins.input = main, hook, prompt
        return PlainCells(tell, loop)
