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


def open_problems(
    specs: Sequence[str], python_of: PythonOf, search_path: Path | None = None
) -> list[Problem]:
    """The problems of each: a kit's folder, a folder of tasks, NAME, NAME=FILE, or api-use=NAME.

    If no interpreter was named, published problems require their pins, and a kit's problems those
    of their library's published ones. ``search_path`` has modules that no interpreter has, such as
    the private libraries; a problem's own folder of them stays. Each problem has its split, if that
    is known. Raises InputError.
    """
    problems = [problem for spec in specs for problem in _with_splits(spec, python_of)]
    if search_path is None:
        return problems
    path = search_path.absolute()
    return [
        one if one.search_path and one.search_path.is_dir() else replace(one, search_path=path)
        for one in problems
    ]


def _with_splits(spec: str, python_of: PythonOf) -> list[Problem]:
    problems, splits = _open(spec, python_of), read_splits(Path(spec))
    return [replace(problem, split=splits.of(problem.name)) for problem in problems]


def _open(spec: str, python_of: PythonOf) -> list[Problem]:
    folder = Path(spec)
    if is_tasks_kit(folder):
        return read_tasks_kit(folder.absolute(), python_of)
    if folder.is_dir() and not is_kit(folder):
        return read_tasks(folder.absolute(), python_of)
    if folder.is_dir():
        return read_kit(folder.absolute(), python_of)
    name, equals, file = spec.partition("=")
    if name == "api-use":
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
