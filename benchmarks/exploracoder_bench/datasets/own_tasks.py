"""A user's own folder of tasks, and one to begin with.

A task is a folder:

    task.txt      what is asked, in words; unfinished code to complete in a fence, if any
    check.py      runs after the solution and raises when it is wrong
    task.json     {"libraries": ["NAME_OR_PATH"], "entry_point": "NAME", "dataset": "NAME"}; the
                  last two may be left out, and paths begin at the task's folder
    context.py    runs before everything else: data, helpers (may be left out)
    solution.py   a known solution, so that the check can be checked (may be left out)
    files/        copied into the folder in which code runs (may be left out)

A class to be written into a repository is such a task too. Its task.json has more fields:

    repository    the repository's top folder, relative to the task's; it lacks the class
    file          where the class belongs, relative to the repository
    entry_point   the class's name
    tests         the repository's tests that tell, as pytest names them; they make the check, so
                  that there is no check.py
    requires      pins (NAME==VERSION) of the environment that is made for it; without any it is
                  the interpreter that is named otherwise

A folder of tasks has each in a subfolder of its own; a single task's folder works as well.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from exploracoder.errors import InputError
from exploracoder.state import Target
from exploracoder.tasks import make_target
from pydantic import BaseModel, ConfigDict

from exploracoder_bench.datasets.interpreters import PythonOf
from exploracoder_bench.datasets.json_lines import read_json
from exploracoder_bench.datasets.repository_tests import check_of
from exploracoder_bench.problems import Problem

_TASK, _CHECK, _ABOUT = "task.txt", "check.py", "task.json"


class About(BaseModel):
    """What task.json says."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    libraries: tuple[str, ...] = ()
    entry_point: str | None = None
    dataset: str = ""
    repository: str = ""
    file: str = ""
    tests: tuple[str, ...] = ()
    requires: tuple[str, ...] = ()


def read_tasks(folder: Path, python_of: PythonOf) -> list[Problem]:
    """The tasks in a folder, by name. Raises InputError with the file that is wrong."""
    if (folder / _TASK).is_file():
        return [_task(folder, folder.name, python_of)]
    folders = sorted(path.parent for path in folder.glob(f"*/{_TASK}"))
    if not folders:
        raise InputError(
            f"{folder} holds no tasks: a task is a folder with {_TASK}, {_CHECK} and {_ABOUT}."
            " 'exploracoder bench init' makes one to begin with."
        )
    return [_task(one, folder.name, python_of) for one in folders]


def init_tasks(folder: Path) -> list[Path]:
    """Write a folder with one task that can be run. Raises InputError when it is not empty."""
    if folder.exists() and any(folder.iterdir()):
        raise InputError(f"{folder} is not empty. Name a folder that is not there yet.")
    task = folder / "greetings"
    files = []
    for name, text in _EXAMPLE.items():
        (task / name).parent.mkdir(parents=True, exist_ok=True)
        (task / name).write_text(text, encoding="utf-8")
        files.append(task / name)
    return files


def _task(folder: Path, dataset: str, python_of: PythonOf) -> Problem:
    about = _about(folder / _ABOUT)
    libraries = tuple(_library(folder, name) for name in about.libraries)
    files = folder / "files"
    check = check_of(about.tests) if about.tests else _read(folder / _CHECK)
    return Problem(
        name=folder.name,
        dataset=about.dataset or dataset,
        task=_read(folder / _TASK),
        context=_read(folder / "context.py", is_optional=True),
        check=check,
        entry_point=about.entry_point,
        libraries=libraries,
        python=sys.executable if about.requires else python_of(libraries or (folder.name,)),
        fixtures=files if files.is_dir() else None,
        solution=_read(folder / "solution.py", is_optional=True),
        place=_place(folder, about),
        tests=about.tests,
        requires=about.requires,
    )


def _place(folder: Path, about: About) -> Target | None:
    if not about.repository:
        return None
    try:
        place = make_target((folder / about.repository).resolve(), about.file)
    except InputError as error:
        raise InputError(f"{folder / _ABOUT}: {error}") from error
    if not about.entry_point:
        raise InputError(f"{folder / _ABOUT} names no class in 'entry_point'.")
    return place


def _about(file: Path) -> About:
    about = read_json(file, About, "description of a task")
    if not about.libraries and not about.repository:
        raise InputError(f"{file} names no library in 'libraries', and no 'repository'.")
    if about.tests and not about.repository:
        raise InputError(f"{file}: 'tests' are those of a 'repository', and it names none.")
    return about


def _read(file: Path, *, is_optional: bool = False) -> str:
    if is_optional and not file.exists():
        return ""
    try:
        return file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not text in UTF-8"
        raise InputError(f"{file} cannot be read: {why}.") from error


def _library(folder: Path, name: str) -> str:
    is_path = os.sep in name or name.endswith(".py")
    return str((folder / name).absolute()) if is_path else name


_EXAMPLE = {
    "task.txt": """\
Greet each of the guests in their own language, in the order in which they came.

```python
def greet_all(guests):
    # guests: a list of (name, language) pairs
```
""",
    "context.py": 'guests = [("Ada", "en"), ("Émilie", "fr")]\n',
    "check.py": """\
assert greet_all([("Ada", "en")]) == ["Good day, Ada."]
assert greet_all(guests) == ["Good day, Ada.", "Bonjour, Émilie."]
""",
    "solution.py": """\
import tinygreet

def greet_all(guests):
    return [tinygreet.salute(name, tongue=language) for name, language in guests]
""",
    "task.json": '{"libraries": ["library/tinygreet.py"], "entry_point": "greet_all"}\n',
    "library/tinygreet.py": '''\
"""Greetings in a few languages: put your own library here, or name one that is installed."""

_WORDS = {"en": "Good day", "fr": "Bonjour", "de": "Guten Tag"}


def salute(name: str, *, tongue: str = "en") -> str:
    """Greet somebody by name in a language: en, fr or de."""
    return f"{_WORDS[tongue]}, {name}."
''',
}
