"""The classes that tasks are made from: a JSON file.

    {"requires": ["pytest==9.2.0", …],
     "classes": [{"name": "Pot", "package": "tea==1.0", "sha256": "…", "file": "src/tea/pot.py",
                  "class": "Pot", "tests": ["tests/test_pot.py"], "requires": ["leaf==2.0"]}]}

``sha256`` is that of the package's source distribution. ``file`` and ``tests`` are relative to its
top folder; ``requires`` are pins, the first for all classes, the second for one.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from exploracoder.errors import InputError
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from exploracoder_bench.datasets.json_lines import first_fault, read_json
from exploracoder_bench.datasets.repoclassbench import read_class_tasks
from exploracoder_bench.environments import name_of
from exploracoder_bench.problems import slug_of

# The list that comes with ExploraCoder.
OURS = Path(__file__).with_name("classes.json")


class Row(BaseModel):
    """A class of a package, or, where ``repository`` is given, of a folder."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    package: str = ""
    sha256: str = ""
    repository: str = ""
    file: str
    class_name: str = Field(alias="class")
    tests: tuple[str, ...] = Field(min_length=1)
    requires: tuple[str, ...] = ()
    description: str = ""

    @model_validator(mode="after")
    def _has_one_source(self) -> Row:
        if bool(self.package) == bool(self.repository):
            raise ValueError("name a package, or a repository's folder")
        if self.package and not self.sha256:
            raise ValueError(f"{self.package} has no sha256 of its source distribution")
        if slug_of(self.name) != self.name:
            raise ValueError(f"the name {self.name!r} is none of a folder")
        return self

    @property
    def origin(self) -> str:
        """The name of what the class comes from."""
        return name_of(self.package) if self.package else Path(self.repository).name


class _Listing(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    requires: tuple[str, ...] = ()
    classes: tuple[Row, ...]


def read_rows(file: Path, names: Sequence[str] = ()) -> list[Row]:
    """The classes of a list, all or those that are named. Raises InputError."""
    listing = read_json(file, _Listing, "list of classes")
    return _named(
        [_whole(row, listing.requires, file.parent) for row in listing.classes], names, file
    )


def rows_of_repoclassbench(file: Path, repositories: Path, names: Sequence[str] = ()) -> list[Row]:
    """The classes of RepoClassBench's file, whose repositories are folders in ``repositories``.

    Raises InputError.
    """
    rows = []
    for task in read_class_tasks(file):
        repository, _, path = task.file.partition("/")
        fields = {
            "name": slug_of(task.task_id),
            "repository": str((repositories / repository).resolve()),
            "file": path,
            "class": task.class_name,
            "tests": task.evaluation_metadata.test_directives,
            "description": task.detailed_description,
        }
        try:
            rows.append(Row.model_validate(fields))
        except ValidationError as error:
            raise InputError(f"{file}, task {task.task_id}: {first_fault(error)}") from error
    return _named(rows, names, file)


def _named(rows: list[Row], names: Sequence[str], file: Path) -> list[Row]:
    row_names = [row.name for row in rows]
    unknown = [name for name in names if name not in row_names]
    if unknown:
        raise InputError(f"{file} has no class {unknown[0]!r}: {', '.join(row_names)}.")
    if len(set(row_names)) < len(row_names) or not row_names:
        raise InputError(f"{file} has no class, or two of one name.")
    return [row for row in rows if not names or row.name in names]


def _whole(row: Row, requires: tuple[str, ...], folder: Path) -> Row:
    """The row with all its pins. Its own package must not be among them: it has the answer."""
    changes: dict[str, Any] = {"requires": (*requires, *row.requires)}
    if row.repository:
        changes["repository"] = str((folder / row.repository).resolve())
    full_row = row.model_copy(update=changes)
    if full_row.origin in {name_of(pin) for pin in full_row.requires}:
        raise InputError(f"{row.name}: {full_row.origin} is required, and it has the class itself.")
    return full_row
