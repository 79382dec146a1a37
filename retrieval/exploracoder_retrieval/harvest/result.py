"""The results of reading a library."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict

from exploracoder_retrieval.apidoc import ApiDoc

LibrarySource = Literal["installed", "folder", "module", "docs"]


class _Value(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class UsageExample(_Value):
    """Python code that uses the library; ``origin`` is a file name or an API's import path.

    ``missing`` are the names in it that the library does not publish.
    """

    code: str
    title: str
    origin: str
    missing: tuple[str, ...] = ()


class SkippedSource(_Value):
    """A file or module that was not read, and why."""

    name: str
    reason: str


class LibraryInfo(_Value):
    """A library as a whole.

    ``name`` is what people call it (its distribution), ``import_name`` its top-level module,
    ``root`` the folder or file it was read from, ``overview`` its README or docstring. A library
    whose source is ``docs`` is known only from its documentation. ``docs`` are the paths and
    addresses of documentation given beside its code or in its place; ``skipped`` are the first
    files or modules that could not be read.
    """

    name: str
    import_name: str
    version: str
    source: LibrarySource
    root: str
    overview: str
    examples: tuple[UsageExample, ...]
    docs: tuple[str, ...] = ()
    skipped: tuple[SkippedSource, ...] = ()

    @property
    def home(self) -> str | None:
        """The folder to import it from; None if it is installed or has no code."""
        return str(Path(self.root).parent) if self.source in ("folder", "module") else None


class Harvest(_Value):
    """A library, its public APIs ordered by path, and what could not be read."""

    library: LibraryInfo
    docs: tuple[ApiDoc, ...]
    skipped: tuple[SkippedSource, ...]
