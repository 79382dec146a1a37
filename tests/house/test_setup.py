"""Making an environment: what is said when this machine's Python cannot do it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

_SCRIPT = Path(__file__).parents[2] / ".ci" / "make-venv"


def _make_venv(folder: Path, commands: Path, *python: str) -> subprocess.CompletedProcess[str]:
    """Run the script where ``commands`` are all the commands there are."""
    return subprocess.run(
        ["/bin/sh", _SCRIPT, folder, *python],
        env={"PATH": str(commands)},
        capture_output=True,
        text=True,
        check=False,
    )


def _write_command(path: Path, script: str) -> None:
    path.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    path.chmod(0o755)


def test_without_any_python_it_says_which_one_is_needed(tmp_path: Path) -> None:
    process = _make_venv(tmp_path / "venv", tmp_path)

    assert process.returncode == 1
    assert "No Python of version 3.10 or newer was found." in process.stderr


def test_without_ensurepip_it_names_the_package_to_install(tmp_path: Path) -> None:
    _write_command(
        tmp_path / "python3",
        f'case "$2" in *ensurepip*) exit 1;; esac; exec {sys.executable} "$@"',
    )

    process = _make_venv(tmp_path / "venv", tmp_path)

    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    assert process.returncode == 1
    assert f"apt-get install python{version}-venv" in process.stderr


def test_a_command_that_is_no_python_is_passed_over(tmp_path: Path) -> None:
    _write_command(tmp_path / "python3.12", "exit 127")
    _write_command(tmp_path / "python3.10", 'echo "$@"')

    process = _make_venv(tmp_path / "venv", tmp_path)

    assert process.returncode == 0
    assert f"-m venv --clear {tmp_path / 'venv'}" in process.stdout


def test_a_python_that_is_named_and_unfit_is_not_replaced_by_another(tmp_path: Path) -> None:
    _write_command(tmp_path / "old", "exit 1")
    _write_command(tmp_path / "python3", 'echo "$@"')

    process = _make_venv(tmp_path / "venv", tmp_path, str(tmp_path / "old"))

    assert process.returncode == 1
    assert "old is no Python of version 3.10 or newer" in process.stderr
