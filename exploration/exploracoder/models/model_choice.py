"""Which model a user chose, and which key is sent to its server."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field

from exploracoder.errors import InputError
from exploracoder.models.server_failures import checked_base_url

EMBEDDED = "embedded"
HOSTED_URL = "https://api.openai.com/v1"
_PORTS = {"http": 80, "https": 443}


class ModelChoice(BaseModel):
    """A model by its name; an empty one leaves the choice to what is configured.

    ``embedded`` has no ``base_url``, and any other has its server's. There is never a key in it: it
    is saved in notebooks.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = Field(default="", max_length=500)
    base_url: str = Field(default="", max_length=2_000)

    @property
    def is_embedded(self) -> bool:
        """Whether it is the embedded model."""
        return self.name == EMBEDDED and not self.base_url

    def check(self) -> None:
        """Raise InputError if this is not a valid choice."""
        if self == ModelChoice() or self.is_embedded:
            return
        if self.name == EMBEDDED:
            raise InputError("The embedded model has no address: leave that out.")
        if not self.base_url:
            raise InputError(f"The model {self.name!r} needs the address of its server.")
        if not self.name.strip() or not (self.name + self.base_url).isprintable():
            raise InputError(f"Name a model of the server at {_shown(self.base_url)}.")
        checked_base_url(self.base_url)
        parts = urlsplit(self.base_url)
        if "@" in parts.netloc or parts.query or parts.fragment:
            raise InputError(
                "The address of a model server is saved in notebooks, so it can have no user name,"
                f" password or query: {_shown(self.base_url)}. A key is configured on the server."
            )


def key_for(base_url: str, keys: Mapping[str, str]) -> str:
    """The key for a server; empty if none was configured for its origin.

    Args:
        base_url: The server's base URL.
        keys: Keys by the base URLs for which they were configured.
    """
    if keys.get(base_url):
        return keys[base_url]
    origin = _origin(base_url)
    matches = (key for url, key in keys.items() if key and origin and _origin(url) == origin)
    return next(matches, "")


def origin_of(url: str) -> str:
    """Scheme, host and port of a URL; empty if it is not the address of a server."""
    origin = _origin(url)
    return f"{origin[0]}://{origin[1]}:{origin[2]}" if origin else ""


def _origin(url: str) -> tuple[str, str, int] | None:
    try:
        parts = urlsplit(url)
        port = parts.port or _PORTS[parts.scheme]
    except (KeyError, ValueError):
        return None
    return (parts.scheme, parts.hostname, port) if parts.hostname else None


def _shown(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"
