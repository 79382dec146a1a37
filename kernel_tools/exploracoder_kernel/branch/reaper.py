"""The reaper: parent of all branches of one launch.

It runs none of the user's code. It signals branches for the owner (which may see other pids, in a
sandbox), reports how they ended, decides what they may ask of the kernel and, however the owner
goes away, kills all of its own descendants and removes the scratch folder. It waits for nobody but
its owner: nothing that branches do can hold it up.
"""

from __future__ import annotations

import contextlib
import os
import select
import shutil
import signal
import socket
import sys
from typing import Any, Optional

from . import copying, linux, private_mount, root, supervisor, wire
from .branch_limits import MOST_PROCESSES, BranchLimits, Limit
from .families import Families
from .purges import Purges

_MOST_EARLY_ENDS = 64
_SHARE_OF_MEMORY = 2


def main(control_fd: int, branch_fd: int, setup_fd: int) -> None:
    """Fork the root branch, then serve until the owner closes the control socket.

    The owner removes the scratch folder; the reaper does so too, in case the owner was killed.
    """
    setup = root.read_setup(setup_fd)
    is_supervised = bool(setup["seccomp"])
    mount = _mount_folder(setup["folder"])
    ours, roots = socket.socketpair()
    if is_supervised:
        linux.hide_memory()
    root_pid = os.fork()
    if root_pid == 0:
        os.close(control_fd)
        ours.close()
        root.become(branch_fd, setup_fd, roots)
    os.close(branch_fd)
    os.close(setup_fd)
    roots.close()
    _silence()
    listener, trouble = supervisor.take_over(ours, root_pid)
    usual = _usual_limit(setup["machine_memory"]) if is_supervised else Limit()
    reaper = Reaper(socket.socket(fileno=control_fd), root_pid, usual)
    if listener is not None:
        reaper.supervise(listener, setup["seccomp"]["decided"], mount)
    try:
        reaper.serve(trouble)
    finally:
        linux.kill_descendants()
        reaper.kill_groups()
        if setup["scratch"] is not None:
            shutil.rmtree(os.path.dirname(setup["scratch"]), ignore_errors=True)
    os._exit(0)


def _mount_folder(folder: Optional[dict[str, Any]]) -> Optional[private_mount.PrivateMount]:
    """Mount the root branch's private memory; None if branches have no mounts of their own."""
    if folder is None or not folder["is_mounted"]:
        return None
    mount = private_mount.described(folder)
    private_mount.take_own_namespace()
    private_mount.protect_devices()
    with copying.opened(mount.path) as original:
        mount.renew()
        copying.copy(original, mount.path)
    return mount


def _usual_limit(machine_memory: int) -> Limit:
    return Limit(processes=MOST_PROCESSES, memory_bytes=machine_memory // _SHARE_OF_MEMORY)


def _silence() -> None:
    null_fd = os.open(os.devnull, os.O_RDWR)
    for fd in (0, 1, 2):
        os.dup2(null_fd, fd)
    os.close(null_fd)


class Reaper:
    """Serves the control socket, and the supervisor if there is one: one owner, one thread.

    Args:
        control: The socket to the owner.
        root: The root branch's process.
        usual: What branches may use unless a run says otherwise.
    """

    def __init__(self, control: socket.socket, root: int, usual: Limit) -> None:
        self._control = control
        self._wake, self._wake_end = socket.socketpair()
        self._poll = select.poll()
        # Not `select.select`, which breaks on descriptors above 1023: an owner may have many files.
        self._orders = select.poll()
        self._orders.register(control, select.POLLIN)
        self._root = root
        self._families = Families(root)
        self._limits = BranchLimits(self._families, usual, self._say_limit)
        self._purges = Purges(self._families, self._limits)
        self._supervisor: Optional[supervisor.Supervisor] = None
        self._ended_branches: set[int] = set()
        self._with_company: set[int] = set()
        self._early_ends: dict[int, int] = {}

    def supervise(
        self, listener: int, names: dict[str, str], mount: Optional[private_mount.PrivateMount]
    ) -> None:
        """Decide the system calls that wait at ``listener``; ``names`` maps numbers to names."""
        calls = {int(number): name for number, name in names.items()}
        self._limits.is_supervised = True
        self._supervisor = supervisor.Supervisor(
            listener, calls, self._families, self._limits, mount
        )
        self._poll.register(listener, select.POLLIN)

    def serve(self, reason: str) -> None:
        """Serve until the owner closes its end; ``reason`` says why there is no supervisor."""
        self._prepare_signals()
        for fd in (self._control.fileno(), self._wake.fileno()):
            self._poll.register(fd, select.POLLIN)
        self._say_hello(self._supervisor is not None, reason)
        while self._serve_once():
            pass

    def kill_groups(self) -> None:
        """SIGKILL the branches' groups, on systems that don't tell who descends from whom."""
        if not linux.has_process_table():
            for branch in self._families:
                linux.kill_family(branch)

    def _say_hello(self, is_supervised: bool, reason: str) -> None:
        version = ".".join(str(part) for part in sys.version_info[:3])
        self._say(
            {
                "hello": {
                    "pid": os.getpid(),
                    "root": self._root,
                    "python": version,
                    "platform": sys.platform,
                    "can_adopt": linux.adopt_orphans(),
                    "supervised": is_supervised,
                    "not_supervised_because": reason,
                }
            }
        )

    def _serve_once(self) -> bool:
        ready = dict(self._poll.poll(self._milliseconds_to_next_look()))
        if self._wake.fileno() in ready:
            self._wake.recv(4096)
            self._report_ends()
        if not self._take_messages():
            return False
        if self._supervisor is not None:
            self._decide(self._supervisor, ready.get(self._supervisor.listener, 0))
        for branch in self._limits.look():
            self._kill(branch)
        self._purges.go_on()
        return True

    def _take_messages(self) -> bool:
        """Obey the owner before deciding branches' calls; False if it is gone.

        It announces a run before the run begins, so by now the announcement can be read.
        """
        while self._orders.poll(0):
            message, _ = wire.receive(self._control)
            if message is None:
                return False
            self._obey(message)
        return True

    def _milliseconds_to_next_look(self) -> Optional[float]:
        lookers = (self._limits, self._purges)
        seconds = [each.seconds_to_next_look() for each in lookers]
        soonest = min((one for one in seconds if one is not None), default=None)
        return None if soonest is None else 1000 * soonest + 1

    def _decide(self, decider: supervisor.Supervisor, events: int) -> None:
        if events & select.POLLIN:
            decider.answer()
        elif events:  # no process is left that could ask
            self._poll.unregister(decider.listener)
            os.close(decider.listener)
            self._supervisor = None

    def _prepare_signals(self) -> None:
        for end in (self._wake, self._wake_end):
            end.setblocking(False)
        signal.set_wakeup_fd(self._wake_end.fileno(), warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))

    def _report_ends(self) -> None:
        for pid, status in linux.reap():
            if pid in self._families:
                self._note_end(pid)
                self._say_end(pid, status)
            else:
                self._early_ends[pid] = status
                if len(self._early_ends) > _MOST_EARLY_ENDS:
                    del self._early_ends[next(iter(self._early_ends))]

    def _note_end(self, branch: int) -> None:
        self._limits.stop(branch)
        self._ended_branches.add(branch)
        if branch in self._purges:
            return
        if self._limits.is_alone(branch) or not self._families.members_of(branch):
            self._forget(branch)

    def _obey(self, message: wire.Message) -> None:
        pid, op = int(message["pid"]), message["op"]
        if op == "add":
            if not self._families.add(pid, int(message["parent"])):
                self._say_end(pid, self._early_ends.pop(pid, None))
        elif op == "stop":
            self._stop(pid)
        elif op == "fork":
            self._families.expect_fork(pid)
        elif pid not in self._families:
            return
        elif op == "interrupt":
            if pid not in self._ended_branches:
                with contextlib.suppress(OSError):
                    os.killpg(pid, signal.SIGINT)
        elif op == "kill":
            self._kill(pid)
        elif op == "start":
            self._limits.start(pid, Limit(message["processes"], message["memory_bytes"]))

    def _stop(self, branch: int) -> None:
        """End a run.

        Processes that were refused forks may retry forever as others end, so none may be left.
        """
        if self._limits.stop(branch) and branch in self._families:
            self._purges.begin(branch, lambda: self._say_stopped(branch), survivor=branch)
        else:
            self._say_stopped(branch)

    def _say_stopped(self, branch: int) -> None:
        """Report the end of a run, and note whether others are left, who will be in the next."""
        self._say({"stopped": {"pid": branch, "had_company": branch in self._with_company}})
        if branch in self._families and self._families.has_company(branch):
            self._with_company.add(branch)
        else:
            self._with_company.discard(branch)

    def _kill(self, branch: int) -> None:
        if linux.has_process_table():
            self._purges.begin(branch, lambda: self._forget_if_ended(branch))
        elif branch not in self._ended_branches:
            linux.kill_family(branch)

    def _forget_if_ended(self, branch: int) -> None:
        if branch in self._ended_branches:
            self._forget(branch)

    def _forget(self, branch: int) -> None:
        self._families.forget(branch)
        self._limits.forget(branch)
        for marks in (self._ended_branches, self._with_company):
            marks.discard(branch)

    def _say_end(self, branch: int, status: Optional[int]) -> None:
        code = None if status is None else os.waitstatus_to_exitcode(status)
        end = {"pid": branch, "signal": None, "code": code}
        if code is not None and code < 0:
            end.update(signal=-code, code=None)
        self._say({"ended": end})

    def _say_limit(self, branch: int, name: str, is_killed: bool) -> None:
        self._say({"limit": {"pid": branch, "name": name, "is_killed": is_killed}})

    def _say(self, message: wire.Message) -> None:
        try:
            wire.send(self._control, message)
        except OSError:
            raise SystemExit(0) from None
