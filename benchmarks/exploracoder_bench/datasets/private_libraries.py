"""Monkey and BeatNum: pandas and numpy under other names, made by the published renaming.

No model knows them, though it knows what they are made of. The package that is written has the new
names; the old ones are hidden from code that is run as a program, and from nobody else, so that
pandas and numpy themselves go on working. Its stubs are read when it is indexed; they say the new
names only. Source: Zan et al. 2022, "When Language Model Meets Private Library", section 4.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from exploracoder.errors import InputError, SetupError
from exploracoder_kernel.environment import clean_environment

_TEMPLATES = Path(__file__).with_name("private")
_MADE_FROM = {"monkey": "pandas", "beatnum": "numpy"}
# Of pandas all that users need is at the top.
_SUBMODULES: Mapping[str, list[str]] = {"monkey": [], "beatnum": ["linalg", "random", "ma"]}
_TIMEOUT_S = 300

Renaming = Mapping[str, str]


def read_mapping(file: Path) -> dict[str, Renaming]:
    """The renaming of each library: {"monkey": {OLD: NEW}, "beatnum": {OLD: NEW}}.

    Raises InputError when the file has another form, or renames two names alike.
    """
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
        mapping: dict[str, Renaming] = {
            name: dict(found[name]) for name in _MADE_FROM if name in found
        }
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise InputError(f"{file} cannot be read as a renaming: {error!r}.") from error
    if not mapping:
        raise InputError(f"{file} renames neither {' nor '.join(_MADE_FROM)}.")
    for name, renaming in mapping.items():
        for old, new in renaming.items():
            if not (isinstance(new, str) and old.isidentifier() and new.isidentifier()):
                raise InputError(f"{file}: {name} renames {old!r} to {new!r}, which is no name.")
    return mapping


def make_libraries(
    folder: Path, mapping: Mapping[str, Renaming], python: str | None = None
) -> list[Path]:
    """Write the packages into ``folder``; the folder of each.

    ``python`` has what they are made from, and will import them. Raises SetupError.
    """
    return [_make(folder / name, name, one, python) for name, one in mapping.items()]


def _make(home: Path, name: str, renaming: Renaming, python: str | None) -> Path:
    home.mkdir(parents=True, exist_ok=True)
    source = (_TEMPLATES / "package.py.txt").read_text(encoding="utf-8")
    made_from = _MADE_FROM[name]
    # The data set's own names for the modules themselves are no names in them.
    inside = {old: new for old, new in renaming.items() if old not in _MADE_FROM.values()}
    settings: dict[str, object] = {"LIBRARY": name, "MADE_FROM": made_from, "RENAMING": inside}
    settings["SUBMODULES"] = _SUBMODULES[name]
    head = "\n".join(f"{key} = {value!r}" for key, value in settings.items())
    (home / "__init__.py").write_text(source.replace("# SETTINGS", head), encoding="utf-8")
    stubs = (_TEMPLATES / "stubs.py.txt").read_text(encoding="utf-8")
    try:
        done = subprocess.run(
            [python or sys.executable, "-c", stubs, str(home.parent.absolute()), name],
            cwd=os.sep,  # which leads its path
            env={k: v for k, v in clean_environment(os.environ).items() if k != "PYTHONPATH"},
            capture_output=True,
            text=True,
            timeout=_TIMEOUT_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise SetupError(f"{name} could not be made: {error}") from error
    if done.returncode != 0:
        last = done.stderr.strip().splitlines()[-1] if done.stderr.strip() else "no message"
        raise SetupError(f"{name} could not be made from {made_from} in {python}: {last}")
    return home
