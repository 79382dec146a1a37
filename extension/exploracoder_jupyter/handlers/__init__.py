"""Our paths below the server's base URL."""

from __future__ import annotations

from typing import Any

from exploracoder_jupyter.handlers.events import EventsSocket
from exploracoder_jupyter.handlers.explorations import (
    CellsHandler,
    CommandHandler,
    ExplorationHandler,
    ExplorationLookupsHandler,
    ExplorationsHandler,
    ExportHandler,
    OpenHandler,
    ReplayHandler,
)
from exploracoder_jupyter.handlers.models import ModelsHandler, PullHandler
from exploracoder_jupyter.handlers.server import (
    LibrariesHandler,
    LookupsHandler,
    SearchHandler,
    StatusHandler,
    SuggestionsHandler,
    UnknownHandler,
)

API = "exploracoder/api"
_ID = r"([0-9a-f]{32})"

ROUTES: tuple[tuple[str, type[Any]], ...] = (
    (f"{API}/status", StatusHandler),
    (f"{API}/models", ModelsHandler),
    (f"{API}/models/pull", PullHandler),
    (f"{API}/libraries", LibrariesHandler),
    (f"{API}/search", SearchHandler),
    (f"{API}/lookups", LookupsHandler),
    (f"{API}/suggestions", SuggestionsHandler),
    (f"{API}/explorations", ExplorationsHandler),
    (f"{API}/explorations/open", OpenHandler),
    (f"{API}/explorations/replay", ReplayHandler),
    (f"{API}/explorations/{_ID}", ExplorationHandler),
    (f"{API}/explorations/{_ID}/command", CommandHandler),
    (f"{API}/explorations/{_ID}/lookups", ExplorationLookupsHandler),
    (f"{API}/explorations/{_ID}/cells", CellsHandler),
    (f"{API}/explorations/{_ID}/export", ExportHandler),
    (f"{API}/events", EventsSocket),
    (rf"{API}(?:/(.*))?", UnknownHandler),
)
