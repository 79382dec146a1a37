"""Any interpreter runs in the sandbox, wherever it is installed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from exploracoder_kernel.sidecar import Sidecar
from kernel.pythons import found

from .conftest import Choose

SNIPPET = (
    "import ctypes, hashlib, json, pathlib, sqlite3, ssl, subprocess, sys\n"
    "sys.version_info[:2], subprocess.run([sys.executable, '-c', 'print(1)'], "
    "capture_output=True).stdout"
)


@pytest.mark.parametrize("python", found().values())
async def test_virtual_environments_of_every_version_work(
    boxed: Choose, task: Path, tmp_path: Path, python: str
) -> None:
    venv = tmp_path / "venv"
    subprocess.run([python, "-m", "venv", "--without-pip", venv], check=True)  # noqa: ASYNC221
    own = venv / "bin" / "python"
    async with Sidecar(own, task, launcher=boxed(python=own).launcher) as sidecar:
        child = await sidecar.fork(sidecar.root)
        observation = await sidecar.run(child, SNIPPET)

        assert observation.ran, observation.error
        assert observation.result is not None
        assert observation.result.endswith("b'1\\n')")


async def test_one_below_the_home_works_and_the_home_stays_hidden(
    boxed: Choose, task: Path, home: Path
) -> None:
    venv = home / ".venvs" / ".env"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", venv], check=True)  # noqa: ASYNC221
    (home / "python").symlink_to(venv / "bin" / "python")
    own = home / "python"
    async with Sidecar(own, task, launcher=boxed(python=own).launcher) as sidecar:
        observation = await sidecar.run(
            sidecar.root,
            "def is_readable(name):\n"
            "    try: return bool(open(name).read())\n"
            "    except OSError: return False\n"
            f"[is_readable({str(home)!r} + name) for name in ('/notes.txt', '/.ssh/id_rsa')]",
        )

    assert observation.result == "[False, False]"


async def test_a_script_before_an_interpreter_is_looked_through(
    boxed: Choose, task: Path, tmp_path: Path
) -> None:
    shim = tmp_path / "python"
    shim.write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    shim.chmod(0o755)
    async with Sidecar(shim, task, launcher=boxed(python=shim).launcher) as sidecar:
        observation = await sidecar.run(sidecar.root, "1 + 1")

    assert observation.result == "2"


async def test_packages_of_the_path_are_found(boxed: Choose, task: Path, tmp_path: Path) -> None:
    (tmp_path / "library").mkdir()
    (tmp_path / "library" / "rare.py").write_text("answer = 42\n")
    async with Sidecar(
        sys.executable,
        task,
        env={"PYTHONPATH": str(tmp_path / "library")},
        launcher=boxed().launcher,
    ) as sidecar:
        observation = await sidecar.run(sidecar.root, "import rare\nrare.answer")

    assert observation.result == "42"
