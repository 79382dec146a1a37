"""What was read of files, kept in the user's cache folder and never in their tree."""

from __future__ import annotations

import ast
import hashlib
import os
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from exploracoder_retrieval.errors import IndexUnavailable, UnreadableSource
from exploracoder_retrieval.files import decode_python, read_bytes
from exploracoder_retrieval.repotools.facts import Module, Snippet
from exploracoder_retrieval.repotools.reading import parse, read_module

# Counts up when what is read of a file, or its form, changes.
FACTS_VERSION = 1


class Entry(BaseModel):
    """One file as it was read: its facts, or why there are none."""

    model_config = ConfigDict(frozen=True)

    size: int
    mtime_ns: int
    sha256: str
    module: Module | None = None
    problem: str = ""


Entries = dict[str, Entry]
_ENTRIES = TypeAdapter(Entries)
_NAMES = TypeAdapter(dict[str, tuple[str, ...]])
_SNIPPETS = TypeAdapter(dict[str, tuple[Snippet, ...]])


class FactStore:
    """Facts on disk, in files of JSON that are replaced whole; ``folder`` None keeps nothing.

    What is damaged or of another version counts as not there.
    """

    def __init__(self, folder: Path | None, version: tuple[int, ...]) -> None:
        self._folder = folder / f"facts-{FACTS_VERSION}" if folder else None
        self._version = version

    def entries(self, key: str) -> Entries:
        """The files of a tree by their paths, as they were kept under its key."""
        content = self._content(key, "json")
        try:
            return _ENTRIES.validate_json(content) if content else {}
        except ValidationError:
            return {}

    def snippets(self, key: str) -> dict[str, tuple[Snippet, ...]]:
        """The pieces of a tree's files, by the SHA-256 of their content."""
        content = self._content(key, "snippets.json")
        try:
            return _SNIPPETS.validate_json(content) if content else {}
        except ValidationError:
            return {}

    def keep(self, key: str, entries: Entries) -> None:
        """Keep the files of a tree. Raises IndexUnavailable when the folder cannot be written."""
        self._write(key, "json", _ENTRIES.dump_json(entries, exclude_defaults=True))

    def keep_snippets(self, key: str, snippets: Mapping[str, Sequence[Snippet]]) -> None:
        """Keep the pieces. Raises IndexUnavailable when the folder cannot be written."""
        kept = {sha256: tuple(pieces) for sha256, pieces in snippets.items()}
        self._write(key, "snippets.json", _SNIPPETS.dump_json(kept))

    def names(self, key: str) -> dict[str, tuple[str, ...]]:
        """Names with the modules that have them."""
        content = self._content(key, "names.json")
        try:
            return _NAMES.validate_json(content) if content else {}
        except ValidationError:
            return {}

    def keep_names(self, key: str, names: Mapping[str, tuple[str, ...]]) -> None:
        """Keep them. Raises IndexUnavailable when the folder cannot be written."""
        self._write(key, "names.json", _NAMES.dump_json(dict(names)))

    def _content(self, key: str, suffix: str) -> bytes:
        path = self._path(key, suffix)
        try:
            return path.read_bytes() if path else b""
        except OSError:
            return b""

    def _path(self, key: str, suffix: str) -> Path | None:
        if self._folder is None:
            return None
        name = hashlib.sha256(f"{key}\0{self._version[:2]}".encode("utf-8", "surrogateescape"))
        return self._folder / f"{name.hexdigest()[:32]}.{suffix}"

    def _write(self, key: str, suffix: str, content: bytes) -> None:
        path = self._path(key, suffix)
        if path is None:
            return
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as file:
                file.write(content)
            os.replace(file.name, path)  # noqa: PTH105 - the name is a string
        except OSError as error:
            raise IndexUnavailable(
                f"{path.parent} cannot be written ({error.strerror}). Set EXPLORACODER_CACHE to a"
                " folder of yours."
            ) from None


def is_same(entry: Entry, size: int, mtime_ns: int) -> bool:
    """Whether a file is still the one that was read, told by its size and time."""
    return entry.size == size and entry.mtime_ns == mtime_ns


@dataclass(frozen=True, slots=True)
class Reading:
    """A file that was read; text and syntax are there when its content was new and is Python."""

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
) -> Reading:
    """Read a file. Where its content is that of ``before``, its facts are taken over.

    A file that cannot be read is an entry with a problem. ``inside`` as in `read_bytes`.
    """
    stamp: dict[str, Any] = {"size": 0, "mtime_ns": 0, "sha256": ""}
    try:
        status = path.stat()
        stamp |= {"size": status.st_size, "mtime_ns": status.st_mtime_ns}
        content = read_bytes(path, inside=inside)
    except (OSError, UnreadableSource) as error:
        return Reading(Entry.model_validate(stamp | {"problem": str(error)}))
    sha256 = hashlib.sha256(content).hexdigest()
    stamp["sha256"] = sha256
    if before is not None and before.sha256 == sha256:
        return Reading(before.model_copy(update=stamp))
    try:
        text = decode_python(content)
        tree = parse(text)
        module = read_module(tree, name, is_package=is_package, version=version)
    except UnreadableSource as error:
        return Reading(Entry.model_validate(stamp | {"problem": str(error)}))
    return Reading(Entry.model_validate(stamp | {"module": module}), text, tree)
