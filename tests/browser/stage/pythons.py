"""A Python of the user's, with a library in it that no model knows."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sysconfig
import venv
from pathlib import Path

OURS = ("exploracoder", "exploracoder_retrieval", "exploracoder_kernel", "exploracoder_jupyter")
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


def make_kernelspecs(folder: Path, python: Path, other: Path | None = None) -> None:
    """A kernelspec, as a user has one for each of their environments, and one with the magics."""
    if other is not None:
        _kernelspec(folder / "other", other.absolute(), "Python 3", {})
    _kernelspec(folder / "tea", python, "Tea", {})
    # Where this process has them from, since the environment has nothing of ours.
    with_ours = {"PYTHONPATH": os.pathsep.join(dict.fromkeys(map(_root, OURS)))}
    _kernelspec(folder / "magics", python, "Tea and magics", with_ours)


def _kernelspec(folder: Path, python: Path, name: str, variables: dict[str, str]) -> None:
    folder.mkdir(parents=True)
    words = [str(python), "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    spec = {"argv": words, "display_name": name, "language": "python", "env": variables}
    (folder / "kernel.json").write_text(json.dumps(spec), encoding="utf-8")


def _root(package: str) -> str:
    """The folder that a package of ours is imported from."""
    module_spec = importlib.util.find_spec(package)
    assert module_spec is not None and module_spec.origin is not None, package
    return str(Path(module_spec.origin).parents[1])


def _site_packages(python: Path) -> Path:
    """Distributions have their own ideas of the place: ask."""
    question = "import sysconfig; print(sysconfig.get_paths()['purelib'])"
    process = subprocess.run([python, "-c", question], capture_output=True, text=True, check=True)
    return Path(process.stdout.strip())
