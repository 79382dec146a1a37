"""RepoClassBench (Python): classes to be rewritten in the repositories that they were cut from.

The file is ``data/input/python_data.json``: a list of objects with ``task_id``, ``class_name``,
``file`` (the first folder is the repository's), ``detailed_description``, ``sketchy_description``,
``evaluation_metadata.test_directives`` and ``ground_truth_class_body``. The repositories are
distributed separately.
Source: RepoClassBench, section 3; microsoft/repoclassbench.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from exploracoder.errors import InputError

Wording = Literal["detailed", "sketchy"]


@dataclass(frozen=True, slots=True)
class ClassTask:
    """A class to be written into ``file`` of the repository; ``tests`` name its tests, as pytest
    does. ``solution`` is the class as it was."""

    name: str
    repository: str
    file: str
    class_name: str
    description: str
    tests: tuple[str, ...]
    solution: str


def read_class_tasks(file: Path, wording: Wording = "detailed") -> list[ClassTask]:
    """The tasks of the file, described in detail or in a few words. Raises InputError."""
    try:
        rows = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"{file} cannot be read as a list of tasks: {error}.") from error
    if not isinstance(rows, list):
        raise InputError(f"{file} is no list of tasks.")
    return [_task(row, number, file, wording) for number, row in enumerate(rows, start=1)]


def _task(row: dict[str, Any], number: int, file: Path, wording: Wording) -> ClassTask:
    try:
        tests = row["evaluation_metadata"]["test_directives"]
        texts = [row[name] for name in ("task_id", "class_name", "ground_truth_class_body")]
        texts += [row[f"{wording}_description"], *tests]
        if not (isinstance(tests, list) and all(isinstance(one, str) for one in texts)):
            raise ValueError("a name, description, class or test is no text")
        repository, slash, path = row["file"].partition("/")
        if not slash or ".." in Path(path).parts or Path(path).is_absolute():
            raise ValueError(f"file {row['file']!r} is not inside a repository")
        return ClassTask(
            name=row["task_id"],
            repository=repository,
            file=path,
            class_name=row["class_name"],
            description=row[f"{wording}_description"],
            tests=tuple(tests),
            solution=row["ground_truth_class_body"],
        )
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise InputError(f"{file}, task {number}, cannot be read: {error!r}.") from error
