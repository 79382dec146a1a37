"""The C library, looked up only once: that takes longer than most calls to it."""

from __future__ import annotations

import ctypes
import functools
import os


@functools.cache
def libc() -> ctypes.CDLL:
    """The C library that Python itself is linked with."""
    return ctypes.CDLL(None, use_errno=True)


def checked(result: int, call: str) -> int:
    """Return the result of a C call unless it failed.

    Args:
        result: What the call returned; negative if it failed.
        call: The call's name, for the error.

    Raises:
        OSError: The call failed.
    """
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{call}: {os.strerror(number)}")
    return result
