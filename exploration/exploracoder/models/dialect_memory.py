"""What servers were found to want, kept for later clients, of this process or any other."""

from __future__ import annotations

from pathlib import Path

from exploracoder.models.dialect import Dialect, Learnt
from exploracoder.models.endpoint_memory import EndpointMemory

# A server that was upgraded is asked for the full API again after that.
_KEPT_S = 7 * 24 * 3600.0


class DialectMemory:
    """The dialect of one server and model, in a file; see `EndpointMemory`."""

    def __init__(self, file: Path, *server: str) -> None:
        """Names the place; nothing is read yet.

        Args:
            file: The JSON file.
            server: What tells this server and model from others; no credentials.
        """
        self._kept = EndpointMemory(file, Learnt, *server, kept_s=_KEPT_S)
        self._learnt = Learnt()

    def recall(self, dialect: Dialect) -> None:
        """Gives ``dialect`` what was learnt within the last seven days."""
        learnt = self._kept.recall()
        if learnt is not None:
            self._learnt = learnt
            dialect.resume(learnt)

    def keep(self, dialect: Dialect) -> None:
        """Writes what ``dialect`` has learnt, if that is not what was read or written last."""
        learnt = dialect.learnt
        if learnt == self._learnt:
            return
        self._learnt = learnt
        # What comes later is forgotten with the first: otherwise some might be kept for ever.
        self._kept.keep(learnt, is_measured_anew=False)
