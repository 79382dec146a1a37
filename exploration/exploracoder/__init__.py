"""Explore libraries that a language model does not know. Importing this package is cheap.

The public names are imported on first access: `explore`, `explore_sync`, `open_exploration`,
`load`, `map_library`, `Exploration`. ``%load_ext exploracoder`` registers the magics.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from exploracoder.api import explore as explore
    from exploracoder.api import explore_sync as explore_sync
    from exploracoder.api import open_exploration as open_exploration
    from exploracoder.document import load as load
    from exploracoder.events import Event as Event
    from exploracoder.live_exploration import LiveExploration as LiveExploration
    from exploracoder.mapping import map_library as map_library
    from exploracoder.state import Exploration as Exploration
    from exploracoder.workspace import Options as Options

__version__ = "0.2.0"

_HOMES = {
    "Event": "events",
    "Exploration": "state",
    "LiveExploration": "live_exploration",
    "Options": "workspace",
    "explore": "api",
    "explore_sync": "api",
    "load": "document",
    "map_library": "mapping",
    "open_exploration": "api",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})


def load_ipython_extension(shell: Any) -> None:
    """Register ``%exploracoder`` with an IPython shell, on ``%load_ext exploracoder``."""
    # The magics are a layer above this package, which may name their module but not import it.
    import_module("exploracoder_jupyter.magics").load(shell)


def unload_ipython_extension(shell: Any) -> None:
    """Unregister the magics and close whatever they have open."""
    import_module("exploracoder_jupyter.magics").unload(shell)
