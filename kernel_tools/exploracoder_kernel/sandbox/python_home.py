"""What an interpreter has to read in order to run, as it reports itself."""

from __future__ import annotations

import functools
import json
import os
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from exploracoder_kernel import interpreter

_ASK_SECONDS = 60.0
_MARK = "exploracoder-python-home:"

# The variables that change the answer. The interpreter is asked unconfined, and so without
# PYTHONPATH: a library folder that was only named may hold a `sitecustomize` or a `json`.
_THAT_MATTER = ("PATH", "HOME", "PYTHONHOME", "PYTHONUSERBASE", "PYTHONNOUSERSITE")
_OF_THE_LOADER = ("LD_LIBRARY_PATH", "CONDA_PREFIX", "VIRTUAL_ENV")
_OWN_PATHS = "PYTHONPATH"
_ALL = (*_THAT_MATTER, *_OF_THE_LOADER, _OWN_PATHS)

# Runs in any Python, so that one that is too old starts and can say so. The import finders of
# editable installs keep a table of folders. The maps name the libraries that the loader found.
_QUESTION = """
import json, os, site, sys
prefixes = [getattr(sys, name, "") for name in
            ("prefix", "exec_prefix", "base_prefix", "base_exec_prefix")]
paths = sys.path[1:]
for finder in sys.meta_path:
    table = getattr(sys.modules.get(getattr(finder, "__module__", "")), "MAPPING", {})
    if isinstance(table, dict):
        paths += [path for path in table.values() if isinstance(path, str)]
try:
    with open("/proc/self/maps") as maps:
        paths += sorted({line.split(None, 5)[5].strip() for line in maps if " /" in line})
except (OSError, IndexError):
    pass
user = site.getuserbase() if getattr(site, "ENABLE_USER_SITE", None) else None
told = {"executable": sys.executable, "prefixes": prefixes, "paths": paths, "user_base": user}
print("MARK" + json.dumps(told))
""".replace("MARK", _MARK)


@dataclass(frozen=True, slots=True)
class PythonHome:
    """An interpreter and its files.

    Attributes:
        executable: What to start: the interpreter itself, even if a script wraps it.
        prefixes: The folders that it is installed in.
        paths: What else it reads, under the names it uses and with links resolved.
        user_base: Where the user's own packages are, if it looks there.
    """

    executable: str
    prefixes: tuple[Path, ...]
    paths: tuple[Path, ...]
    user_base: str | None


def find(python: str, environment: Mapping[str, str]) -> PythonHome:
    """Ask an interpreter what it reads; the answer is cached while its file is unchanged.

    Raises:
        InterpreterError: It did not start, or did not answer as Python does.
    """
    variables = {name: environment[name] for name in _ALL if name in environment}
    try:
        mtime = Path(python).stat().st_mtime_ns
    except OSError as error:
        raise interpreter.not_python(python, str(error)) from error
    return _find(python, mtime, tuple(sorted(variables.items())))


@functools.lru_cache(maxsize=64)
def _find(python: str, _mtime: int, environment: tuple[tuple[str, str], ...]) -> PythonHome:
    facts = _ask(python, {n: v for n, v in environment if n != _OWN_PATHS})
    executable = python
    if _is_script(Path(python)) and facts["executable"]:
        executable = str(facts["executable"])
    paths = [*facts["paths"], *_listed(dict(environment)), *_hops(Path(executable))]
    prefixes = _existing(facts["prefixes"])
    return PythonHome(executable, prefixes, _existing(paths), facts["user_base"])


def _existing(names: Iterable[str | Path]) -> tuple[Path, ...]:
    """The paths that exist, both as given and with links resolved."""
    absolute = (str(path) for path in names if str(path).startswith("/"))
    paths = {Path(path) for path in absolute if os.path.exists(path)}
    return tuple(sorted((paths | {path.resolve() for path in paths}) - {Path("/")}))


def _ask(python: str, environment: dict[str, str]) -> dict[str, Any]:
    """Ask in the root folder, where nothing can shadow a module of the standard library."""
    try:
        answer = subprocess.run(
            [python, "-c", _QUESTION],
            env=environment,
            cwd="/",
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_ASK_SECONDS,
        )
    except OSError as error:
        raise interpreter.not_python(python, str(error.strerror)) from error
    except subprocess.TimeoutExpired as error:
        raise interpreter.not_python(python, f"No answer in {_ASK_SECONDS:g} s.") from error
    lines = [line for line in answer.stdout.splitlines() if line.startswith(_MARK)]
    if not lines:
        raise interpreter.not_python(python, answer.stderr)
    facts: dict[str, Any] = json.loads(lines[-1][len(_MARK) :])
    return facts


def _is_script(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(2) == b"#!"


def _listed(environment: Mapping[str, str]) -> list[str]:
    """The folders named by variables that also apply inside the sandbox."""
    paths = [p for n in ("LD_LIBRARY_PATH", _OWN_PATHS) for p in environment.get(n, "").split(":")]
    return [*paths, *(environment.get(name, "") for name in ("CONDA_PREFIX", "VIRTUAL_ENV"))]


def _hops(executable: Path) -> list[Path]:
    """The executable, and every file that its chain of links leads to."""
    hops = [executable]
    while hops[-1].is_symlink() and len(hops) < 40:
        hops.append(hops[-1].parent / hops[-1].readlink())
    return hops
