"""A kit whose tasks are all in one file, each with a second set of data.

A kit is a folder with ``tasks.jsonl`` (one task per line), ``dist`` (wheels of the libraries, for
the interpreter that runs the tasks) and ``libs/NAME`` (their source, which is not read here).
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict

from exploracoder_bench.datasets.interpreters import PythonOf
from exploracoder_bench.datasets.json_lines import read_rows
from exploracoder_bench.problems import Problem

_FILE = "tasks.jsonl"


class TaskRow(BaseModel):
    """One line of a kit; fields for examining the kit itself are ignored.

    ``entry_point`` is the function or the variable that a solution makes.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    id: str
    library: str
    kind: Literal["function", "variable"]
    requirement: str
    context: str
    entry_point: str
    check: str
    context_alt: str
    check_alt: str
    canonical_solution: str

    def problem(self, python: str) -> Problem:
        """The row as a problem to explore with ``python``, which has the library installed."""
        is_function = self.kind == "function"
        return Problem(
            name=self.id,
            dataset=self.library,
            task=self.requirement,
            context=self.context,
            check=self.check,
            entry_point=self.entry_point if is_function else None,
            libraries=(self.library,),
            python=python,
            solution=self.canonical_solution,
            target="" if is_function else self.entry_point,
            second_context=self.context_alt,
            second_check=self.check_alt,
        )


def is_tasks_kit(folder: Path) -> bool:
    """Whether a folder has the form of such a kit."""
    return (folder / _FILE).is_file()


def read_tasks_kit(kit: Path, python_of: PythonOf) -> list[Problem]:
    """The problems of a kit, in the order of its file. Raises InputError."""
    rows = read_rows(kit / _FILE, TaskRow)
    return [row.problem(python_of((row.library,))) for row in rows]
