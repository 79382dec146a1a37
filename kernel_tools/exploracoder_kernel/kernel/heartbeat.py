"""A client's heartbeat that can be stopped at any time."""

from __future__ import annotations

from jupyter_client.channels import HBChannel

_JOIN_SECONDS = 0.02


class Heartbeat(HBChannel):
    """Tells whether a kernel is alive.

    jupyter_client's own channel forgets that it was stopped if its thread starts work only then:
    it opens one socket after another forever, and the caller of ``stop`` waits just as long.
    """

    def stop(self) -> None:
        """End the thread, and wait for it."""
        self._exit.set()
        while self.is_alive():
            self._running = False
            self.join(_JOIN_SECONDS)
        self.close()
