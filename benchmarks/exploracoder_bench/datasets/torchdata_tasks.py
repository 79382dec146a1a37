"""Torchdata-Github and Torchdata-Manual: a JSON object of columns, each of them an object by row.

The columns are ``task``, ``prompt``, ``canonical_solution``, ``test_input`` and ``test``; lists and
objects in them are written as Python text. ``<real_path>`` in tests stands for a folder of data,
which is not part of the file: put it beside the file, under the name ``fixtures``.
Source: ExploraCoder, section 4, ``datasets/`` of its repository.
"""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path
from typing import Any

from exploracoder.errors import InputError

from exploracoder_bench.datasets.interpreters import PythonOf
from exploracoder_bench.datasets.pycodegpt import fenced, joined, split_prompt
from exploracoder_bench.problems import Problem

_COLUMNS = ("task", "prompt", "canonical_solution", "test")
_FOLDER = "<real_path>"
_FUNCTION = re.compile(r"^def (\w+)\(", re.MULTILINE)


def read_columns(file: Path, dataset: str, library: str, python_of: PythonOf) -> list[Problem]:
    """The problems of the file, its data in ``fixtures`` beside it. Raises InputError."""
    try:
        columns = json.loads(file.read_text(encoding="utf-8"))
        missing = [name for name in _COLUMNS if not isinstance(columns.get(name), dict)]
    except (OSError, ValueError, AttributeError) as error:
        raise InputError(f"{file} cannot be read as columns: {error}.") from error
    if missing:
        raise InputError(f"{file} has no column {', '.join(missing)}.")
    data = file.parent / "fixtures"
    python = python_of([library])
    problems = []
    for key in columns["prompt"]:
        try:
            row = {name: columns[name][key] for name in columns if key in columns[name]}
            wrong = [name for name in _COLUMNS if not isinstance(row[name], str)]
            if wrong:
                raise ValueError(f"{wrong[0]} is no text")
            problem = _problem(row, f"{dataset}/{key}", dataset, (library,), python, data)
        except (LookupError, TypeError, ValueError, AttributeError, SyntaxError) as error:
            raise InputError(f"{file}, row {key}, cannot be read: {error!r}.") from error
        problems.append(problem)
    return problems


def _problem(
    row: dict[str, Any],
    name: str,
    dataset: str,
    libraries: tuple[str, ...],
    python: str,
    data: Path,
) -> Problem:
    entry_point = _FUNCTION.findall(row["prompt"])[-1]
    context, stub = split_prompt(row["prompt"], entry_point)
    completions = row["canonical_solution"]
    solutions = ast.literal_eval(completions) if completions.startswith("[") else [completions]
    return Problem(
        name=name,
        dataset=dataset,
        task=fenced(row["task"], stub),
        context=context + _inputs(row.get("test_input")),
        check=_check(row["test"]),
        entry_point=entry_point,
        libraries=libraries,
        python=python,
        fixtures=data if data.is_dir() else None,
        solution=joined(stub, solutions[0], entry_point),
    )


def _inputs(text: str | None) -> str:
    """The example's arguments as assignments; a default that is its own name is skipped."""
    try:
        arguments = ast.literal_eval(text) if text else {}
    except (ValueError, SyntaxError):
        # Some rows quote quotes; the example helps, but is not part of the problem.
        arguments = {}
    lines = [f"{name} = {value}" for name, value in arguments.items() if name != value]
    return ("\n" + "\n".join(lines) + "\n").replace(_FOLDER, ".") if lines else ""


def _check(test: str) -> str:
    text = test.strip().replace(_FOLDER, ".")
    return f"{text}\n\ncheck()\n" if "def check()" in text else f"{text}\n"
