"""Environments made from pins: created once with venv and pip, kept in the cache folder, and then
used as they are. Only wheels are installed, so that no package's code runs meanwhile.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import venv
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from exploracoder.errors import InputError, SetupError
from filelock import FileLock

from exploracoder_bench.datasets.fetching import home
from exploracoder_bench.problems import Problem
from exploracoder_bench.progress_lines import Say

_PIN = re.compile(r"([A-Za-z0-9][A-Za-z0-9._-]*)==[A-Za-z0-9.!+_-]+( *;.*)?")
# Written last: an environment without it was not finished.
_DONE = "pins.json"
_SHOWN_LINES = 4


def with_environments(problems: Iterable[Problem], say: Say) -> list[Problem]:
    """The problems with the interpreters of their environments. Raises InputError, SetupError."""
    return [
        replace(one, python=environment_of(one.requires, say)) if one.requires else one
        for one in problems
    ]


def environment_of(pins: Sequence[str], say: Say) -> str:
    """The interpreter of an environment that has ``pins``, each NAME==VERSION.

    It has this Python's version. Raises InputError for a malformed pin, SetupError when the
    environment cannot be made.
    """
    unique_pins = sorted(set(pins))
    for pin in unique_pins:
        name_of(pin)
    folder = _folder(unique_pins)
    folder.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(f"{folder}.lock"):
        if not (folder / _DONE).exists():
            say(f"making an environment of {', '.join(unique_pins)}")
            _make(folder, unique_pins)
    return str(_python(folder))


def name_of(pin: str) -> str:
    """The package that a pin names, normalised as the index does. Raises InputError."""
    match = _PIN.fullmatch(pin.strip())
    if match is None:
        raise InputError(f"{pin!r} is no pin: say NAME==VERSION.")
    return re.sub(r"[-_.]+", "-", match[1]).lower()


def pip(*arguments: str) -> None:
    """Run this Python's pip. Raises SetupError with the end of its output."""
    spec = importlib.util.find_spec("pip")
    if spec is None or spec.origin is None:
        raise SetupError(
            f"pip is needed and {sys.executable} has none. Get it: {sys.executable} -m ensurepip"
        )
    # Not with -m, which would put the current folder first on its path.
    command = [sys.executable, str(Path(spec.origin).parent), *arguments]
    process = subprocess.run(command, capture_output=True, text=True, check=False)
    if process.returncode != 0:
        lines = [line for line in process.stderr.strip().splitlines() if line.strip()]
        # What comes last may only say that some part of pip failed: the first error says why.
        errors = [at for at, line in enumerate(lines) if line.lstrip().startswith("ERROR:")]
        shown = lines[errors[0] :][:_SHOWN_LINES] if errors else lines[-_SHOWN_LINES:]
        words = " ".join(line.strip() for line in shown) or "no message"
        raise SetupError(f"pip {arguments[0]} failed: {words}")


def _folder(pins: Sequence[str]) -> Path:
    """The environment's folder, which depends on the Python and on the pins."""
    what = json.dumps([pins, sys.version, sys.base_prefix])
    key = hashlib.sha256(what.encode()).hexdigest()[:16]
    return home().absolute() / "environments" / key


def _make(folder: Path, pins: Sequence[str]) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    try:
        venv.create(folder, symlinks=os.name != "nt")
        python = ["--python", str(_python(folder)), "--quiet", "--no-input"]
        pip(*python, "install", "--only-binary", ":all:", *pins)
        (folder / _DONE).write_text(json.dumps(pins), encoding="utf-8")
    except SetupError as error:
        raise SetupError(
            f"The environment of {', '.join(pins)} cannot be made with Python"
            f" {platform.python_version()}. {error} Where they have no wheels for it, use another"
            " Python, or name an interpreter that has the libraries with --pythons."
        ) from error
    except OSError as error:
        raise SetupError(f"The environment {folder} cannot be made: {error}.") from error


def _python(folder: Path) -> Path:
    return folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
