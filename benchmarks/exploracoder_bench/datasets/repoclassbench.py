"""RepoClassBench (Python): classes to be rewritten in the repositories that they were cut from.

The file is ``data/input/python_data.json``. The repositories are distributed separately.
Source: RepoClassBench, section 3; microsoft/repoclassbench.
"""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel, ConfigDict, field_validator

from exploracoder_bench.datasets.json_lines import read_json


class _Metadata(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")

    test_directives: tuple[str, ...]


class ClassTask(BaseModel):
    """A class to be written into ``file``, whose first folder is the repository's; the metadata
    name its tests, as pytest does."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    task_id: str
    class_name: str
    file: str
    detailed_description: str
    evaluation_metadata: _Metadata

    @field_validator("file")
    @classmethod
    def _in_a_repository(cls, file: str) -> str:
        _, slash, path = file.partition("/")
        if not slash or ".." in Path(path).parts or Path(path).is_absolute():
            raise ValueError(f"{file!r} is not inside a repository")
        return file


def read_class_tasks(file: Path) -> list[ClassTask]:
    """The tasks of the file. Raises InputError."""
    return read_json(file, list[ClassTask], "list of tasks")
