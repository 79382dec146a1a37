"""A standard input that this process can end itself."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

_CHUNK_BYTES = 65_536


@contextmanager
def standard_input() -> Iterator[Callable[[], None]]:
    """Make standard input end when the client closes it, or when the yielded function is called.

    A thread blocks on the client's next line, and nothing else would wake it.
    """
    client, (ours, feed) = os.dup(0), os.pipe()
    os.dup2(ours, 0)
    os.close(ours)
    passed_on = os.fdopen(feed, "wb", buffering=0)

    def pass_on() -> None:
        # After it was ended from here, the pipe is closed or has no reader.
        with suppress(OSError, ValueError):
            while data := os.read(client, _CHUNK_BYTES):
                passed_on.write(data)
        passed_on.close()

    threading.Thread(target=pass_on, name="standard input", daemon=True).start()
    try:
        yield passed_on.close
    finally:
        passed_on.close()
        os.dup2(client, 0)
