"""What tells a model from another one that answers to its name."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from typing import Any

# What the identity of the embedded model begins with, wherever its server listens.
EMBEDDED = "embedded:"
# What servers make up anew with every answer.
_FLEETING = {"created", "permission"}


def fingerprint_of(model: str, cards: Iterable[Mapping[str, Any]]) -> str:
    """The SHA-256 of a model's name and of what its server says of it, hexadecimal.

    Args:
        model: The name.
        cards: What the server lists at ``/models``; those of other models do not matter.
    """
    own = (card for card in cards if card.get("id") == model)
    said = [{k: v for k, v in card.items() if k not in _FLEETING} for card in own]
    return hashlib.sha256(json.dumps([model, said], sort_keys=True).encode()).hexdigest()
