"""The tables of the pages, drawn from kept results.

``tables.json``, which is kept with them, says what each table is made of.
"""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from exploracoder.errors import InputError
from pydantic import BaseModel, ConfigDict

from exploracoder_bench.datasets.json_lines import read_json
from exploracoder_bench.markdown_table import markdown
from exploracoder_bench.provenance import UNKNOWN
from exploracoder_bench.report.figures_by_name import figure
from exploracoder_bench.report.of_split import splits_of
from exploracoder_bench.report.run_folders import Runs, read_all
from exploracoder_bench.splits import in_words, tally

FILE = "tables.json"


class Column(BaseModel):
    """A column: a figure of the problems that ``of`` and ``but`` select, or each row's own text."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    title: str
    figure: str = ""
    of: tuple[str, ...] = ("*",)
    but: tuple[str, ...] = ()

    def has(self, problem: str) -> bool:
        """Whether a problem's samples go into the figure."""
        return _fits(problem, self.of) and not _fits(problem, self.but)


class Row(BaseModel):
    """A row: the samples of a method in a folder of runs; ``says`` has cells by their titles."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    folder: str
    method: str
    seeds: tuple[int, ...] = ()
    says: dict[str, str] = {}


class Table(BaseModel):
    """A table: its columns, and a row for each kind of samples."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    title: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]


def draw_table(results: Path, name: str) -> str:
    """A table of the results in a folder. Raises InputError when there is none of that name."""
    tables = read_json(results / FILE, dict[str, Table], "description of tables")
    if name not in tables:
        raise InputError(f"{results / FILE} has no table {name!r}: {', '.join(tables)}.")
    table = tables[name]
    folders = list(dict.fromkeys(row.folder for row in table.rows))
    all_runs = read_all([results / folder for folder in folders])
    runs = dict(zip(folders, all_runs, strict=True))
    lines = [[row.name, *_cells(row, runs[row.folder], table.columns)] for row in table.rows]
    head = [table.title, *(column.title for column in table.columns)]
    return f"{markdown(head, lines)}\n\n{_about(all_runs)}"


def _cells(row: Row, runs: Runs, columns: Sequence[Column]) -> list[str]:
    samples = [
        one
        for one in runs.results
        if one.counts and one.method == row.method and one.seed in (row.seeds or (one.seed,))
    ]
    if not samples:
        raise InputError(f"{runs.folder} has no samples of {row.method!r}.")
    return [
        figure(column.figure, [one for one in samples if column.has(one.problem)])
        if column.figure
        else row.says.get(column.title, "")
        for column in columns
    ]


def _about(runs: Sequence[Runs]) -> str:
    """Which split the problems are in, and which code the figures come from."""
    names = dict.fromkeys(each.problem for one in runs for each in one.results if each.counts)
    codes = ", ".join(dict.fromkeys(str(one.plan.code or UNKNOWN) for one in runs))
    return f"{in_words(tally(splits_of(runs), names))} Code: {codes}."


def _fits(problem: str, patterns: Sequence[str]) -> bool:
    return any(fnmatchcase(problem, pattern) for pattern in patterns)
