"""A setup as one word of a command line: compressed, since the kernel allows 128 KiB for a word."""

from __future__ import annotations

import base64
import json
import zlib
from typing import Any


def encode(setup: dict[str, Any]) -> str:
    """The word for a setup of JSON's types."""
    return base64.b64encode(zlib.compress(json.dumps(setup).encode())).decode()


def decode(word: str) -> dict[str, Any]:
    """The setup that a word stands for."""
    return dict(json.loads(zlib.decompress(base64.b64decode(word))))
