"""The Python whose libraries are read: queried once, and importing them only in a sandbox."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

from exploracoder_retrieval.errors import InterpreterError
from exploracoder_retrieval.installed_distributions import (
    Distribution,
    Importable,
    InstalledDistributions,
)

OLDEST = (3, 9)
ASK_TIMEOUT_S = 30.0

# The environment variables needed to find an interpreter and its libraries: no keys, and none that
# names files that would run (PYTHONPATH, PYTHONSTARTUP).
_VARIABLES = (
    *("PATH", "HOME", "LANG", "LC_ALL", "LC_CTYPE", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH"),
    *("PYTHONHOME", "PYTHONUSERBASE", "PYTHONNOUSERSITE", "VIRTUAL_ENV", "CONDA_PREFIX"),
    *("PYENV_ROOT", "PYENV_VERSION", "SYSTEMROOT", "USERPROFILE", "APPDATA"),
)

# Standard library only, and old syntax: the interpreter may be anything that calls itself python.
# With `-c`, the current folder comes first on the path; it is removed before any look-up.
_QUESTION = """
import sys
sys.path[:] = paths = [p for p in sys.path if p]
import json
names = sorted(getattr(sys, "stdlib_module_names", ()) or sys.builtin_module_names)
print(json.dumps({"executable": sys.executable, "version": list(sys.version_info[:3]),
                  "paths": paths, "builtin": sorted(sys.builtin_module_names), "standard": names}))
"""


class ConfinedRunner(Protocol):
    """Runs untrusted code in a strict sandbox: without network, keys, or the user's files."""

    def __call__(self, python: Path, code: str, readable: tuple[Path, ...]) -> tuple[str, str]:
        """What ``code`` printed, and why it did not run to its end; "" if it did.

        ``readable`` are folders it may read besides the interpreter's own files.

        Raises:
            NotConfined: there is no such sandbox, so nothing was run.
        """


@dataclass(frozen=True)
class Interpreter:
    """A Python 3.9 or newer and where it looks for modules.

    ``search_paths`` is PYTHONPATH and its ``sys.path`` in order, with what ``.pth`` files add and
    without the current folder. ``confined_runner`` is where compiled modules are imported, because
    nothing else says what they contain; None: nowhere. ``imports_named``: import not only installed
    compiled modules but also those in a folder that was given by path.
    """

    executable: Path
    version: tuple[int, int, int]
    search_paths: tuple[Path, ...]
    builtin_modules: frozenset[str]
    standard_modules: frozenset[str]
    confined_runner: ConfinedRunner | None = field(default=None, compare=False)
    imports_named: bool = False

    @classmethod
    def inspect(
        cls,
        python: str | Path,
        *,
        confined_runner: ConfinedRunner | None = None,
        imports_named: bool = False,
    ) -> Interpreter:
        """Ask the interpreter for its version and paths, once, in a separate process.

        Raises:
            InterpreterError: there is no such file, it is not Python, or it is older than 3.9.
        """
        answer = _parse(python, _ask(python))
        major, minor, micro = answer["version"]
        if (major, minor) < OLDEST:
            raise InterpreterError(
                f"{python} is Python {major}.{minor}.{micro}; 3.9 or newer is needed. "
                "Choose another with --python."
            )
        return cls(
            executable=Path(answer["executable"] or python),
            version=(major, minor, micro),
            search_paths=tuple(map(Path, dict.fromkeys([*_python_path(), *answer["paths"]]))),
            builtin_modules=frozenset(answer["builtin"]),
            standard_modules=frozenset(answer["standard"]),
            confined_runner=confined_runner,
            imports_named=imports_named,
        )

    def distribution_of(self, import_name: str, named: str = "") -> Distribution | None:
        """The distribution that provides a module, or None for a loose one.

        ``named`` is the name that a person gave; it decides where several provide the same.
        """
        return self._distributions.providing(import_name, named or import_name)

    def import_names(self, distribution: str) -> tuple[str, ...]:
        """The public names to import a distribution by; empty if it is unknown."""
        return self._distributions.import_names(distribution)

    def importable(self) -> tuple[Importable, ...]:
        """The installed distributions that can be imported, by name."""
        return self._distributions.importable()

    def has_distribution(self, name: str) -> bool:
        """Whether a distribution of this name is installed, however the name is written."""
        return self._distributions.has(name)

    def library_names(self) -> frozenset[str]:
        """Every name a person may mean: distributions and what they make importable."""
        return self._distributions.names() | self.standard_modules

    def mapped_modules(self) -> Mapping[str, Path]:
        """Modules outside the search paths that it can import, and where they are."""
        return self._distributions.mapped_modules()

    @cached_property
    def _distributions(self) -> InstalledDistributions:
        return InstalledDistributions(self.search_paths)


def _python_path() -> list[str]:
    """The folders on PYTHONPATH, which is not passed on: a process would run code from them."""
    folders = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    return [str(Path(folder).absolute()) for folder in folders if folder]


def _ask(python: str | Path) -> str:
    environment = {name: os.environ[name] for name in _VARIABLES if name in os.environ}
    # A name is looked up on PATH; a relative path means the current folder.
    command = str(Path(python).absolute()) if os.sep in str(python) else str(python)
    try:
        process = subprocess.run(
            [command, "-c", _QUESTION],
            capture_output=True,
            text=True,
            timeout=ASK_TIMEOUT_S,
            cwd=os.sep,
            env=environment | {"PYTHONDONTWRITEBYTECODE": "1"},
            stdin=subprocess.DEVNULL,
            check=False,
        )
    except FileNotFoundError:
        raise InterpreterError(
            f"There is no interpreter {python}. Give the path of a Python with --python."
        ) from None
    except OSError as error:
        raise InterpreterError(f"{python} cannot be run: {error.strerror}.") from None
    except subprocess.TimeoutExpired:
        raise InterpreterError(
            f"{python} did not answer within {ASK_TIMEOUT_S:.0f} s; it seems not to be a Python."
        ) from None
    if process.returncode != 0:
        last = (process.stderr.strip().splitlines() or ["it said nothing"])[-1]
        raise InterpreterError(f"{python} is not a usable Python: {last}")
    return process.stdout


def _parse(python: str | Path, answer: str) -> dict[str, Any]:
    try:
        # A sitecustomize may print before the answer.
        report = json.loads(answer.strip().splitlines()[-1])
        if isinstance(report, dict) and {"version", "paths"} <= report.keys():
            return report
    except (ValueError, IndexError):
        pass
    raise InterpreterError(f"{python} is not a Python: it did not understand the question.")
