"""The keeper: parent of all branches of one launch.

It holds no state of the user's. It signals branches for the owner (whose process numbers may be
others, in a sandbox), says how they ended, and, when the owner goes away in whatever manner, ends
every process that descends from it and removes the scratch folder.
"""

from __future__ import annotations

import os
import select
import shutil
import signal
import socket
import sys

from . import linux, wire


def main(control_fd: int, branch_fd: int, scratch: str, is_supervised: bool) -> None:
    """Fork the root branch, then keep house until the owner closes the control socket.

    The owner removes the scratch folder; the keeper does when the owner was killed.
    """
    if os.fork() == 0:
        os.close(control_fd)
        from .serving import serve_root

        serve_root(socket.socket(fileno=branch_fd), scratch)
    os.close(branch_fd)
    _silence()
    keeper = Keeper(socket.socket(fileno=control_fd))
    try:
        keeper.serve()
    finally:
        linux.kill_descendants()
        keeper.kill_known()
        shutil.rmtree(os.path.dirname(scratch), ignore_errors=True)
    os._exit(0)


def _silence() -> None:
    nothing = os.open(os.devnull, os.O_RDWR)
    for fd in (0, 1, 2):
        os.dup2(nothing, fd)
    os.close(nothing)


class Keeper:
    """Serves the control socket: one owner, one thread."""

    def __init__(self, control: socket.socket) -> None:
        self._control = control
        self._wake, wake_end = socket.socketpair()
        self._wake_end = wake_end
        self._known: set[int] = set()

    def serve(self) -> None:
        """Answer until the owner closes its end."""
        self._prepare_signals()
        can_adopt = linux.adopt_orphans()
        version = ".".join(str(part) for part in sys.version_info[:3])
        hello = {"pid": os.getpid(), "python": version, "platform": sys.platform}
        self._say({"hello": {**hello, "can_adopt": can_adopt}})
        while True:
            ready, _, _ = select.select([self._control, self._wake], [], [])
            if self._wake in ready:
                self._wake.recv(4096)
                self._report_ends()
            if self._control in ready:
                message, _ = wire.receive(self._control)
                if message is None:
                    return
                self._obey(message)

    def kill_known(self) -> None:
        """SIGKILL the groups of the branches the owner ever named: for systems without /proc."""
        if not os.path.isdir("/proc/self"):
            for pid in self._known:
                linux.kill_family(pid)

    def _prepare_signals(self) -> None:
        for end in (self._wake, self._wake_end):
            end.setblocking(False)
        signal.set_wakeup_fd(self._wake_end.fileno(), warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))

    def _report_ends(self) -> None:
        for pid, status in linux.reap():
            number = os.WTERMSIG(status) if os.WIFSIGNALED(status) else None
            code = os.WEXITSTATUS(status) if os.WIFEXITED(status) else None
            self._say({"ended": {"pid": pid, "signal": number, "code": code}})

    def _obey(self, message: wire.Message) -> None:
        pid = int(message["pid"])
        self._known.add(pid)
        if message["op"] == "interrupt":
            try:
                os.killpg(pid, signal.SIGINT)
            except OSError:
                return
        elif message["op"] == "kill":
            linux.kill_family(pid)
        elif message["op"] == "count":
            self._say({"counted": {"pid": pid, "processes": len(linux.family(pid))}})

    def _say(self, message: wire.Message) -> None:
        try:
            wire.send(self._control, message)
        except OSError:
            raise SystemExit(0) from None
