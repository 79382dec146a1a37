"""The server extension: its configuration, and the explorations that live in the server.

Slow imports are deferred, so that only the first request that needs one waits for it.
"""

from __future__ import annotations

import asyncio
import importlib
import os
from typing import TYPE_CHECKING, Any

from exploracoder.effort import EFFORTS
from jupyter_server.extension.application import ExtensionApp
from traitlets import Bool, Dict, Enum, Int, Unicode, default

from exploracoder_jupyter.handlers import HANDLERS

if TYPE_CHECKING:
    from collections.abc import Callable

    from exploracoder_jupyter.handlers.routes import Route
    from exploracoder_jupyter.hosted_explorations import Host

_LEVELS = ("auto", "strict", "network", "off")
_STRATEGIES = ("auto", "fork", "replay")


class ExploraCoder(ExtensionApp):
    """Explorations in this server. Options: ``c.ExploraCoder.… = …`` in a configuration file."""

    name = "exploracoder"
    description = "Explores libraries that the language model does not know."
    load_other_extensions = True

    model = Unicode(
        help="The model to ask; 'embedded' is the one that needs nothing else. Default:"
        " EXPLORACODER_MODEL, or the embedded one when no endpoint is configured."
    ).tag(config=True)
    base_url = Unicode(
        help="An OpenAI-compatible endpoint. Default: OPENAI_BASE_URL; its key is in its"
        " provider's variable or OPENAI_API_KEY, never in a configuration file."
    ).tag(config=True)
    reasoning_effort = Enum(
        ("", *EFFORTS),
        default_value="",
        help="How long a model that reasons is to think before it answers. Where the endpoint does"
        " not take this, the model is asked without. Default: EXPLORACODER_REASONING_EFFORT.",
    ).tag(config=True)
    key_variables = Dict(
        key_trait=Unicode(),
        value_trait=Unicode(),
        help="For other endpoints that users choose: base URLs, each with the name of the"
        " environment variable that holds its key. A key goes only to the scheme, host and port"
        " that it is named for.",
    ).tag(config=True)
    local_servers = Dict(
        key_trait=Unicode(),
        value_trait=Unicode(),
        help="Model servers that are looked for on this machine: names and base URLs on loopback.",
    ).tag(config=True)
    cache = Bool(False, help="Answer repeated requests from the reply cache.").tag(config=True)
    profile = Unicode(
        help="The settings of a new exploration: 'small', 'standard' or 'paper'. Default: what"
        " suits the model, by what 'exploracoder model test' found, or else 'small' for the"
        " embedded one and 'standard' for all others."
    ).tag(config=True)
    sandbox = Enum(_LEVELS, help=f"What code is kept from: {', '.join(_LEVELS)}.").tag(config=True)
    strategy = Enum(_STRATEGIES, help=f"How branches are made: {', '.join(_STRATEGIES)}.").tag(
        config=True
    )
    chroma_url = Unicode(help="A chroma server for the index, instead of a folder.").tag(
        config=True
    )
    embeddings_url = Unicode(
        help="An OpenAI-compatible endpoint that embeds, instead of the built-in model."
    ).tag(config=True)
    embeddings_model = Unicode(help="Its model.").tag(config=True)
    max_open = Int(
        8, min=1, help="Explorations that may be open; the next takes the place of one at rest."
    ).tag(config=True)
    journal_folder = Unicode(
        help="Where explorations are written at every step, beside their notebooks. Default:"
        " exploracoder/explorations in Jupyter's data folder."
    ).tag(config=True)

    @default("sandbox")
    def _default_sandbox(self) -> str:
        return os.environ.get("EXPLORACODER_SANDBOX", "auto")

    @default("local_servers")
    def _default_local_servers(self) -> dict[str, str]:
        from exploracoder.models.discovery import USUAL

        return dict(USUAL)

    @default("strategy")
    def _default_strategy(self) -> str:
        return os.environ.get("EXPLORACODER_STRATEGY", "auto")

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._host: Host | None = None
        self._find: Callable[[str, str], tuple[Route, str]] | None = None
        self._start_lock = asyncio.Lock()

    def initialize_handlers(self) -> None:
        """Add our routes to the server's, which prefixes them with its base URL."""
        self.handlers.extend(HANDLERS)

    async def host(self) -> Host:
        """The host of this server's explorations, created on first use."""
        async with self._start_lock:
            if self._host is None:
                self._host = (await _imported("hosted_explorations")).host_for(self)
            return self._host

    async def find_route(self, method: str, path: str) -> tuple[Route, str]:
        """Find a request's route and the exploration it names; raises like `routes.find`."""
        async with self._start_lock:
            if self._find is None:
                self._find = (await _imported("handlers.routes")).find
            return self._find(method, path)

    async def stop_extension(self) -> None:
        """Close and save all explorations when the server stops."""
        if self._host is not None:
            await self._host.aclose()
            self._host = None


async def _imported(name: str) -> Any:
    """Import one of our slow modules in a thread, so that other requests need not wait."""
    return await asyncio.to_thread(importlib.import_module, f"exploracoder_jupyter.{name}")
