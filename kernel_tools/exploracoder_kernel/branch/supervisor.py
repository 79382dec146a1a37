"""Supervision: the reaper decides system calls with which a branch could reach beyond itself.

The root branch installs the filter before any of the user's code runs; its forks and all they start
inherit it and can't remove it. Calls that the filter hands over stop in the kernel until the reaper
has answered. The reaper reads only process numbers and flags, which are in registers, so nothing
can change between its look and the call.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import socket
import struct
from typing import Optional

from . import linux, wire
from .branch_limits import BranchLimits
from .families import Families
from .private_mount import PrivateMount, entered, opened_namespace

_CLONE_THREAD = 0x00010000
_NOTICE = struct.Struct("=QIIiIQ6Q")  # id, thread, flags, call, architecture, address, arguments
_RESPONSE = struct.Struct("=QqiI")  # id, value, error, flags
_RECEIVE = 0xC0502100
_SEND = 0xC0182101
_IS_WAITING = 0x40082102
_GO_ON = 1


def take_over(root: socket.socket, pid: int) -> tuple[Optional[int], str]:
    """In the reaper: the descriptor for deciding system calls, or None and the reason.

    Args:
        root: The socket to the root branch.
        pid: Its process, a child of this one.
    """
    with root:
        root.settimeout(10)
        try:
            message, descriptors = wire.receive(root)
        except OSError as error:
            return None, str(error)
    if message is None:
        code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        return None, f"it ended early, with exit code {code}"
    return (descriptors[0], "") if descriptors else (None, str(message["refused"] or ""))


class Supervisor:
    """Answers one call at a time; the reaper's loop says when one waits.

    Args:
        listener: The descriptor at which the calls wait.
        names: The names of the calls, by number.
        families: Which process belongs to which branch.
        limits: Asked before each fork.
        mount: A branch's private mount, if branches have mounts.
    """

    def __init__(
        self,
        listener: int,
        names: dict[int, str],
        families: Families,
        limits: BranchLimits,
        mount: Optional[PrivateMount],
    ) -> None:
        self.listener = listener
        self._names = names
        self._families = families
        self._limits = limits
        self._mount = mount

    def answer(self) -> None:
        """Decide the waiting call; one whose caller has died meanwhile needs no answer."""
        notice = bytearray(_NOTICE.size)
        try:
            fcntl.ioctl(self.listener, _RECEIVE, notice, True)
        except OSError:
            return
        number, thread, _flags, call, _machine, _address, *arguments = _NOTICE.unpack(notice)
        name = self._names.get(call, "")
        is_mount = name == "mount"
        try:
            if is_mount:
                self._mount_for(number, thread)
            error = 0 if is_mount else self._decide(name, thread, arguments)
        except Exception:  # noqa: BLE001  # no argument, however odd, may end the reaper
            error = errno.EPERM
        self._send(number, error, 0 if error or is_mount else _GO_ON)

    def _mount_for(self, number: int, process: int) -> None:
        """Give a new branch memory of its own; a branch can't make it take long.

        Raises:
            OSError: It is not the branch's turn to ask, or the kernel refused.
        """
        is_turn = self._families.take_fork(process)
        if self._mount is None or not is_turn:
            raise PermissionError(errno.EPERM, "No mount was expected")
        with opened_namespace(process) as namespace:
            self._require_own(number, process, namespace)
            with entered(namespace):
                self._mount.renew()

    def _require_own(self, number: int, process: int, namespace: int) -> None:
        """Raise OSError unless the namespace is the waiting process's and nobody else's."""
        fcntl.ioctl(self.listener, _IS_WAITING, struct.pack("=Q", number))
        other_pids = [os.getpid(), *(branch for branch in self._families if branch != process)]
        for other in other_pids:
            is_same = False
            with contextlib.suppress(OSError), opened_namespace(other) as others:  # one may end
                is_same = os.path.samestat(os.fstat(namespace), os.fstat(others))
            if is_same:
                raise PermissionError(errno.EPERM, "It has no mount namespace of its own")

    def _send(self, number: int, error: int, flags: int) -> None:
        """Answer a call, even if a signal interrupts; if the caller has died, nobody is waiting."""
        answer = _RESPONSE.pack(number, 0, -error, flags)
        with contextlib.suppress(OSError):
            while True:
                try:
                    fcntl.ioctl(self.listener, _SEND, answer)
                    return
                except InterruptedError:
                    continue

    def _decide(self, name: str, caller: int, arguments: list[int]) -> int:
        """The error to answer with; 0 lets the call proceed."""
        branch = self._families.of(caller)
        if branch is None:
            return errno.EPERM
        if name in ("fork", "vfork", "clone"):
            is_thread = name == "clone" and bool(arguments[0] & _CLONE_THREAD)
            is_allowed = self._limits.may_start(branch, caller, is_thread=is_thread)
            return 0 if is_allowed else errno.EAGAIN
        if name == "setsid":
            self._families.open_session(linux.process_of_thread(caller), branch)
            return 0
        first, second = (_signed(argument) for argument in arguments[:2])
        if name in ("setpriority", "ioprio_set"):
            kind = first + (1 if name == "setpriority" else 0)  # 1 process, 2 group, 3 user
            return self._about_kind(branch, kind, second)
        if name == "kill":
            return self._about_kind(branch, 1 if first > 0 else 2, first if first > 0 else -first)
        target = second if name in ("tgkill", "rt_tgsigqueueinfo") else first
        return 0 if target == caller else self._about_kind(branch, 1, target)

    def _about_kind(self, branch: int, kind: int, target: int) -> int:
        if target == 0 and kind in (1, 2):
            return 0  # the caller itself, or its own group
        if kind == 1:
            owner = self._families.of(target)
            is_there = owner is not None or os.path.exists(f"/proc/{target}")
        elif kind == 2 and target > 1:  # -1 is everybody
            owner = self._families.of_group(target)
            is_there = True
        else:
            return errno.EPERM
        if not is_there:
            return errno.ESRCH
        return 0 if owner == branch else errno.EPERM


def _signed(argument: int) -> int:
    """The low 32 bits, as a signed C ``int``."""
    low = argument & 0xFFFFFFFF
    return low - (1 << 32) if low & 0x80000000 else low
