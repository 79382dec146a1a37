"""Our paths below the server's base URL: the events, and what `routes` has a line for.

These modules are imported when the server starts, `routes` and `asked` with the first request.
"""

from __future__ import annotations

from typing import Any

from exploracoder_jupyter.handlers.event_stream import EventsSocket
from exploracoder_jupyter.handlers.handler import Handler

API = "exploracoder/api"

HANDLERS: tuple[tuple[str, type[Any]], ...] = (
    (f"{API}/events", EventsSocket),
    (rf"{API}(?:/(.*))?", Handler),
)
