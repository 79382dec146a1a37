"""A kit of queries and the APIs that answer them, read from disk.

A kit is a folder with ``dev/*.jsonl`` (one query per line) and ``pools/LIBRARY.jsonl.gz`` (the APIs
to search for it, one per line). Nothing in it is run.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Literal

from exploracoder.errors import InputError
from exploracoder_retrieval.apidoc import ApiDoc
from exploracoder_retrieval.harvest import Harvest, LibraryInfo
from pydantic import BaseModel, ConfigDict, Field

from exploracoder_bench.datasets.json_lines import read_rows


class Question(BaseModel):
    """One line of ``dev``; ``gold`` are the import paths of the APIs that answer it.

    Questions of one ``group`` are one problem in several forms.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    id: str
    query: str
    gold: tuple[str, ...] = Field(min_length=1)
    library: str
    dataset: str
    group: str = ""

    @property
    def problem(self) -> str:
        """What to leave out of a memory that must not know this question."""
        return self.group or self.id


class _PoolLine(BaseModel):
    """One line of a pool; ``functional`` is the name that a decorator registers."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    path: str
    kind: Literal["module", "class", "function", "method", "property", "attribute", "api"]
    signature: str | None = None
    summary: str | None = None
    doc: str | None = None
    aliases: tuple[str, ...] = ()
    functional: str | None = None

    def api(self, library: str) -> ApiDoc:
        functional_aliases = (f".{self.functional}",) if self.functional else ()
        return ApiDoc(
            path=self.path,
            # An API whose kind the kit does not know is taken for a function.
            kind="function" if self.kind == "api" else self.kind,
            library=library,
            signature=self.signature or "",
            summary=self.summary or "",
            doc=self.doc or "",
            aliases=(*self.aliases, *functional_aliases),
        )


def read_questions(kit: Path) -> tuple[Question, ...]:
    """All queries of a kit, set by set. Raises InputError."""
    files = sorted((kit / "dev").glob("*.jsonl"))
    if not files:
        raise InputError(f"{kit} is not a kit: it has no dev/*.jsonl.")
    return tuple(question for file in files for question in read_rows(file, Question, "query"))


def read_pool(kit: Path, library: str) -> Harvest:
    """The APIs of a library, as if they had been harvested. Raises InputError."""
    file = kit / "pools" / f"{library}.jsonl.gz"
    docs = tuple(line.api(library) for line in read_rows(file, _PoolLine, "API"))
    return Harvest(library=library_info(library), docs=docs, skipped=())


def libraries(questions: Iterable[Question]) -> list[str]:
    """The libraries that are asked about, in the order of the kit."""
    return list(dict.fromkeys(question.library for question in questions))


def library_info(name: str) -> LibraryInfo:
    """A library of which only the APIs are known."""
    return LibraryInfo(
        name=name, import_name=name, version="", source="module", root="", overview="", examples=()
    )
