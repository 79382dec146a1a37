"""API keys of model servers, from their usual environment variables or the keyring, if any.

A provider's key goes only to that provider, and only if it was chosen. ``OPENAI_API_KEY`` serves
any server, unless it is evidently a key of OpenAI's: that goes to OpenAI, and to what
``OPENAI_BASE_URL`` names. No key is ever shown, or written to a file.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

from exploracoder.errors import SetupError
from exploracoder.models.model_choice import HOSTED_URL, key_for, origin_of

_SERVICE = "exploracoder"
# No other server issues these.
_OPENAI_KEYS = ("sk-proj-", "sk-svcacct-", "sk-admin-")


class Provider(NamedTuple):
    """A hosted service, and the variables that usually hold its key; the first one set counts."""

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
    """The variables that hold a key, each with its provider."""
    variables = []
    for one in PROVIDERS:
        name = next((name for name in one.variables if environment.get(name, "").strip()), "")
        variables += [(name, one)] if name else []
    return tuple(variables)


def key_in_environment(base_url: str, environment: Mapping[str, str] = os.environ) -> str:
    """The key for a server: its provider's own, or else ``OPENAI_API_KEY``."""
    keys = {one.base_url: environment[name] for name, one in variables_set(environment)}
    key = environment.get("OPENAI_API_KEY", "").strip()
    if key.startswith(_OPENAI_KEYS) and not _may_have_openai_key(base_url, environment):
        key = ""
    return key_for(base_url, keys) or key


def _may_have_openai_key(base_url: str, environment: Mapping[str, str]) -> bool:
    origin = origin_of(base_url.strip())
    named_origin = origin_of(environment.get("OPENAI_BASE_URL", "").strip())
    is_openai = origin.startswith("https://") and origin.endswith(".openai.com:443")
    return is_openai or (bool(origin) and origin == named_origin)


def kept_key(base_url: str) -> str:
    """The keyring's key for a server's origin; empty if there is no key or no usable keyring.

    This may take a moment, and on some desktops prompts the user to unlock the keyring.
    """
    try:
        with _keyring() as keyring:
            return keyring.get_password(_SERVICE, origin_of(base_url)) or ""
    except SetupError:
        return ""


def keep_key(base_url: str, key: str) -> None:
    """Stores a server's key in the keyring, replacing any earlier one.

    Raises:
        SetupError: There is no keyring, or it did not keep the key.
    """
    with _keyring() as keyring:
        keyring.set_password(_SERVICE, origin_of(base_url), key)
    if kept_key(base_url) != key:
        raise SetupError(f"The keyring did not keep the key. {_INSTEAD}")


def forget_key(base_url: str) -> bool:
    """Deletes a server's key from the keyring, and returns whether there was one.

    Raises:
        SetupError: There is no keyring, or it cannot be used.
    """
    with _keyring() as keyring:
        if keyring.get_password(_SERVICE, origin_of(base_url)) is None:
            return False
        keyring.delete_password(_SERVICE, origin_of(base_url))
        return True


_INSTEAD = "Without one, keys are read from the environment: set OPENAI_API_KEY."


@contextmanager
def _keyring() -> Iterator[Any]:
    """Yields this machine's keyring, and turns its failures into SetupError."""
    try:
        import keyring
        from keyring.errors import KeyringError, NoKeyringError
    except ImportError:
        raise SetupError(
            "Keys are kept by the package keyring, which is not installed: pip install"
            f" 'exploracoder[keyring]'. {_INSTEAD}"
        ) from None
    try:
        yield keyring
    except NoKeyringError:
        raise SetupError(f"This machine has no keyring that keys could be in. {_INSTEAD}") from None
    except KeyringError as error:
        # Its message may contain anything, including the key.
        raise SetupError(
            f"The keyring cannot be used ({type(error).__name__}). Unlock it, or do without."
            f" {_INSTEAD}"
        ) from None
