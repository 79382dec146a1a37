"""Monkey and BeatNum: pandas and numpy under other names, made by the published renaming.

No model knows them, though it knows what they are made from. The generated package has the new
names; the old ones are hidden only from code that runs as a program, so that pandas and numpy
themselves keep working. Its stubs, which are read for the index, have only the new names. Source:
Zan et al. 2022, "When Language Model Meets Private Library", section 4.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from exploracoder.errors import InputError, SetupError
from exploracoder_kernel.environment import clean_environment

_TEMPLATES = Path(__file__).with_name("private")
_MADE_FROM = {"monkey": "pandas", "beatnum": "numpy"}
# The others have all that users need at the top level.
_SUBMODULES: Mapping[str, list[str]] = {"numpy": ["linalg", "random", "ma"]}
_TIMEOUT_S = 300

Renaming = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Recipe:
    """How a library is renamed.

    ``keywords`` are the parameters' names to change, ``no_words`` the names that are not English
    words, so that they are replaced in prose too; ``modules`` are the names of the library itself
    there, ``pd`` and ``Pandas`` included.
    """

    library: str
    made_from: str
    names: Renaming
    keywords: Renaming = field(default_factory=dict)
    no_words: Collection[str] = ()
    modules: Renaming = field(default_factory=dict)

    @property
    def settings(self) -> str:
        """The settings at the head of the package, as code."""
        settings = {
            "LIBRARY": self.library,
            "MADE_FROM": self.made_from,
            "SUBMODULES": _SUBMODULES.get(self.made_from, []),
            "RENAMING": dict(self.names),
            "KEYWORDS": dict(self.keywords),
            "NO_WORDS": sorted(self.no_words),
            "MODULES": {self.made_from: self.library, **self.modules},
        }
        return "\n".join(f"{key} = {value!r}" for key, value in settings.items())


def read_mapping(file: Path) -> dict[str, Renaming]:
    """The renaming of each library: {"monkey": {OLD: NEW}, "beatnum": {OLD: NEW}}.

    Raises InputError when the file has another form, or something in it is not a name.
    """
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
        mapping: dict[str, Renaming] = {
            name: dict(content[name]) for name in _MADE_FROM if name in content
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
    """Write the packages into ``folder``; return the folder of each.

    ``python`` has what they are made from, and will import them. Raises SetupError.
    """
    return [_published(folder, name, one, python) for name, one in mapping.items()]


def make_library(folder: Path, recipe: Recipe, python: str) -> Path:
    """Write a package and its stubs into ``folder``; return its own folder. Raises SetupError."""
    home = _write_package(folder, recipe)
    _run("stubs.py.txt", folder, recipe, python)
    return home


def public_names(made_from: str, python: str) -> list[str]:
    """The public names of a library that ``python`` has. Raises SetupError."""
    with tempfile.TemporaryDirectory() as folder:
        recipe = Recipe("looked_at", made_from, {})
        _write_package(Path(folder), recipe)
        names: list[str] = json.loads(_run("names.py.txt", Path(folder), recipe, python))
    return names


def _published(folder: Path, name: str, renaming: Renaming, python: str | None) -> Path:
    # The data set renames the modules themselves too, but those are not names in them.
    inside = {old: new for old, new in renaming.items() if old not in _MADE_FROM.values()}
    recipe = Recipe(name, _MADE_FROM[name], inside, keywords=inside)
    return make_library(folder, recipe, python or sys.executable)


def _write_package(folder: Path, recipe: Recipe) -> Path:
    home = folder / recipe.library
    home.mkdir(parents=True, exist_ok=True)
    source = (_TEMPLATES / "package.py.txt").read_text(encoding="utf-8")
    package = source.replace("# SETTINGS", recipe.settings)
    (home / "__init__.py").write_text(package, encoding="utf-8")
    return home


def _run(script: str, folder: Path, recipe: Recipe, python: str) -> str:
    """The output of one of our scripts about a package, which it imports."""
    text, name = (_TEMPLATES / script).read_text(encoding="utf-8"), recipe.library
    try:
        process = subprocess.run(
            [python, "-c", text, str(folder.absolute()), name],
            cwd=os.sep,  # which leads its path
            env={k: v for k, v in clean_environment(os.environ).items() if k != "PYTHONPATH"},
            capture_output=True,
            text=True,
            timeout=_TIMEOUT_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise SetupError(f"{name} could not be made: {error}") from error
    if process.returncode != 0:
        last = process.stderr.strip().splitlines()[-1] if process.stderr.strip() else "no message"
        raise SetupError(f"{name} could not be made from {recipe.made_from} in {python}: {last}")
    return process.stdout
