"""What libraries keep in the user's caches and make anew, slowly, where there is none."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping
from pathlib import Path


def found(surroundings: Mapping[str, str]) -> list[tuple[Path, str]]:
    """Matplotlib's lists of the machine's fonts: made anew, they take seconds.

    Args:
        surroundings: The user's environment, which says where caches are.

    Returns:
        Each file, and where it belongs below a home.
    """
    lists: list[tuple[Path, str]] = []
    for folder in _folders_of_matplotlib(surroundings):
        with contextlib.suppress(OSError):
            lists += [(f, f".cache/matplotlib/{f.name}") for f in folder.glob("fontlist-*.json")]
    return lists


def _folders_of_matplotlib(surroundings: Mapping[str, str]) -> list[Path]:
    caches = surroundings.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")  # noqa: PTH111
    own = surroundings.get("MPLCONFIGDIR")
    return [Path(caches) / "matplotlib", *([Path(own)] if own else ())]
