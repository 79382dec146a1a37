"""Landlock: a process gives up rights irrevocably, for itself and its children.

Older versions can't take everything away: before version 4 the network stays, before version 6
signals to other processes and sockets without a name in the file system.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import struct
import sys
from collections.abc import Iterator
from typing import Any, Optional

from .libc import checked, libc

# The same on every architecture that is in use.
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_VERSION_FLAG = 1
_PATH_BENEATH = 1
_NO_NEW_PRIVILEGES = 38

_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
_TRUNCATE, _DEVICE_COMMANDS = 1 << 14, 1 << 15
_READ = _EXECUTE | _READ_FILE | _READ_DIR
_OF_FILES = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _DEVICE_COMMANDS
_BLOCK_AND_CHARACTER_DEVICES = 1 << 6 | 1 << 11

_MAKE_BLOCK_DEVICE = 1 << 11
_MOVE_BETWEEN_FOLDERS = 1 << 13

_TCP = 0b11  # bind, connect
_SCOPES = 0b11  # abstract sockets, signals

_MOST_LAYERS = 16
_layers = 0  # of this process and those that it was forked from


def version() -> int:
    """The version of the kernel's interface; 0 without Landlock."""
    if not sys.platform.startswith("linux"):
        return 0
    result = _call(_CREATE_RULESET, None, 0, _VERSION_FLAG)
    return max(0, result)


def restrict(rights: dict[str, Any]) -> None:
    """Give up all of this process's rights but those named.

    Args:
        rights: ``read``, ``list`` and ``write`` are lists of paths: trees that may be read and
            run, trees whose folders may be listed, trees and files that may be changed as well.
            ``network`` says whether TCP is allowed. Without ``read``, files are left alone, and
            only what belongs to other processes is taken.

    Raises:
        OSError: The kernel refused.
    """
    abi = version()
    if not abi:
        return
    has_files = "read" in rights
    # Handling any right on files would also take away moving them between folders.
    handled_access = _handled(abi) if has_files else 0
    network = _TCP if abi >= 4 and not rights.get("network") else 0
    scopes = _SCOPES if abi >= 6 else 0
    if not (handled_access or network or scopes):
        return
    with _enforced(abi, handled_access, network, scopes) as ruleset:
        if has_files:
            _allow(ruleset, rights["read"], _READ & handled_access)
            _allow(ruleset, rights["list"], _READ_DIR & handled_access)
            _allow(ruleset, rights["write"], handled_access & ~_BLOCK_AND_CHARACTER_DEVICES)


def keep_apart() -> None:
    """Keep this process from looking into those that share its view of files, and they from it.

    It gives up a right that it does not need: the kernel lets nobody look across such a border.

    Raises:
        OSError: The kernel refused.
    """
    abi = version()
    if not abi:
        return
    # Handling any right on files takes this one away; the first version can't give it back.
    moving = _MOVE_BETWEEN_FOLDERS if abi >= 2 else 0
    scopes = _SCOPES if abi >= 6 else 0
    with _enforced(abi, _MAKE_BLOCK_DEVICE | moving, 0, scopes) as ruleset:
        if moving:
            _allow(ruleset, ["/"], moving)


def layers() -> int:
    """How many restrictions this process has."""
    return _layers


def is_used_up() -> bool:
    """Whether neither this process nor its forks can be restricted any further."""
    return _layers >= _MOST_LAYERS


def note_layers(count: int) -> None:
    """Record how many restrictions this process had before it ran this program."""
    global _layers
    _layers = count


def forbid_new_privileges() -> None:
    """Keep programs started from here from gaining more rights than this process has."""
    checked(libc().prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0), "prctl")


def _handled(abi: int) -> int:
    """All rights on files that this version can take away."""
    bits = {1: 13, 2: 14, 3: 15, 4: 15}.get(abi, 16)
    return (1 << bits) - 1


@contextlib.contextmanager
def _enforced(abi: int, file_rights: int, network: int, scopes: int) -> Iterator[int]:
    """A ruleset that the block may add rules to, enforced when the block ends."""
    fields = [file_rights, *([network] if abi >= 4 else ()), *([scopes] if abi >= 6 else ())]
    attributes = struct.pack(f"={len(fields)}Q", *fields)
    number = _call(_CREATE_RULESET, attributes, len(attributes), 0)
    ruleset = checked(number, "landlock_create_ruleset")
    try:
        yield ruleset
        forbid_new_privileges()
        checked(_call(_RESTRICT_SELF, ruleset, 0), "landlock_restrict_self")
        note_layers(_layers + 1)
    finally:
        os.close(ruleset)


def _allow(ruleset: int, paths: list[str], rights: int) -> None:
    for path in paths:
        with contextlib.suppress(FileNotFoundError, PermissionError):
            place = os.open(path, os.O_PATH | os.O_CLOEXEC)
            try:
                access = rights if os.path.isdir(path) else rights & _OF_FILES
                rule = struct.pack("=Qi", access, place)
                checked(_call(_ADD_RULE, ruleset, _PATH_BENEATH, rule, 0), "landlock_add_rule")
            finally:
                os.close(place)


def _call(number: int, *arguments: Optional[object]) -> int:
    """Make a system call; the result is negative if it failed."""
    values = [ctypes.c_long(each) if isinstance(each, int) else each for each in arguments]
    return int(libc().syscall(ctypes.c_long(number), *values))
