"""Facts read from files, kept in the user's cache folder and never in their source tree."""

from __future__ import annotations

import ast
import hashlib
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from exploracoder_retrieval.errors import IndexUnavailable, UnreadableSource
from exploracoder_retrieval.facts.fact_types import Module, Snippet
from exploracoder_retrieval.facts.reading import parse, read_module
from exploracoder_retrieval.files import (
    MAX_SOURCE_BYTES,
    decode_python,
    read_bytes,
    write_atomically,
)

# Increment when the facts read from a file, or their format, change.
FACTS_VERSION = 5
# What can be read depends on it, too: an older Python does not know newer syntax.
_OWN_VERSION = sys.version_info[:2]
ValueT = TypeVar("ValueT")


class Entry(BaseModel):
    """One file as it was read: its facts, or why there are none."""

    model_config = ConfigDict(frozen=True)

    size: int
    mtime_ns: int
    sha256: str
    module: Module | None = None
    problem: str = ""


Entries = dict[str, Entry]


@dataclass(frozen=True, slots=True)
class Kind(Generic[ValueT]):
    """A kind of value kept by name, in files with a suffix of their own."""

    suffix: str
    values: TypeAdapter[dict[str, ValueT]]


# The files of a tree by path, pieces of files by the SHA-256 of the file's content, and names with
# the modules that define them.
ENTRIES = Kind("json", TypeAdapter(Entries))
SNIPPETS = Kind("snippets.json", TypeAdapter(dict[str, tuple[Snippet, ...]]))
NAMES = Kind("names.json", TypeAdapter(dict[str, tuple[str, ...]]))


class FactStore:
    """Facts on disk, in JSON files that are replaced whole; nothing if ``folder`` is None.

    Files that are damaged or from another version count as missing.
    """

    def __init__(self, folder: Path | None, version: tuple[int, ...]) -> None:
        self._folder = folder / f"facts-{FACTS_VERSION}" if folder else None
        self._version = version

    def load(self, kind: Kind[ValueT], key: str) -> dict[str, ValueT]:
        """The values kept under a key; empty if there are none or they are damaged."""
        path = self._path(key, kind.suffix)
        try:
            return kind.values.validate_json(path.read_bytes()) if path else {}
        except (OSError, ValidationError):
            return {}

    def keep(self, kind: Kind[ValueT], key: str, values: dict[str, ValueT]) -> None:
        """Keep values under a key. Raises IndexUnavailable if the folder cannot be written."""
        path = self._path(key, kind.suffix)
        if path is None:
            return
        content = kind.values.dump_json(values, exclude_defaults=True)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(path, content, is_synced=False)
        except OSError as error:
            raise IndexUnavailable(
                f"{path.parent} cannot be written ({error.strerror}). Set EXPLORACODER_CACHE to a"
                " folder of yours."
            ) from None

    def _path(self, key: str, suffix: str) -> Path | None:
        if self._folder is None:
            return None
        versions = f"{self._version[:2]}{_OWN_VERSION}"
        name = hashlib.sha256(f"{key}\0{versions}".encode("utf-8", "surrogateescape"))
        return self._folder / f"{name.hexdigest()[:32]}.{suffix}"


def is_same(entry: Entry, size: int, mtime_ns: int) -> bool:
    """Whether a file is still the one that was read, judging by its size and mtime."""
    return entry.size == size and entry.mtime_ns == mtime_ns


def stamp(path: Path) -> tuple[int, int]:
    """A file's size and mtime; (-1, 0), which no file has, if it is missing."""
    try:
        status = path.stat()
    except OSError:
        return (-1, 0)
    return (status.st_size, status.st_mtime_ns)


@dataclass(frozen=True, slots=True)
class SourceReading:
    """A file that was read; text and tree are set only if its content was new and is Python."""

    entry: Entry
    text: str = ""
    tree: ast.Module | None = None


def read_file(
    path: Path,
    name: str,
    *,
    is_package: bool,
    version: tuple[int, ...],
    before: Entry | None = None,
    inside: Path | None = None,
    most: int = MAX_SOURCE_BYTES,
) -> SourceReading:
    """Read a file. If its content is the same as ``before``, those facts are reused.

    A file that cannot be read gives an entry with a problem. ``inside`` and ``most`` are as in
    `read_bytes`.
    """
    size, mtime_ns = stamp(path)
    entry = Entry(size=size, mtime_ns=mtime_ns, sha256="")
    try:
        content = read_bytes(path, most, inside=inside)
    except UnreadableSource as error:
        return SourceReading(entry.model_copy(update={"problem": str(error)}))
    entry = entry.model_copy(update={"sha256": hashlib.sha256(content).hexdigest()})
    if before is not None and before.sha256 == entry.sha256:
        facts = {"module": before.module, "problem": before.problem}
        return SourceReading(entry.model_copy(update=facts))
    try:
        text = decode_python(content)
        tree = parse(text, version)
        module = read_module(tree, name, is_package=is_package, version=version)
    except UnreadableSource as error:
        return SourceReading(entry.model_copy(update={"problem": str(error)}))
    return SourceReading(entry.model_copy(update={"module": module}), text, tree)
