"""What a server reports about a model: its context length and its size."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Mapping
from typing import Any

from exploracoder.models.endpoint import Endpoint
from exploracoder.models.server_answer import mapping, mappings

# Hosted services and vLLM report it in their list of models, each under its own name.
_CONTEXT_NAMES = ("max_model_len", "context_length", "context_window", "max_context_length")
_MOST = 1 << 53
# "7b" of "qwen2.5-coder:7b", "30B" of "Qwen3-30B-A3B".
_SIZE = re.compile(r"(?<![a-z0-9.])(\d{1,4}(?:\.\d{1,3})?)b(?![a-z0-9])", re.IGNORECASE)


async def facts_of(server: Endpoint, model: str) -> dict[str, int]:
    """``context_tokens`` and ``parameters``, each only if it is known.

    Raises:
        ModelError: The server did not answer in time, or failed.
    """
    facts = dict[str, int]()
    async for more_facts in _sayings(server, model):
        facts = more_facts | facts
        if "context_tokens" in facts:
            break
    size = _size(model)
    return ({"parameters": size} if size else {}) | facts


async def _sayings(server: Endpoint, model: str) -> AsyncIterator[dict[str, int]]:
    """Yields facts from the list of models, then from pages of llama.cpp, Ollama and LM Studio."""
    yield _of_card(_own(list(await server.cards()), "id", model))
    props = mapping(await server.beside("props"))
    yield _facts(mapping(props.get("default_generation_settings")).get("n_ctx"))
    loaded_model = _own(
        mappings(mapping(await server.beside("api/ps")).get("models")), "name", model
    )
    size = _size(str(mapping(loaded_model.get("details")).get("parameter_size")))
    yield _facts(loaded_model.get("context_length"), size)
    cards = mappings(mapping(await server.beside("api/v0/models")).get("data"))
    card = _own(cards, "id", model)
    yield _facts(card.get("loaded_context_length"))


def _of_card(card: Mapping[str, Any]) -> dict[str, int]:
    meta = mapping(card.get("meta"))
    lengths = [card[name] for name in _CONTEXT_NAMES if _is_count(card.get(name))]
    return _facts(lengths[0] if lengths else meta.get("n_ctx"), meta.get("n_params"))


def _facts(context: object = None, parameters: object = None) -> dict[str, int]:
    facts = {"context_tokens": context, "parameters": parameters}
    return {name: value for name, value in facts.items() if _is_count(value)}  # type: ignore[misc]


def _own(cards: list[Any], name: str, model: str) -> Mapping[str, Any]:
    """The model's own entry; Ollama lists it with its tag, but accepts it without."""
    return next((one for one in cards if one.get(name) in (model, f"{model}:latest")), {})


def _size(text: str) -> int | None:
    match = _SIZE.search(text)
    return round(float(match[1]) * 1e9) or None if match else None


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 < value < _MOST
