"""Supervision: what a branch asks of the kernel that could reach beyond it, its keeper decides.

The root branch puts the filter on before any of the user's code runs; its forks and all they start
inherit it and can't take it off. Calls that the filter leaves open (``filters.DECIDED``) stop in
the kernel until the keeper has answered. The keeper reads only process numbers and flags, which lie
in registers, so nothing can be changed between its look and the call.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import socket
import struct
from typing import Optional, Protocol

from . import filters, linux, wire
from .families import Families

_PR_SET_NO_NEW_PRIVS = 38
_SECCOMP_CALLS = {"x86_64": 317, "aarch64": 277}
_SET_MODE_FILTER = 1
_NEW_LISTENER = 8
_WAIT_KILLABLE = 32  # once the keeper has looked, only death ends the wait; since Linux 5.19

_NOTICE = struct.Struct("=QIIiIQ6Q")  # id, thread, flags, call, architecture, address, arguments
_RESPONSE = struct.Struct("=QqiI")  # id, value, error, flags
_RECEIVE = 0xC0502100
_SEND = 0xC0182101
_GO_ON = 1


class Allowance(Protocol):
    """Says whether a branch may be one process or thread more."""

    def may_start(self, branch: int, caller: int, *, is_thread: bool) -> bool:
        """Asked before each fork."""
        ...


def confine(keeper: socket.socket) -> None:
    """Put the filter on this process for good, and give the keeper the decisions; or say why not.

    ``keeper`` is closed.
    """
    with keeper:
        try:
            listener = _install()
        except (ImportError, OSError, AttributeError) as error:
            wire.send(keeper, {"refused": str(error) or type(error).__name__})
            return
        socket.send_fds(keeper, [wire.pack({"refused": None})], [listener])
        os.close(listener)


def take_over(root: socket.socket) -> tuple[Optional[int], str]:
    """In the keeper: the descriptor of the decisions, or None and the reason."""
    with root:
        root.settimeout(10)
        try:
            message, descriptors = wire.receive(root)
        except OSError as error:
            return None, str(error)
    if message is None or not descriptors:
        return None, "it ended early" if message is None else str(message["refused"])
    return descriptors[0], ""


def _install() -> int:
    import ctypes

    machine = filters.this_machine()
    if machine is None:
        raise OSError(f"the numbers of {os.uname().machine}'s system calls are not known here")
    steps = filters.program(machine)
    code = ctypes.create_string_buffer(filters.packed(steps))
    header = ctypes.create_string_buffer(struct.pack("@HP", len(steps), ctypes.addressof(code)))
    linux.prctl_or_raise(_PR_SET_NO_NEW_PRIVS, 1)
    call = ctypes.CDLL(None, use_errno=True).syscall
    number = ctypes.c_long(_SECCOMP_CALLS[os.uname().machine])
    for flags in (_NEW_LISTENER | _WAIT_KILLABLE, _NEW_LISTENER):
        listener = call(number, ctypes.c_long(_SET_MODE_FILTER), ctypes.c_long(flags), header)
        if listener >= 0:
            return int(listener)
    raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


class Supervisor:
    """Answers one call at a time; the keeper's loop says when one waits."""

    def __init__(self, listener: int, families: Families, allowance: Allowance) -> None:
        self.listener = listener
        self._families = families
        self._allowance = allowance
        machine = filters.this_machine()
        self._names = {} if machine is None else filters.decided_calls(machine)

    def answer(self) -> None:
        """Decide the call that waits; one whose caller has died meanwhile needs no answer."""
        notice = bytearray(_NOTICE.size)
        try:
            fcntl.ioctl(self.listener, _RECEIVE, notice, True)
        except OSError:
            return
        number, thread, _flags, call, _machine, _address, *arguments = _NOTICE.unpack(notice)
        try:
            error = self._decide(self._names.get(call, ""), thread, arguments)
        except Exception:  # noqa: BLE001  # no argument, however odd, may end the keeper
            error = errno.EPERM
        answer = _RESPONSE.pack(number, 0, -error, 0 if error else _GO_ON)
        self._send(answer)

    def _send(self, answer: bytes) -> None:
        """A signal to the keeper must not leave the caller waiting; when it has died, nobody is."""
        with contextlib.suppress(OSError):
            while True:
                try:
                    fcntl.ioctl(self.listener, _SEND, answer)
                    return
                except InterruptedError:
                    continue

    def _decide(self, name: str, caller: int, arguments: list[int]) -> int:
        """The error to answer with; 0 lets the call go on."""
        branch = self._families.of(caller)
        if branch is None:
            return errno.EPERM
        if name in ("fork", "vfork", "clone"):
            is_thread = name == "clone" and bool(arguments[0] & filters.CLONE_THREAD)
            is_allowed = self._allowance.may_start(branch, caller, is_thread=is_thread)
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
    """The low half, as an ``int``."""
    low = argument & 0xFFFFFFFF
    return low - (1 << 32) if low & 0x80000000 else low
