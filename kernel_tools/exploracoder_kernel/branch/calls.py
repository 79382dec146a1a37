"""System calls that Landlock does not judge, refused by a filter of the kernel's.

Sockets, where no network namespace keeps a process from the others of the machine; pairs of
connected ones can still be made, event loops and pools are built on them. And changes of a file's
permissions, owner and times, which Landlock lets happen to files that can't be written: they are
said to have worked, and have not, so that copying and unpacking files into scratch goes on.
"""

from __future__ import annotations

import ctypes
import errno
from typing import Optional

from . import filters, landlock

# (x86_64, aarch64) numbers; None where the architecture has no such call.
_Numbers = tuple[Optional[int], Optional[int]]
_SOCKET: _Numbers = (41, 198)
_METADATA: dict[str, _Numbers] = {
    "chmod": (90, None),
    "fchmod": (91, 52),
    "fchmodat": (268, 53),
    "fchmodat2": (452, 452),
    "chown": (92, None),
    "fchown": (93, 55),
    "lchown": (94, None),
    "fchownat": (260, 54),
    "utime": (132, None),
    "utimes": (235, None),
    "futimesat": (261, None),
    "utimensat": (280, 88),
}
_ATTRIBUTES: dict[str, _Numbers] = {
    "setxattr": (188, 5),
    "lsetxattr": (189, 6),
    "fsetxattr": (190, 7),
    "removexattr": (197, 14),
    "lremovexattr": (198, 15),
    "fremovexattr": (199, 16),
    "setxattrat": (463, 463),
    "removexattrat": (466, 466),
}
_AF_UNIX = 1
_SET_SECCOMP, _FILTER_MODE = 22, 2

_LOAD, _EQUAL, _AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06
_NUMBER_AT, _ARCHITECTURE_AT, _FAMILY_AT = 0, 4, 16
_X32 = 0x40000000
_ALLOW, _KILL, _ANSWER = 0x7FFF0000, 0x80000000, 0x00050000
_PRETEND = _ANSWER | 0
_REFUSE = _ANSWER | errno.EACCES
_NOT_SUPPORTED = _ANSWER | errno.EOPNOTSUPP


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_char_p))


def can_refuse() -> bool:
    """Whether the architecture is one whose numbers are known here."""
    return filters.this_machine() is not None


def refuse(sockets: str) -> None:
    """From now on let ``socket()`` fail, and keep the metadata of files as it is.

    Args:
        sockets: ``all`` of them fail, or only those of the ``unix`` family.

    Raises:
        OSError: The kernel took no filter.
    """
    machine = filters.this_machine()
    if machine is None:
        return
    family = [(_LOAD, 0, 0, _FAMILY_AT), (_EQUAL, 1, 0, _AF_UNIX), _answer(_ALLOW)]
    steps = [
        (_LOAD, 0, 0, _ARCHITECTURE_AT),
        (_EQUAL, 1, 0, machine.audit_arch),
        _answer(_KILL),
        (_LOAD, 0, 0, _NUMBER_AT),
        (_AT_LEAST, 0, 1, _X32),
        _answer(_KILL),
    ]
    for numbers in _METADATA.values():
        steps += _when(machine.number(numbers), [_answer(_PRETEND)])
    for numbers in _ATTRIBUTES.values():
        steps += _when(machine.number(numbers), [_answer(_NOT_SUPPORTED)])
    refusal = [*(family if sockets == "unix" else ()), _answer(_REFUSE)]
    steps += _when(machine.number(_SOCKET), refusal)
    _install([*steps, _answer(_ALLOW)])


def _install(steps: list[filters.Instruction]) -> None:
    landlock.forbid_new_privileges()
    program = _Program(len(steps), filters.packed(steps))
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(_SET_SECCOMP, _FILTER_MODE, ctypes.byref(program), 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "The kernel takes no filter of system calls")


def _when(number: Optional[int], body: list[filters.Instruction]) -> list[filters.Instruction]:
    return [] if number is None else [(_EQUAL, 0, len(body), number), *body]


def _answer(value: int) -> filters.Instruction:
    return (_RETURN, 0, 0, value)
