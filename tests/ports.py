"""Ports of this machine."""

from __future__ import annotations

import random
import socket

# Below those that the system hands out: none of them is given away before it is listened on.
_PORTS = range(20_000, 32_000)


def free_port() -> int:
    """A port that nobody listens on now. Raises OSError when none is found."""
    # Tests that run beside this one must not try the same ones.
    for port in random.SystemRandom().sample(_PORTS, 50):
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    raise OSError("no free port")
