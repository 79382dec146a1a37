"""Our paths under the server's base URL: the event stream, and everything listed in `routes`.

These modules are imported at server start, `routes` and `request_fields` on the first request.
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
