"""Loads system call filters that the owner has compiled, irreversibly and for all descendants.

Run as a program with a filter in base64, it tells by its exit code whether the kernel accepts it.
"""

from __future__ import annotations

import base64
import ctypes
import os
import struct
import sys
from typing import Optional

_PR_SET_NO_NEW_PRIVS = 38
_CALLS = {"x86_64": 317, "aarch64": 277, "riscv64": 277, "ppc64le": 358, "s390x": 348}
_SET_MODE_FILTER = 1
_NEW_LISTENER = 8
_WAIT_KILLABLE = 32  # once the reaper has looked, only death ends the wait; since Linux 5.19
_INSTRUCTION_BYTES = 8


def load(programs: list[str]) -> int:
    """Install filters on this process.

    Args:
        programs: The filters, each in base64. Calls that the first one hands over can be answered.

    Returns:
        The descriptor at which they are answered.

    Raises:
        OSError: The kernel did not accept one of them.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "This process can't give up new privileges")
    handing_over, *others = programs
    listener = _load(handing_over, _NEW_LISTENER | _WAIT_KILLABLE)
    if listener is None:
        listener = _load(handing_over, _NEW_LISTENER)
    if listener is None:
        raise OSError(ctypes.get_errno(), "The kernel hands no system calls over for a decision")
    # If two filters refuse a call, the one loaded last determines the error.
    for program in others:
        if _load(program, 0) is None:
            raise OSError(ctypes.get_errno(), "The kernel takes no filter of system calls")
    return listener


def _load(program: str, flags: int) -> Optional[int]:
    code = base64.b64decode(program)
    buffer = ctypes.create_string_buffer(code, len(code))
    count = len(code) // _INSTRUCTION_BYTES
    header = ctypes.create_string_buffer(struct.pack("@HP", count, ctypes.addressof(buffer)))
    number = _CALLS.get(os.uname().machine)
    if number is None:
        raise OSError(f"The number of seccomp is not known for {os.uname().machine}")
    call = ctypes.CDLL(None, use_errno=True).syscall
    result = call(
        ctypes.c_long(number), ctypes.c_long(_SET_MODE_FILTER), ctypes.c_long(flags), header
    )
    return int(result) if result >= 0 else None


if __name__ == "__main__":
    try:
        load(sys.argv[1:])
    except OSError as error:
        sys.exit(str(error))
