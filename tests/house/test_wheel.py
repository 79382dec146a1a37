"""What is installed is all that is needed: the wheel carries the files that are no Python too."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
_SOURCES = ("exploration", "retrieval", "kernel_tools", "benchmarks")


@pytest.fixture(scope="module")
def names(tmp_path_factory: pytest.TempPathFactory) -> frozenset[str]:
    """The names of the files in a wheel of this tree."""
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        return frozenset(archive.namelist())


@pytest.mark.parametrize("pattern", ["*.py", "prompts/*.md", "data/*", "py.typed"])
def test_the_wheel_has_every_file_of_the_packages(names: frozenset[str], pattern: str) -> None:
    rooms = [ROOT / source for source in _SOURCES]
    sources = {path.relative_to(room) for room in rooms for path in room.rglob(pattern)}

    missing = {path.as_posix() for path in sources if "__pycache__" not in path.parts} - names

    assert sources
    assert missing == set()


def test_the_wheel_has_the_license_and_nothing_of_the_other_folders(names: frozenset[str]) -> None:
    tops = {name.partition("/")[0] for name in names}
    packages = {path.parent.name for room in _SOURCES for path in (ROOT / room).glob("*/py.typed")}

    assert any(name.endswith("licenses/LICENSE") for name in names)
    assert {top for top in tops if not top.endswith((".dist-info", ".data"))} == packages


def test_the_wheel_brings_the_kernelspec_to_where_jupyter_looks(names: frozenset[str]) -> None:
    data = {name.partition(".data/")[2] for name in names if ".data/" in name}

    assert data == {"data/share/jupyter/kernels/exploracoder/kernel.json"}
