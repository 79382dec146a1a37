"""The user's folders for this program: cache and configuration."""

from __future__ import annotations

import os
from pathlib import Path

from platformdirs import user_cache_path, user_config_path


def cache_folder() -> Path:
    """The user's cache folder: models, indexes, replies, what servers refuse.

    ``EXPLORACODER_CACHE`` overrides it.
    """
    override = os.environ.get("EXPLORACODER_CACHE")
    return Path(override).expanduser() if override else user_cache_path("exploracoder")


def can_keep(folder: Path) -> bool:
    """Whether a folder can be written to or created."""
    there = next(path for path in (folder, *folder.parents) if path.exists())
    return there.is_dir() and os.access(there, os.W_OK)


def config_folder() -> Path:
    """The user's configuration folder; ``EXPLORACODER_CONFIG`` overrides it."""
    override = os.environ.get("EXPLORACODER_CONFIG")
    return Path(override).expanduser() if override else user_config_path("exploracoder")
