"""Shorten text, and remove terminal colours from it."""

from __future__ import annotations

import re

_ANSI = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)")


def left_out(characters: int) -> str:
    """The sentence that replaces the middle of a shortened text."""
    return f"\n[... {characters:,} characters left out ...]\n"


def shorten(text: str, limit: int) -> str:
    """``text`` with its middle replaced by a sentence when it is longer than ``limit``."""
    if len(text) <= limit:
        return text
    head = limit - limit // 2
    tail = limit // 2
    middle = left_out(len(text) - head - tail)
    return text[:head] + middle + (text[-tail:] if tail else "")


def cut(text: str, limit: int) -> str:
    """``text`` cut to at most ``limit`` characters, with an ellipsis for what is cut off."""
    return text if len(text) <= limit else text[: limit - 1] + "…"


def without_colours(text: str) -> str:
    """``text`` without terminal escape sequences."""
    return _ANSI.sub("", text)
