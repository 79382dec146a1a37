"""Cases for the judge as JSON lines: a candidate, what it should have done, and its libraries."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from exploracoder.errors import InputError
from pydantic import BaseModel, ConfigDict

from exploracoder_bench.api_use import signature
from exploracoder_bench.api_use.expressions import Outer
from exploracoder_bench.api_use.flow import Flow, of_expression
from exploracoder_bench.api_use.grading import Verdict
from exploracoder_bench.api_use.invented_libraries import Shelf
from exploracoder_bench.api_use.judging import Judge, Question
from exploracoder_bench.api_use.library_files import provided, shelf_of
from exploracoder_bench.datasets.json_lines import read_rows


class Parameter(BaseModel):
    """An argument of the function that is asked for."""

    model_config = ConfigDict(frozen=True)

    name: str
    type: str = "any"


class Case(BaseModel):
    """One line. ``reference`` counts if there is one, else ``signature``; other fields are ignored.

    ``libraries`` is what `library_files.shelf_of` reads; by default the provided ones.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    id: str
    candidate: str
    func_name: str
    signature: str = ""
    reference: str = ""
    params: tuple[Parameter, ...] | None = None
    libraries: Any = None

    async def judge(self, judge: Judge, *, is_strict: bool = False) -> Verdict:
        """The judge's verdict. Raises InputError when the case itself cannot be used."""
        shelf = shelf_of(self.libraries, self.id) if self.libraries else provided()
        outer = tuple(_outer(one, shelf) for one in self.params or ())
        if self.reference:
            reference = Question(shelf, self.reference, self.func_name, outer)
            expected = await judge.flow_of(reference)
        else:
            outer, expected = self._from_signature(shelf)
        question = Question(shelf, self.candidate, self.func_name, outer)
        return await judge.judge(question, expected, is_strict=is_strict)

    def _from_signature(self, shelf: Shelf) -> tuple[tuple[Outer, ...], Flow]:
        if not self.signature:
            raise InputError(f"Case {self.id} has neither a reference nor a signature. Add one.")
        expression = signature.parse(self.signature, shelf)
        names = None if self.params is None else [one.name for one in self.params]
        outer = signature.ordered(expression, names)
        return tuple(outer), of_expression(expression, outer)


def _outer(parameter: Parameter, shelf: Shelf) -> Outer:
    """The argument; without a type of its own, one named like a class library has that class."""
    library = shelf.class_of(parameter.name) if parameter.type == "any" else None
    return Outer(parameter.name, library.id if library else parameter.type)


def read_cases(file: Path) -> list[Case]:
    """The cases of a file. Raises InputError with the line that cannot be used."""
    cases = list(read_rows(file, Case, "case"))
    if not cases:
        raise InputError(f"{file} has no cases. It takes one JSON object a line.")
    return cases
