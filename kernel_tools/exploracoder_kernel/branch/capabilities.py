"""Capabilities: what the superuser may do beyond others. Without a namespace, they are for real."""

from __future__ import annotations

import ctypes
import struct

_VERSION_3 = 0x20080522
_DROP_FROM_BOUND = 24
_MOST = 64


def drop() -> None:
    """Give up all, so that no program started from here has any either.

    Raises:
        OSError: The kernel refused.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    for capability in range(_MOST):
        libc.prctl(_DROP_FROM_BOUND, capability, 0, 0, 0)
    header = struct.pack("=Ii", _VERSION_3, 0)
    if libc.capset(header, bytes(24)) != 0:
        raise OSError(ctypes.get_errno(), "Capabilities can't be given up")
