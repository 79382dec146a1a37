"""RepoClassBench (Python): classes to be rewritten in the repositories that they were cut from.

The file is ``data/input/python_data.json``. The repositories are distributed separately.
Source: RepoClassBench, section 3; microsoft/repoclassbench.
"""

from __future__ import annotations

from pathlib import Path

from exploracoder.errors import InputError
from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError, field_validator

from exploracoder_bench.datasets.json_lines import first_fault


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
    try:
        return TypeAdapter(list[ClassTask]).validate_json(file.read_bytes())
    except OSError as error:
        raise InputError(f"{file} cannot be read as a list of tasks: {error}.") from error
    except ValidationError as error:
        raise InputError(f"{file} is no list of tasks: {first_fault(error)}") from error
