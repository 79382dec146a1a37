"""Keeps what was learnt about servers for later clients, in this process or any other."""

from __future__ import annotations

from pathlib import Path

from exploracoder.models.dialect import Dialect, Learnt
from exploracoder.models.endpoint_memory import EndpointMemory

# After that the full API is tried again, since the server may have been upgraded.
_KEPT_S = 7 * 24 * 3600.0


class DialectMemory:
    """The dialect of one server and model, in a file; see `EndpointMemory`."""

    def __init__(self, file: Path, *server: str) -> None:
        """Sets the file; nothing is read yet.

        Args:
            file: The JSON file.
            server: Identifies the server and model; no credentials.
        """
        self._memory = EndpointMemory(file, Learnt, *server, kept_s=_KEPT_S)
        self._learnt = Learnt()

    def recall(self, dialect: Dialect) -> None:
        """Applies what was learnt within the last seven days to ``dialect``."""
        learnt = self._memory.recall()
        if learnt is not None:
            self._learnt = learnt
            dialect.resume(learnt)

    def keep(self, dialect: Dialect) -> None:
        """Saves what ``dialect`` has learnt, if it has changed since the last read or write."""
        learnt = dialect.learnt
        if learnt == self._learnt:
            return
        self._learnt = learnt
        # Later findings expire with the first: otherwise some might be kept for ever.
        self._memory.keep(learnt, is_measured_anew=False)
