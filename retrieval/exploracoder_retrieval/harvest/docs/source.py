"""Where documentation lies: a file, a folder, or a copy of what was fetched."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

# In a copy it says which file came from which address.
ADDRESSES = "addresses.json"
MAX_FILES = 3_000
LISTS = (".jsonl", ".jsonl.gz")
INVENTORY = ".inv"
SPECIFICATIONS = (".json", ".yaml", ".yml")
PAGES = (".html", ".htm", ".md", ".markdown", ".rst", ".ipynb", ".py")
# What stands for a library of which there is no code.
ALONE = (*LISTS, INVENTORY, *SPECIFICATIONS)
_NO_DOCS = frozenset(
    {"_static", "_sources", "_modules", "_images", "node_modules", "__pycache__"}
    | {"genindex.html", "search.html", "py-modindex.html", "conf.py", "setup.py"}
)


@dataclass(frozen=True, slots=True)
class DocsSource:
    """Documentation as it was named (a path or an address), and where it lies here."""

    origin: str
    path: Path


@dataclass(frozen=True, slots=True)
class DocsFile:
    """One file of a source, with its address when it was fetched."""

    path: Path
    suffix: str
    url: str | None


def is_address(text: str) -> bool:
    """Whether a source is on the web and not in a folder."""
    return text.lower().startswith(("http://", "https://"))


def files_of(source: DocsSource) -> tuple[DocsFile, ...]:
    """The files of a source that can be read, in a fixed order; none when it is gone."""
    addresses = _addresses(source.path)
    found = []
    for path in _files(source.path):
        suffix = suffix_of(path)
        if suffix and path.name != ADDRESSES:
            found.append(DocsFile(path, suffix, addresses.get(path.name)))
        if len(found) == MAX_FILES:
            break
    return tuple(found)


def suffix_of(path: Path) -> str:
    """The end of a file's name that says how it is read; empty when it cannot be."""
    name = path.name.lower()
    return next((end for end in (*ALONE, *PAGES) if name.endswith(end)), "")


def _files(path: Path) -> Iterator[Path]:
    if path.is_file():
        yield path
        return
    for folder, folders, names in os.walk(path):
        folders[:] = sorted(each for each in folders if not _is_left_out(each))
        for name in sorted(names):
            file = Path(folder) / name
            # A pipe would never end.
            if not _is_left_out(name) and file.is_file():
                yield file


def _is_left_out(name: str) -> bool:
    return name in _NO_DOCS or name.startswith(".")


def _addresses(path: Path) -> dict[str, str]:
    try:
        found = json.loads((path / ADDRESSES).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return {str(key): str(value) for key, value in found.items()} if isinstance(found, dict) else {}
