"""One library of an index, in memory."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from exploracoder_retrieval.apidoc import ApiDoc
from exploracoder_retrieval.catalog import Entry
from exploracoder_retrieval.harvest.result import LibraryInfo
from exploracoder_retrieval.ranking.candidates import Corpus
from exploracoder_retrieval.wording import index_text


@dataclass(frozen=True)
class Shelf:
    """A library's documents in row order, and the ways to find one."""

    entry: Entry
    info: LibraryInfo
    corpus: Corpus

    @property
    def docs(self) -> Sequence[ApiDoc]:
        return self.corpus.docs

    @cached_property
    def rows(self) -> dict[str, int]:
        """The rows of the documents by the id of their vector."""
        return {vector_id(doc): row for row, doc in enumerate(self.docs)}

    @cached_property
    def by_path(self) -> dict[str, ApiDoc]:
        """Documents by every public import path; a best path goes before another's alias."""
        found = {
            alias: doc for doc in self.docs for alias in doc.aliases if not alias.startswith(".")
        }
        return found | {doc.path: doc for doc in self.docs}


def vector_id(doc: ApiDoc) -> str:
    """The same for the same embedded text: what has it need not be embedded again."""
    return digest([doc.path, index_text(doc)])


def content_hash(doc: ApiDoc) -> str:
    """Changes with anything that an ApiDoc says."""
    return digest([doc.model_dump_json()])


def digest(parts: Iterable[str]) -> str:
    """Twenty hexadecimal digits for a sequence of texts."""
    hashed = hashlib.sha256()
    for part in parts:
        hashed.update(part.encode("utf-8", "surrogatepass") + b"\0")
    return hashed.hexdigest()[:20]
