"""A kit of executable problems on disk, read as problems that can be explored.

A kit is a folder with ``dev/*.jsonl`` (one problem per line), ``fixtures/NAME`` (folders that a
problem works on) and ``private`` (libraries that are not installed). A program is context +
completion + test; the prompt is the context and the unfinished code that the completion continues.
"""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from exploracoder_bench.datasets.interpreters import PythonOf, this_python
from exploracoder_bench.datasets.json_lines import read_rows
from exploracoder_bench.datasets.published import pins_of
from exploracoder_bench.datasets.pycodegpt import fenced
from exploracoder_bench.problems import Problem


class Row(BaseModel):
    """One line of a kit; fields that only other tools need are ignored.

    ``made_from`` is the library of which ``library`` is a renamed copy, in the same environment.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    id: str
    dataset: str
    library: str
    kind: Literal["function", "assign"]
    prompt: str
    context: str
    requirement: str
    test: str
    canonical_solution: tuple[str, ...] = Field(min_length=1)
    example_inputs: str | None = None
    entry_point: str | None = None
    fixtures: str | None = None
    target: str | None = None
    made_from: str | None = None

    @property
    def libraries(self) -> tuple[str, ...]:
        """The libraries to use, by import name."""
        return tuple(self.library.split("+"))

    @property
    def needed(self) -> tuple[str, ...]:
        """The libraries that an interpreter has to have."""
        return (self.made_from,) if self.made_from else self.libraries

    @property
    def unfinished(self) -> str:
        """The end of the prompt, which the completion continues; empty if there is none."""
        return self.prompt.removeprefix(self.context.rstrip()).lstrip("\n")

    @property
    def task(self) -> str:
        """What is asked, in words, with the unfinished code in a fence."""
        stub = self.unfinished
        return fenced(self.requirement, stub) if stub.strip() else f"{self.requirement}\n"

    @property
    def canonical(self) -> str:
        """The known solution, without the context."""
        completion = self.canonical_solution[0]
        is_whole = self.entry_point and re.search(
            rf"^def {re.escape(self.entry_point)}\(", completion, re.MULTILINE
        )
        return completion if is_whole else self.unfinished + completion

    def problem(self, kit: Path, python: str) -> Problem:
        """The row as a problem to explore with ``python``, an interpreter that has the library."""
        context = self.context.rstrip() + "\n"
        if self.example_inputs:
            context += f"\n{self.example_inputs.rstrip()}\n"
        return Problem(
            name=self.id,
            dataset=self.dataset,
            task=self.task,
            context=context,
            check=self.test,
            entry_point=self.entry_point if self.kind == "function" else None,
            libraries=self.libraries,
            python=python,
            fixtures=kit / "fixtures" / self.fixtures if self.fixtures else None,
            search_path=kit / "private",
            solution=self.canonical,
            target=self.target or "",
        )


def is_kit(folder: Path) -> bool:
    """Whether a folder has the form of a kit."""
    return any((folder / "dev").glob("*.jsonl"))


def read_kit(kit: Path, python_of: PythonOf) -> list[Problem]:
    """The problems of a kit, in the order of its files. Raises InputError."""
    rows = [row for file in sorted((kit / "dev").glob("*.jsonl")) for row in read_rows(file, Row)]
    problems = [row.problem(kit, python_of(row.needed)) for row in rows]
    if python_of is not this_python:
        return problems
    # No interpreter was named: the pins of the library's published problems make one.
    return [
        replace(problem, requires=pins_of(row.needed))
        for problem, row in zip(problems, rows, strict=True)
    ]
