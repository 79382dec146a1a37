"""The user's folders for this program: cache, data and configuration."""

from __future__ import annotations

import os
from pathlib import Path

from platformdirs import user_cache_path, user_config_path, user_data_path

# The name of the data folder where it lies in the cache folder.
DATA = "data"


def cache_folder() -> Path:
    """The user's cache folder: models, indexes, replies, what servers refuse.

    ``EXPLORACODER_CACHE`` overrides it.
    """
    override = os.environ.get("EXPLORACODER_CACHE")
    return Path(os.path.expanduser(override)) if override else user_cache_path("exploracoder")


def data_folder() -> Path:
    """The user's data folder: kept examples and docs that were given, which nothing brings back.

    ``EXPLORACODER_DATA`` overrides it. Where only ``EXPLORACODER_CACHE`` is set, it is in there.
    """
    override, cache = os.environ.get("EXPLORACODER_DATA"), os.environ.get("EXPLORACODER_CACHE")
    if override:
        return Path(os.path.expanduser(override))
    return cache_folder() / DATA if cache else user_data_path("exploracoder")


def can_keep(folder: Path) -> bool:
    """Whether a folder can be written to or created."""
    there = existing(folder)
    return there.is_dir() and os.access(there, os.W_OK)


def existing(folder: Path) -> Path:
    """The folder, or the first above it that exists."""
    return next(path for path in (folder, *folder.parents) if is_there(path))


def is_there(path: Path) -> bool:
    """Whether a path exists; False where one may not look, for which `Path.exists` raises."""
    return os.path.exists(path)


def config_folder() -> Path:
    """The user's configuration folder; ``EXPLORACODER_CONFIG`` overrides it."""
    override = os.environ.get("EXPLORACODER_CONFIG")
    return Path(os.path.expanduser(override)) if override else user_config_path("exploracoder")


def aside_of(path: Path) -> Path:
    """The path, beside ``path``, to move its file to when it has to make room."""
    number = 1
    while (aside := path.with_name(f"{path.stem}.previous-{number}.ipynb")).exists():
        number += 1
    return aside
