"""Reads a tree's new and changed files into facts and pieces."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from exploracoder_retrieval.errors import UnreadableSource
from exploracoder_retrieval.facts.fact_types import Snippet
from exploracoder_retrieval.facts.reading import parse, uncollected
from exploracoder_retrieval.facts.store import (
    ENTRIES,
    SNIPPETS,
    Entries,
    Entry,
    FactStore,
    is_same,
    read_file,
)
from exploracoder_retrieval.files import decode_python, read_bytes
from exploracoder_retrieval.repotools.python_files import SourceFile, SourceTree
from exploracoder_retrieval.repotools.snippets import cut

Progress = Callable[[str], None]
Snippets = dict[str, tuple[Snippet, ...]]
_TOLD_EVERY = 50


@dataclass(slots=True)
class Index:
    """A tree's files by path, and their ``snippets`` by the SHA-256 of each file's content.

    Attributes:
        files_read: How many files were read.
    """

    key: str
    entries: Entries = field(default_factory=dict)
    snippets: Snippets | None = None
    files_read: int = 0


def index_tree(
    tree: SourceTree,
    files: Sequence[SourceFile],
    store: FactStore,
    version: tuple[int, ...],
    progress: Progress | None,
) -> Index:
    """Bring the index of a tree up to date, and store it.

    Raises:
        IndexUnavailable: it cannot be stored.
    """
    index = Index(f"tree:{tree.start}")
    before = store.load(ENTRIES, index.key)
    new: Snippets = {}
    for number, file in enumerate(files, start=1):
        entry = before.get(file.path)
        if entry is not None and is_same(entry, file.size, file.mtime_ns):
            index.entries[file.path] = entry
            continue
        if progress is not None and index.files_read % _TOLD_EVERY == 0:
            progress(f"Reading the source: {number} of {len(files)} files")
        index.files_read += 1
        index.entries[file.path] = _read(tree, file, entry, version, new)
    if index.files_read or len(before) != len(index.entries):
        index.snippets = _merged(store.load(SNIPPETS, index.key) | new, index.entries)
        store.keep(SNIPPETS, index.key, index.snippets)
        store.keep(ENTRIES, index.key, index.entries)
    return index


@uncollected()
def lost_snippets(
    tree: SourceTree, files: Sequence[SourceFile], index: Index, snippets: Snippets
) -> Snippets:
    """The pieces of files that were read and have none, as when the file that kept them is gone."""
    lost: Snippets = {}
    for file in files:
        entry = index.entries[file.path]
        if entry.module is not None and entry.sha256 not in snippets:
            with suppress(UnreadableSource):
                content = read_bytes(tree.base / file.path, inside=tree.inside)
                text = decode_python(content)
                lost[hashlib.sha256(content).hexdigest()] = tuple(cut(parse(text), text))
    return lost


@uncollected()
def _read(
    tree: SourceTree,
    file: SourceFile,
    old_entry: Entry | None,
    version: tuple[int, ...],
    new: Snippets,
) -> Entry:
    # Facts include the module's name, so they are wrong for a file that was moved.
    if (
        old_entry is not None
        and old_entry.module is not None
        and old_entry.module.name != file.module
    ):
        old_entry = None
    reading = read_file(
        tree.base / file.path,
        file.module,
        is_package=file.is_package,
        version=version,
        before=old_entry,
        inside=tree.inside,
    )
    if reading.tree is not None:
        new[reading.entry.sha256] = tuple(cut(reading.tree, reading.text))
    return reading.entry


def _merged(snippets: Snippets, entries: Entries) -> Snippets:
    hashes = {entry.sha256 for entry in entries.values()}
    return {sha256: pieces for sha256, pieces in snippets.items() if sha256 in hashes}
