"""The seccomp filter of a branch: which system calls are refused, and which the keeper decides.

A filter is a short program that the kernel runs before each system call. It sees the number and the
arguments as they are in the registers, so it can judge numbers and flags, and no text. What it lets
pass whatever the arguments are, the kernel remembers: those calls cost nothing more.
"""

from __future__ import annotations

import errno
import platform
import struct
from typing import NamedTuple, Optional

# (x86_64, aarch64) numbers; None where the architecture has no such call.
_Numbers = tuple[Optional[int], Optional[int]]

# Ways into another process, into the kernel's own settings, and around the file system's view.
FORBIDDEN: dict[str, _Numbers] = {
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "process_madvise": (440, 440),
    "process_mrelease": (448, 448),
    "pidfd_getfd": (438, 438),
    "pidfd_send_signal": (424, 424),
    "kcmp": (312, 272),
    "migrate_pages": (256, 238),
    "perf_event_open": (298, 241),
    "bpf": (321, 280),
    "keyctl": (250, 219),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "unshare": (272, 97),
    "setns": (308, 268),
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "open_tree": (428, 428),
    "move_mount": (429, 429),
    "fsopen": (430, 430),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fspick": (433, 433),
    "mount_setattr": (442, 442),
    "open_by_handle_at": (304, 265),
    "fanotify_init": (300, 262),
    "lookup_dcookie": (212, 18),
    "swapon": (167, 224),
    "swapoff": (168, 225),
    "reboot": (169, 142),
    "kexec_load": (246, 104),
    "kexec_file_load": (320, 294),
    "init_module": (175, 105),
    "finit_module": (313, 273),
    "delete_module": (176, 106),
    "acct": (163, 89),
    "quotactl": (179, 60),
    "quotactl_fd": (443, 443),
    "settimeofday": (164, 170),
    "clock_settime": (227, 112),
    "clock_adjtime": (305, 266),
    "iopl": (172, None),
    "ioperm": (173, None),
    "syslog": (103, 116),
    "vhangup": (153, 58),
    "sethostname": (170, 161),
    "setdomainname": (171, 162),
}

# What libraries use when it is there and do without when the kernel is said not to know it. The C
# library falls back from clone3, whose flags a filter can't read, to clone. The last ones hold
# memory that is counted nowhere: files without a name, and shared memory of the old kind.
UNKNOWN: dict[str, _Numbers] = {
    "clone3": (435, 435),
    "userfaultfd": (323, 282),
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "memfd_create": (319, 279),
    "memfd_secret": (447, 447),
    "shmget": (29, 194),
    "msgget": (68, 186),
}

# What the keeper decides, knowing which process belongs to which branch.
DECIDED: dict[str, _Numbers] = {
    "kill": (62, 129),
    "tkill": (200, 130),
    "tgkill": (234, 131),
    "rt_sigqueueinfo": (129, 138),
    "rt_tgsigqueueinfo": (297, 240),
    "fork": (57, None),
    "vfork": (58, None),
    "clone": (56, 220),
    "setsid": (112, 157),
    "prlimit64": (302, 261),
    "sched_setaffinity": (203, 122),
    "sched_setscheduler": (144, 119),
    "sched_setparam": (142, 118),
    "sched_setattr": (314, 274),
    "move_pages": (279, 239),
    "setpriority": (141, 140),
    "ioprio_set": (251, 30),
}

# Their first argument is a process, and 0 the caller itself, for which nobody needs to be asked.
_ABOUT_A_PROCESS = (
    "prlimit64",
    "sched_setaffinity",
    "sched_setscheduler",
    "sched_setparam",
    "sched_setattr",
    "move_pages",
)

_FCNTL: _Numbers = (72, 25)
_IOCTL: _Numbers = (16, 29)
_PERSONALITY: _Numbers = (135, 92)
_SOCKET: _Numbers = (41, 198)

FIRST_UNKNOWN_CALL = 467  # newer kernels have more; what is not known here is not there
_X32 = 0x40000000
_NO_CALL = 0xFFFFFFFF

# A file's owner is sent signals of its choice: a way to kill around the calls above.
_OWNER_COMMANDS = (8, 10, 15)  # F_SETOWN, F_SETSIG, F_SETOWN_EX
_BAD_IOCTLS = (0x8901, 0x8902, 0x5412, 0x541C)  # FIOSETOWN, SIOCSPGRP, TIOCSTI, TIOCLINUX
_SOCKET_FAMILIES = (1, 2, 10, 16)  # AF_UNIX, AF_INET, AF_INET6, AF_NETLINK
_PERSONALITIES = (0, 0xFFFFFFFF)  # Linux as it is; asking which one it is

CLONE_THREAD = 0x00010000
_CLONE_NAMESPACES = 0x7E020000

_AUDIT_ARCH = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}

_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_NR_AT, _ARCH_AT, _ARGUMENTS_AT = 0, 4, 16

_ALLOW = 0x7FFF0000
_DECIDE = 0x7FC00000
_KILL = 0x80000000
_REFUSE = 0x00050000 | errno.EPERM
_NOT_THERE = 0x00050000 | errno.ENOSYS

Instruction = tuple[int, int, int, int]


class Machine(NamedTuple):
    """What differs between architectures."""

    column: int
    audit_arch: int

    def number(self, numbers: _Numbers) -> Optional[int]:
        """The call's number here."""
        return numbers[self.column]


def this_machine() -> Optional[Machine]:
    """None on an architecture whose numbers are not known here, or in a 32-bit process."""
    kind = platform.machine()
    if kind not in _AUDIT_ARCH or struct.calcsize("P") != 8:
        return None
    return Machine(column=list(_AUDIT_ARCH).index(kind), audit_arch=_AUDIT_ARCH[kind])


def decided_calls(machine: Machine) -> dict[int, str]:
    """Number and name of the calls that the keeper is asked about."""
    named = ((machine.number(numbers), name) for name, numbers in DECIDED.items())
    return {number: name for number, name in named if number is not None}


def program(machine: Machine) -> list[Instruction]:
    """The filter's instructions."""
    steps = _check_machine(machine)
    for numbers in FORBIDDEN.values():
        steps += _when(machine, numbers, [_answer(_REFUSE)])
    for numbers in UNKNOWN.values():
        steps += _when(machine, numbers, [_answer(_NOT_THERE)])
    steps += _judged_by_arguments(machine)
    for name, numbers in DECIDED.items():
        steps += _when(machine, numbers, _decision(name))
    return [*steps, _answer(_ALLOW)]


def packed(instructions: list[Instruction]) -> bytes:
    """As the kernel reads them."""
    return b"".join(struct.pack("=HBBI", *instruction) for instruction in instructions)


def _check_machine(machine: Machine) -> list[Instruction]:
    return [
        (_LOAD, 0, 0, _ARCH_AT),
        (_EQUAL, 1, 0, machine.audit_arch),
        _answer(_KILL),
        (_LOAD, 0, 0, _NR_AT),
        (_EQUAL, 3, 0, _NO_CALL),
        (_AT_LEAST, 0, 1, _X32),
        _answer(_KILL),
        (_AT_LEAST, 0, 1, FIRST_UNKNOWN_CALL),
        _answer(_NOT_THERE),
    ]


def _judged_by_arguments(machine: Machine) -> list[Instruction]:
    owner = [*_if_among(1, _OWNER_COMMANDS, _REFUSE), _answer(_ALLOW)]
    terminal = [*_if_among(1, _BAD_IOCTLS, _REFUSE), _answer(_ALLOW)]
    steps = _when(machine, _FCNTL, owner) + _when(machine, _IOCTL, terminal)
    for numbers, good in ((_PERSONALITY, _PERSONALITIES), (_SOCKET, _SOCKET_FAMILIES)):
        steps += _when(machine, numbers, [*_if_among(0, good, _ALLOW), _answer(_REFUSE)])
    return steps


def _decision(name: str) -> list[Instruction]:
    if name in _ABOUT_A_PROCESS:
        return [*_if_among(0, (0,), _ALLOW), _answer(_DECIDE)]
    if name == "clone":
        namespaces = (_ANY_BIT, 0, 1, _CLONE_NAMESPACES)
        return [_argument(0), namespaces, _answer(_REFUSE), _answer(_DECIDE)]
    return [_answer(_DECIDE)]


def _when(machine: Machine, numbers: _Numbers, body: list[Instruction]) -> list[Instruction]:
    """``body``, which ends in an answer, for one call. The number is loaded before and after."""
    number = machine.number(numbers)
    return [] if number is None else [(_EQUAL, 0, len(body), number), *body]


def _if_among(argument: int, values: tuple[int, ...], answer: int) -> list[Instruction]:
    steps = [_argument(argument)]
    for value in values:
        steps += [(_EQUAL, 0, 1, value), _answer(answer)]
    return steps


def _argument(index: int) -> Instruction:
    """Load the low half of an argument, all that the kernel looks at in an ``int``."""
    return (_LOAD, 0, 0, _ARGUMENTS_AT + 8 * index)


def _answer(value: int) -> Instruction:
    return (_RETURN, 0, 0, value)
