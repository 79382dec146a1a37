"""Comparing with what was committed; ``REGENERATE_GOLDEN=1`` writes it anew instead."""

from __future__ import annotations

import os
from pathlib import Path

FOLDER = Path(__file__).with_name("golden")


def golden(name: str, text: str, folder: Path = FOLDER) -> str:
    """The committed text of this name, which is to equal ``text``."""
    path = folder / name
    if os.environ.get("REGENERATE_GOLDEN"):
        path.write_text(text, encoding="utf-8")
    return path.read_text(encoding="utf-8")
