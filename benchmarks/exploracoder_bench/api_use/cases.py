"""Cases for the judge as JSON lines: a candidate, what it should have done, and its libraries."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from exploracoder.errors import InputError
from pydantic import BaseModel, ConfigDict

from exploracoder_bench.api_use import signature
from exploracoder_bench.api_use.composed_problems import check_function_name
from exploracoder_bench.api_use.flow_checks import check_of
from exploracoder_bench.api_use.library_files import provided, shelf_of
from exploracoder_bench.api_use.packages import write_packages
from exploracoder_bench.api_use.programs import program
from exploracoder_bench.datasets.json_lines import read_rows
from exploracoder_bench.problems import Problem


class Parameter(BaseModel):
    """An argument of the function that is asked for."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    name: str


class Case(BaseModel):
    """One line; other fields are ignored.

    ``params`` gives the order of the arguments, by default that of the signature. ``libraries`` is
    what `library_files.shelf_of` reads, by default the provided ones.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    id: str
    candidate: str
    func_name: str
    signature: str
    params: tuple[Parameter, ...] | None = None
    libraries: Any = None

    def problem(self, folder: Path) -> Problem:
        """What the candidate should solve, with its libraries written to ``folder``.

        Raises InputError when there can be no such problem.
        """
        try:
            check_function_name(self.func_name)
            shelf = shelf_of(self.libraries, "libraries") if self.libraries else provided()
            expression = signature.parse(self.signature, shelf)
            names = None if self.params is None else [one.name for one in self.params]
            outer = signature.ordered(expression, names)
        except InputError as error:
            raise InputError(f"Case {self.id}: {error}") from error
        keys = [(one.id, function.name) for one in shelf for function in one.functions]
        write_packages(shelf, keys, folder)
        return Problem(
            name=self.id,
            dataset="cases",
            task="",
            context="",
            check=check_of(self.func_name, expression, outer, shelf),
            entry_point=self.func_name,
            libraries=(),
            python=sys.executable,
            search_path=folder,
            solution=program(expression, outer, shelf, function=self.func_name),
        )


def read_cases(file: Path) -> list[Case]:
    """The cases of a file. Raises InputError with the line that cannot be used."""
    cases = list(read_rows(file, Case, "case"))
    if not cases:
        raise InputError(f"{file} has no cases. It takes one JSON object a line.")
    return cases
