"""Discovers model servers on this machine at their usual addresses.

Only their lists of models are requested. The servers found are offered to the user; nothing else
is sent to one until the user chooses it.
"""

from __future__ import annotations

import asyncio
import importlib
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import anyio
from exploracoder_retrieval import web_access
from pydantic import BaseModel, ConfigDict, ValidationError

from exploracoder.models.server_answer import read_cards

if TYPE_CHECKING:
    import httpx

USUAL: Mapping[str, str] = {
    "Ollama": "http://127.0.0.1:11434/v1",
    "LM Studio": "http://127.0.0.1:1234/v1",
    "llama.cpp": "http://127.0.0.1:8080/v1",
    "vLLM": "http://127.0.0.1:8000/v1",
}
TIMEOUT_S = 1.5
_MOST_BYTES = 1 << 18
_MOST_MODELS = 50
_MOST_NAME_CHARS = 200


class LocalServer(BaseModel):
    """A model server of this machine: what it usually is, its base URL, and its models."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    title: str
    base_url: str
    models: tuple[str, ...]


async def find_servers(
    places: Mapping[str, str] = USUAL, *, timeout_s: float = TIMEOUT_S
) -> tuple[LocalServer, ...]:
    """The servers that list models, in the order of ``places``; all are queried concurrently.

    Args:
        places: Base URLs by the server that usually listens there; only loopback ones are used.
        timeout_s: How long each may take, in seconds.
    """
    # The import takes a moment: other tasks go on meanwhile.
    httpx = await asyncio.to_thread(importlib.import_module, "httpx")
    local = {title: url for title, url in places.items() if is_plain_loopback(url)}
    # Use no proxy for this machine's own servers, and follow no redirect to another one.
    async with httpx.AsyncClient(trust_env=False, follow_redirects=False) as client:
        requests = (_models_at(client, url, timeout_s) for url in local.values())
        answers = await asyncio.gather(*requests)
    return tuple(
        LocalServer(title=title, base_url=url, models=models)
        for (title, url), models in zip(local.items(), answers, strict=True)
        if models
    )


def is_plain_loopback(url: str) -> bool:
    """Whether ``url`` is an http URL on this machine's loopback interface."""
    return web_access.is_loopback(url) and urlsplit(url).scheme == "http"


async def _models_at(client: httpx.AsyncClient, base_url: str, timeout_s: float) -> tuple[str, ...]:
    """The models that a server lists; empty if no model server answers."""
    import httpx

    body = bytearray()
    try:
        with anyio.fail_after(timeout_s):
            url = f"{base_url.rstrip('/')}/models"
            async with client.stream(
                "GET", url, headers={"Accept-Encoding": "identity"}
            ) as response:
                if response.status_code != 200:
                    return ()
                async for piece in response.aiter_raw():
                    body += piece
                    if len(body) > _MOST_BYTES:
                        return ()
        cards = read_cards(json.loads(body))
    except (TimeoutError, httpx.HTTPError, httpx.InvalidURL):
        return ()
    except (ValueError, RecursionError, ValidationError):
        # Something else listens there.
        return ()
    names = dict.fromkeys(str(card["id"]) for card in cards)
    return tuple(name for name in names if _is_chat_model(name))[:_MOST_MODELS]


def _is_chat_model(name: str) -> bool:
    """Whether a name can be shown and requested; embedding models are of no use here."""
    is_name = 0 < len(name) <= _MOST_NAME_CHARS and name.isprintable()
    return is_name and "embed" not in name.lower()
