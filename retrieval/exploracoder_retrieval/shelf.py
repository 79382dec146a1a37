"""One library of an index, in memory."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from exploracoder_retrieval.apidoc import ApiDoc
from exploracoder_retrieval.arrays import RowNumbers, np
from exploracoder_retrieval.catalog import Entry
from exploracoder_retrieval.embedded_words import index_text
from exploracoder_retrieval.harvest.result import LibraryInfo
from exploracoder_retrieval.ranking.candidates import Corpus
from exploracoder_retrieval.rows import Tables


@dataclass(frozen=True, slots=True)
class Shelf:
    """A library's documents in row order, and the ways to find one."""

    entry: Entry
    info: LibraryInfo
    corpus: Corpus
    tables: Tables

    @property
    def docs(self) -> Sequence[ApiDoc]:
        return self.corpus.docs

    def rows_of(self, paths: Iterable[str]) -> RowNumbers:
        """The rows of those of ``paths`` that are best paths here, each once."""
        rows = np.unique(self.tables.paths.first(list(paths)))
        return rows[rows >= 0]

    def at(self, path: str) -> ApiDoc | None:
        """The document with a public import path; a best path takes precedence over an alias."""
        best = (self.docs[row] for row in self.tables.paths.find(path))
        document = next((doc for doc in best if doc.path == path), None)
        others = (self.docs[row] for row in self.tables.aliases.find(path))
        return document or next((doc for doc in others if path in doc.aliases), None)


def vector_id(doc: ApiDoc) -> str:
    """An ID that is the same for the same embedded text, which need not be embedded again."""
    return digest([doc.kind, doc.path, index_text(doc)])


def content_hash(doc: ApiDoc) -> str:
    """A hash that changes with anything in an ApiDoc."""
    return digest([doc.model_dump_json()])


def digest(parts: Iterable[str]) -> str:
    """Twenty hexadecimal digits for a sequence of texts."""
    sha256 = hashlib.sha256()
    for part in parts:
        sha256.update(part.encode("utf-8", "surrogatepass") + b"\0")
    return sha256.hexdigest()[:20]
