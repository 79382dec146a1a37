"""What libraries keep in the user's caches and make anew, slowly, where there is none."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Mapping
from pathlib import Path


def bring(home: Path, surroundings: Mapping[str, str]) -> None:
    """Copy Matplotlib's list of the machine's fonts below ``home``: made anew, it takes seconds.

    Args:
        home: The home in the sandbox.
        surroundings: The user's environment, which says where caches are.
    """
    for folder in _folders_of_matplotlib(surroundings):
        with contextlib.suppress(OSError):
            for source in folder.glob("fontlist-*.json"):
                target = home / ".cache" / "matplotlib" / source.name
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(source, target)


def _folders_of_matplotlib(surroundings: Mapping[str, str]) -> list[Path]:
    caches = surroundings.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")  # noqa: PTH111
    own = surroundings.get("MPLCONFIGDIR")
    return [Path(caches) / "matplotlib", *([Path(own)] if own else ())]
