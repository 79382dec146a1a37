"""The C library, looked up once: that takes longer than most calls of it."""

from __future__ import annotations

import ctypes
import functools
import os


@functools.cache
def libc() -> ctypes.CDLL:
    """The one that Python itself is linked with."""
    return ctypes.CDLL(None, use_errno=True)


def checked(result: int, call: str) -> int:
    """What a call returned.

    Args:
        result: Negative when it failed.
        call: Which one, for the error.

    Raises:
        OSError: It failed.
    """
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{call}: {os.strerror(number)}")
    return result
