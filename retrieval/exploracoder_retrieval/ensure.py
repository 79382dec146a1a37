"""From a name to a searchable index, doing only the work that is needed."""

from __future__ import annotations

from pathlib import Path

from exploracoder_retrieval.fingerprint import fingerprint
from exploracoder_retrieval.harvest.docs.source import files_of
from exploracoder_retrieval.harvest.reader import read
from exploracoder_retrieval.harvest.result import Harvest, LibraryInfo
from exploracoder_retrieval.harvest.target import Target
from exploracoder_retrieval.index import Index
from exploracoder_retrieval.library_python import Interpreter
from exploracoder_retrieval.progress import Progress


def ensure(
    target: str | Path, interpreter: Interpreter, index: Index, progress: Progress | None = None
) -> LibraryInfo:
    """Harvest and index a library unless the index is already up to date.

    Raises:
        LibraryNotFound, UnreadableSource, EmptyLibrary: the library cannot be harvested.
        IndexUnavailable, EmbeddingError: the index cannot be written.
    """
    library = index.find_target(target, interpreter)
    if library.source == "docs" and _is_gone(library) and library.name in index.names():
        return _from_index(library.name, index, progress)
    if index.is_current(target, interpreter):
        return index.info(library.name)
    mark = fingerprint(library, interpreter)
    harvest = read(library, interpreter, progress)
    index.update(harvest, progress, fingerprint=mark)
    return harvest.library


def _from_index(name: str, index: Index, progress: Progress | None) -> LibraryInfo:
    """What the docs said is all in the index, though perhaps with other embeddings."""
    info = index.info(name)
    if not index.is_searchable(name):
        index.update(
            Harvest(library=info, docs=tuple(index.docs(name)), skipped=info.skipped), progress
        )
    return info


def _is_gone(target: Target) -> bool:
    return not any(files_of(source) for source in target.docs)
