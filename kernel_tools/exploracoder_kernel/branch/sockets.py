"""No sockets, where no network namespace keeps a process from the others of the machine.

Pairs of connected sockets can still be made: event loops and pools are built on them.
"""

from __future__ import annotations

import ctypes
import errno

from . import filters, landlock

_SOCKET = {0xC000003E: 41, 0xC00000B7: 198}
_AF_UNIX = 1
_SET_SECCOMP, _FILTER_MODE = 22, 2

_LOAD, _EQUAL, _AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06
_NUMBER_AT, _ARCHITECTURE_AT, _FAMILY_AT = 0, 4, 16
_X32 = 0x40000000
_ALLOW, _KILL, _REFUSE = 0x7FFF0000, 0x80000000, 0x00050000 | errno.EACCES


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_char_p))


def can_forbid() -> bool:
    """Whether the architecture is one whose numbers are known here."""
    return filters.this_machine() is not None


def forbid(which: str) -> None:
    """Let ``socket()`` fail from now on: ``all`` of them, or only those of the ``unix`` family.

    Raises:
        OSError: The kernel refused.
    """
    machine = filters.this_machine()
    if machine is None:
        return
    family: list[filters.Instruction] = []
    if which == "unix":
        family = [
            (_LOAD, 0, 0, _FAMILY_AT),
            (_EQUAL, 1, 0, _AF_UNIX),
            (_RETURN, 0, 0, _ALLOW),
        ]
    packed = filters.packed(
        [
            (_LOAD, 0, 0, _ARCHITECTURE_AT),
            (_EQUAL, 1, 0, machine.audit_arch),
            (_RETURN, 0, 0, _KILL),
            (_LOAD, 0, 0, _NUMBER_AT),
            (_AT_LEAST, 0, 1, _X32),
            (_RETURN, 0, 0, _KILL),
            (_EQUAL, 1, 0, _SOCKET[machine.audit_arch]),
            (_RETURN, 0, 0, _ALLOW),
            *family,
            (_RETURN, 0, 0, _REFUSE),
        ]
    )
    landlock.forbid_new_privileges()
    program = _Program(len(packed) // 8, packed)
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(_SET_SECCOMP, _FILTER_MODE, ctypes.byref(program), 0, 0) != 0:
        number = ctypes.get_errno()
        raise OSError(number, "The kernel takes no filter of system calls")
