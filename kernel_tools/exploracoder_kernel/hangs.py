"""Whether a branch that does not come to an end is stuck: it waits for locks and computes nothing.

In a fork that is the sign of a lock whose holder was not copied.
"""

from __future__ import annotations

import asyncio
import enum

from exploracoder_kernel.launch import Launch

_BETWEEN_LOOKS_SECONDS = 0.1


class Wait(enum.Enum):
    """What a branch waits for."""

    LOCKS = "locks"
    OTHER = "other"
    UNKNOWN = "unknown"


async def what_for(launch: Launch, pid: int) -> Wait:
    """Look twice: whatever uses processor time meanwhile does not wait for a lock."""
    try:
        first = await launch.look(pid)
        await asyncio.sleep(_BETWEEN_LOOKS_SECONDS)
        second = await launch.look(pid)
    except TimeoutError:
        return Wait.OTHER
    if first["ticks"] != second["ticks"] or first["waits_for"] != second["waits_for"]:
        return Wait.OTHER
    return Wait(second["waits_for"])
