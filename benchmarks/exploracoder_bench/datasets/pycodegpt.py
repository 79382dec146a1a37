"""PandasEval, NumpyEval and similar sets: completions of a prompt, one problem per line.

Each line has ``task_id``, ``prompt``, ``entry_point`` (``none`` where the completion is no
function), ``canonical_solution`` (a list) and ``test``, which defines ``check``. A program is
prompt + completion + test + a call of ``check`` with the entry point.
Source: microsoft/PyCodeGPT, ``cert/pandas-numpy-eval`` and ``apicoder/private-eval``.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, field_validator

from exploracoder_bench.datasets.interpreters import PythonOf
from exploracoder_bench.datasets.json_lines import read_rows
from exploracoder_bench.problems import Problem

_NO_FUNCTION = "none"
_ASSIGNMENT = re.compile(r"^(?P<target>[^\s=#][^=#\n]*?)\s*=\s*$")


class _Row(BaseModel):
    """One line; of several known solutions the first one counts."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    task_id: str = Field(coerce_numbers_to_str=True)
    prompt: str
    entry_point: str | None = None
    canonical_solution: str
    test: str

    @field_validator("canonical_solution", mode="before")
    @classmethod
    def _first(cls, solutions: Any) -> Any:
        return next(iter(solutions), None) if isinstance(solutions, list) else solutions

    @field_validator("entry_point")
    @classmethod
    def _of_a_function(cls, name: str | None) -> str | None:
        return None if name in ("", _NO_FUNCTION) else name


def read_completions(file: Path, dataset: str, library: str, python_of: PythonOf) -> list[Problem]:
    """The problems of a ``.jsonl`` or ``.jsonl.gz`` file. Raises InputError."""
    python = python_of([library])
    return [_problem(row, dataset, library, python) for row in read_rows(file, _Row)]


def _problem(row: _Row, dataset: str, library: str, python: str) -> Problem:
    entry_point = row.entry_point
    context, stub = split_prompt(row.prompt, entry_point)
    match = _ASSIGNMENT.match(stub.strip().rpartition("\n")[2])
    target = match["target"] if match and not entry_point else ""
    return Problem(
        name=row.task_id,
        dataset=dataset,
        task=asked_for(context, stub),
        context=context,
        check=f"{row.test.strip()}\n\ncheck({entry_point or ''})\n",
        entry_point=entry_point,
        libraries=(library,),
        python=python,
        solution=joined(stub, row.canonical_solution, entry_point),
        target=target,
    )


def split_prompt(prompt: str, entry_point: str | None) -> tuple[str, str]:
    """What runs before the solution, and the unfinished code that the solution continues."""
    lines = prompt.rstrip().splitlines()
    if not lines:
        return "", ""
    if entry_point is None:
        is_open = _ASSIGNMENT.match(lines[-1]) is not None
        head = lines[:-1] if is_open else lines
        return "\n".join(head) + "\n", lines[-1] if is_open else ""
    pattern = re.compile(rf"^(async )?(def|class) {re.escape(entry_point)}\b")
    starts = [number for number, line in enumerate(lines) if pattern.match(line)]
    start = starts[-1] if starts else len(lines)
    return "\n".join(lines[:start]).rstrip() + "\n", "\n".join(lines[start:]) + "\n"


def asked_for(context: str, stub: str) -> str:
    """The task in words: the comments at the end of the context, and the unfinished code."""
    words = []
    for line in reversed(context.rstrip().splitlines()):
        if not line.startswith("#"):
            break
        words.append(line.lstrip("# ").rstrip())
    description = " ".join(reversed(words)) or "Complete the code."
    return fenced(description, stub) if stub.strip() else description


def fenced(words: str, stub: str) -> str:
    """What is asked, and the unfinished code in a fence."""
    return f"{words}\n\n```python\n{stub.rstrip()}\n```\n"


def joined(stub: str, completion: str, entry_point: str | None) -> str:
    """The known solution: the completion appended to the code that it continues."""
    if entry_point and re.search(rf"^def {re.escape(entry_point)}\(", completion, re.MULTILINE):
        return completion
    if entry_point is None:
        return f"{stub.rstrip()} {completion.strip()}" if stub else completion
    together = stub.rstrip() + "\n" + completion.lstrip("\n")
    try:
        ast.parse(together)
    except SyntaxError:
        # Some prompts end with the indentation that the completion continues.
        return stub.rstrip() + "\n    " + completion.lstrip()
    return together
