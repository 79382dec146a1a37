"""A Python of the user's, with a library in it that no model knows."""

from __future__ import annotations

import json
import shutil
import subprocess
import sysconfig
import venv
from pathlib import Path

PACKAGES = Path(__file__).parents[2] / "exploration" / "packages"


def make_python(folder: Path) -> Path:
    """A virtual environment that has tealeaf installed, and what the tests' own Python has.

    It has ipykernel that way and none of our code: nothing of ours need be where the user works.
    Returns its interpreter.
    """
    venv.create(folder, with_pip=False, symlinks=True)
    python = folder / "bin" / "python"
    site = _site_packages(python)
    shutil.copytree(PACKAGES / "tealeaf", site / "tealeaf", dirs_exist_ok=True)
    about = site / "tealeaf-2.1.dist-info"
    about.mkdir()
    readme = (PACKAGES / "README.md").read_text(encoding="utf-8")
    head = "Metadata-Version: 2.1\nName: tealeaf\nVersion: 2.1\n"
    (about / "METADATA").write_text(
        f"{head}Description-Content-Type: text/markdown\n\n{readme}", encoding="utf-8"
    )
    (about / "top_level.txt").write_text("tealeaf\n", encoding="utf-8")
    (about / "RECORD").write_text("tealeaf/__init__.py,,\n", encoding="utf-8")
    (site / "host.pth").write_text(f"{sysconfig.get_paths()['purelib']}\n", encoding="utf-8")
    return python


def make_kernelspec(folder: Path, python: Path) -> None:
    """A kernelspec, as a user has one for each of their environments."""
    folder.mkdir(parents=True)
    words = [str(python), "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    spec = {"argv": words, "display_name": "Tea", "language": "python"}
    (folder / "kernel.json").write_text(json.dumps(spec), encoding="utf-8")


def _site_packages(python: Path) -> Path:
    """Distributions have their own ideas of the place: ask."""
    question = "import sysconfig; print(sysconfig.get_paths()['purelib'])"
    told = subprocess.run([python, "-c", question], capture_output=True, text=True, check=True)
    return Path(told.stdout.strip())
