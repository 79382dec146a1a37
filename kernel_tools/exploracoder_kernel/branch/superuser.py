"""Capabilities: the superuser's extra rights, in its user namespace or on the whole machine."""

from __future__ import annotations

import struct

from .libc import checked, libc

_VERSION_3 = 0x20080522
_DROP_FROM_BOUND = 24
_AMBIENT, _AMBIENT_RAISE, _AMBIENT_CLEAR = 47, 2, 4
_MOST = 64
SYS_ADMIN = 21


def keep(*capabilities: int, through_programs: bool = False) -> None:
    """Give up all other capabilities, so that no program started from here has them either.

    Args:
        capabilities: Those of this process that it keeps.
        through_programs: Whether the next program that this process executes keeps them, too;
            otherwise no program has any.

    Raises:
        OSError: The kernel refused.
    """
    for capability in set(range(_MOST)) - set(capabilities):
        libc().prctl(_DROP_FROM_BOUND, capability, 0, 0, 0)
    libc().prctl(_AMBIENT, _AMBIENT_CLEAR, 0, 0, 0)
    bits = sum(1 << capability for capability in capabilities)
    inheritable_bits = bits if through_programs else 0
    sets = (bits, bits, inheritable_bits)
    words = [(value >> shift) & 0xFFFFFFFF for shift in (0, 32) for value in sets]
    header = struct.pack("=Ii", _VERSION_3, 0)
    checked(libc().capset(header, struct.pack("=6I", *words)), "capset")
    for capability in capabilities if through_programs else ():
        libc().prctl(_AMBIENT, _AMBIENT_RAISE, capability, 0, 0)
