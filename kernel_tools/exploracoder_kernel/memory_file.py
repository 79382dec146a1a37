"""A file without a name, to hand something to a child process as a descriptor."""

from __future__ import annotations

import os
import tempfile

from exploracoder_kernel.errors import SidecarError

# Python has no names for them where it was built for an old C library.
_ADD_SEALS = 1033
_ALL_SEALS = 0b1111
_CLOSE_ON_EXEC, _ALLOW_SEALING = 1, 2


def create() -> int:
    """An empty one, in memory where that can be had, as a descriptor that is not inheritable.

    Raises:
        SidecarError: There is no room for it.
    """
    try:
        return os.memfd_create("exploracoder", _CLOSE_ON_EXEC | _ALLOW_SEALING)
    except (AttributeError, OSError):
        pass  # not Linux, a Python built for an old C library, or a container that refuses it
    try:
        with tempfile.TemporaryFile() as file:
            return os.dup(file.fileno())
    except OSError as error:
        raise _no_room(error) from error


def fill(descriptor: int, content: bytes) -> None:
    """Write what it is to hold, once: whoever inherits it can read that, but not change it.

    Code that kept the descriptor could otherwise store there what no limit counts, and branches
    would share it.

    Raises:
        SidecarError: There is no room for it.
    """
    try:
        with open(descriptor, "wb", closefd=False) as file:
            file.write(content)
        os.lseek(descriptor, 0, os.SEEK_SET)
        _forbid_writing(descriptor)
    except OSError as error:
        raise _no_room(error) from error


def _forbid_writing(descriptor: int) -> None:
    import fcntl  # Windows has none

    try:
        fcntl.fcntl(descriptor, _ADD_SEALS, _ALL_SEALS)
    except OSError:  # a file on disk
        read_only = os.open(f"/dev/fd/{descriptor}", os.O_RDONLY)
        os.dup2(read_only, descriptor, inheritable=False)
        os.close(read_only)


def _no_room(error: OSError) -> SidecarError:
    return SidecarError(
        f"What a process needs to start can't be written: {error}. Free some space, or set TMPDIR."
    )
