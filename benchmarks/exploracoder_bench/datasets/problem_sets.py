"""Turn the arguments of ``--problems`` into problems."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from exploracoder.errors import InputError

from exploracoder_bench.datasets.api_use import read_api_use
from exploracoder_bench.datasets.exec_kit import is_kit, read_kit
from exploracoder_bench.datasets.fetching import fetched, find_published
from exploracoder_bench.datasets.interpreters import PythonOf, this_python
from exploracoder_bench.datasets.own_tasks import read_tasks
from exploracoder_bench.datasets.tasks_kit import is_tasks_kit, read_tasks_kit
from exploracoder_bench.problems import Problem
from exploracoder_bench.splits import read_splits

_API_USE = "api-use="


def open_problems(
    specs: Sequence[str], python_of: PythonOf, search_path: Path | None = None
) -> list[Problem]:
    """The problems of each: a kit's folder, a folder of tasks, NAME, NAME=FILE, or api-use=NAME.

    If no interpreter was named, published problems require their pins, and a kit's problems those
    of their library's published ones. ``search_path`` has modules that no interpreter has, such as
    the private libraries; those of api-use stay their problem's own. Each problem has its split, if
    that is known. Raises InputError.
    """
    problems = []
    for spec in specs:
        splits = read_splits(Path(spec))
        for problem in _open(spec, python_of):
            path = problem.search_path
            if search_path is not None and not spec.startswith(_API_USE):
                path = search_path.absolute()
            split = splits.of(problem.name)
            problems.append(replace(problem, split=split, search_path=path))
    return problems


def _open(spec: str, python_of: PythonOf) -> list[Problem]:
    folder = Path(spec)
    if is_tasks_kit(folder):
        return read_tasks_kit(folder.absolute(), python_of)
    if folder.is_dir() and not is_kit(folder):
        return read_tasks(folder.absolute(), python_of)
    if folder.is_dir():
        return read_kit(folder.absolute(), python_of)
    name, equals, file = spec.partition("=")
    if spec.startswith(_API_USE):
        return read_api_use(file, python_of)
    try:
        one = find_published(name)
    except InputError as error:
        raise InputError(f"--problems: {spec!r} is no folder. {error}") from error
    path = Path(file) if equals else fetched(one)
    problems = one.read(path, one.name, one.library, python_of)
    if python_of is not this_python:
        return problems
    return [replace(problem, requires=one.requires) for problem in problems]
