"""A file without a name, to hand to a child process as a descriptor."""

from __future__ import annotations

import os
import sys
import tempfile


def create() -> int:
    """An empty one, in memory where the system can do that; not inheritable.

    Raises:
        OSError: There is no room for it.
    """
    if sys.platform == "linux":
        return os.memfd_create("exploracoder", os.MFD_CLOEXEC)
    with tempfile.TemporaryFile() as file:
        return os.dup(file.fileno())
