"""MIME bundles, made JSON-serializable and bounded in size."""

from __future__ import annotations

import base64
from typing import Any

from .text import shorten

_MAX_BINARY_CHARS = 24 * 1024 * 1024


def bounded(data: dict[str, Any], max_chars: int) -> dict[str, Any]:
    """A MIME bundle with its plain text shortened and oversized entries left out."""
    bundle: dict[str, Any] = {}
    for mime, content in data.items():
        if isinstance(content, bytes):
            content = base64.b64encode(content).decode("ascii")
        if mime == "text/plain" and isinstance(content, str):
            bundle[mime] = shorten(content, max_chars)
        elif not isinstance(content, str) or len(content) <= _size_limit(mime, max_chars):
            bundle[mime] = content
    if data and not bundle:
        return {"text/plain": "[an output too large to keep was left out]"}
    return bundle


def bounded_answers(answers: dict[str, Any], max_chars: int) -> dict[str, Any]:
    """The answers to ``user_expressions``, each a bundle or an error."""
    return {
        name: {**answer, "data": bounded(answer["data"], max_chars)} if "data" in answer else answer
        for name, answer in answers.items()
    }


def _size_limit(mime: str, max_chars: int) -> int:
    is_markup = mime.startswith("text/")
    return 4 * max_chars if is_markup else _MAX_BINARY_CHARS
