"""Where documentation is: a file, a folder, or a copy of what was fetched."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from exploracoder_retrieval.errors import UnreadableSource
from exploracoder_retrieval.files import Skip, read_bytes, walk

# In a fetched copy, this file says which file came from which address.
ADDRESSES = "addresses.json"
# This one, if it is there, says how many pages could not be fetched.
LEFT_OUT = "left-out.txt"
MAX_FILES = 3_000
LISTS = (".jsonl", ".jsonl.gz")
INVENTORY = ".inv"
SPECIFICATIONS = (".json", ".yaml", ".yml")
PAGES = (".html", ".htm", ".md", ".markdown", ".rst", ".ipynb", ".py")
# Files that can stand for a library without code.
ALONE = (*LISTS, INVENTORY, *SPECIFICATIONS)
_NO_DOCS = frozenset(
    {"_static", "_sources", "_modules", "_images", "node_modules", "__pycache__"}
    | {"genindex.html", "search.html", "py-modindex.html", "conf.py", "setup.py"}
)


@dataclass(frozen=True, slots=True)
class DocsSource:
    """Documentation as it was named (a path or an address), and its local path."""

    origin: str
    path: Path


@dataclass(frozen=True, slots=True)
class DocsFile:
    """One file of a source, with its address when it was fetched."""

    path: Path
    suffix: str
    url: str | None


def is_address(text: str) -> bool:
    """Whether a source is a web address rather than a path."""
    return text.lower().startswith(("http://", "https://"))


def files_of(source: DocsSource, on_skip: Skip | None = None) -> tuple[DocsFile, ...]:
    """The readable files of a source, in a fixed order; empty if it is gone."""
    addresses = _addresses(source.path)
    files = islice(_files(source.path, on_skip), MAX_FILES)
    return tuple(DocsFile(path, suffix_of(path), addresses.get(path.name)) for path in files)


def left_out(source: DocsSource) -> str:
    """What a fetched copy lacks, in words; empty if it has all pages."""
    try:
        return read_bytes(source.path / LEFT_OUT, inside=source.path.resolve()).decode("utf-8")
    except (UnreadableSource, ValueError):
        return ""


def suffix_of(path: Path) -> str:
    """The end of a file's name that says how to read it; empty if it cannot be read."""
    name = path.name.lower()
    return next((end for end in (*ALONE, *PAGES) if name.endswith(end)), "")


def _files(path: Path, on_skip: Skip | None) -> Iterator[Path]:
    if os.path.isfile(path):
        yield from [path] if suffix_of(path) else []
    elif os.path.isdir(path):
        entries = walk(path, _is_wanted, _is_left_out, inside=path.resolve(), on_skip=on_skip)
        yield from (Path(entry.path) for entry in entries)


def _is_wanted(name: str) -> bool:
    return bool(suffix_of(Path(name))) and name != ADDRESSES and not _is_left_out(name)


def _is_left_out(name: str) -> bool:
    return name in _NO_DOCS or name.startswith(".")


def _addresses(path: Path) -> dict[str, str]:
    try:
        addresses = json.loads(read_bytes(path / ADDRESSES, inside=path.resolve()))
    except (UnreadableSource, ValueError, RecursionError):
        return {}
    return (
        {str(key): str(value) for key, value in addresses.items()}
        if isinstance(addresses, dict)
        else {}
    )
