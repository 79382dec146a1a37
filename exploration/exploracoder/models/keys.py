"""Keys of model servers: the usual variables that hold them, and the keyring, where there is one.

A key goes only to the server that it is for, and only when that server was chosen. It is never
shown and never written to a file.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import NamedTuple

from exploracoder.models.choice import HOSTED_URL, key_for


class Provider(NamedTuple):
    """A hosted service: the variables that usually hold its key, the first that is set counts."""

    title: str
    variables: tuple[str, ...]
    base_url: str


PROVIDERS = (
    Provider("OpenAI", ("OPENAI_API_KEY",), HOSTED_URL),
    Provider("Anthropic", ("ANTHROPIC_API_KEY",), "https://api.anthropic.com/v1"),
    Provider(
        "Gemini",
        ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
        "https://generativelanguage.googleapis.com/v1beta/openai",
    ),
    Provider("Mistral", ("MISTRAL_API_KEY",), "https://api.mistral.ai/v1"),
    Provider("DeepSeek", ("DEEPSEEK_API_KEY",), "https://api.deepseek.com/v1"),
    Provider("Groq", ("GROQ_API_KEY",), "https://api.groq.com/openai/v1"),
    Provider("OpenRouter", ("OPENROUTER_API_KEY",), "https://openrouter.ai/api/v1"),
    Provider("Together", ("TOGETHER_API_KEY",), "https://api.together.xyz/v1"),
)


def variables_set(
    environment: Mapping[str, str] = os.environ,
) -> tuple[tuple[str, Provider], ...]:
    """The variables that hold a key, each with whose it is."""
    found = []
    for one in PROVIDERS:
        name = next((name for name in one.variables if environment.get(name, "").strip()), "")
        found += [(name, one)] if name else []
    return tuple(found)


def key_in_environment(base_url: str, environment: Mapping[str, str] = os.environ) -> str:
    """The key for a server: a provider's own, or else ``OPENAI_API_KEY``, which is for any."""
    keys = {one.base_url: environment[name] for name, one in variables_set(environment)}
    return key_for(base_url, keys) or environment.get("OPENAI_API_KEY", "")
