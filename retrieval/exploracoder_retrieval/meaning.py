"""The dense side of an index: documents embedded once, kept in chromadb, made again when lost."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

from exploracoder_retrieval.apidoc import ApiDoc
from exploracoder_retrieval.catalog import slug
from exploracoder_retrieval.embeddings import Embedder
from exploracoder_retrieval.errors import IndexCorrupt
from exploracoder_retrieval.progress import Progress
from exploracoder_retrieval.shelf import Shelf, digest, vector_id
from exploracoder_retrieval.vectors import CollectionMissing, VectorStore
from exploracoder_retrieval.wording import index_text

if TYPE_CHECKING:
    from exploracoder_retrieval.embeddings import Vectors

EMBED_BATCH = 512


class Meaning:
    """Embeds and finds documents by the inner product of their vectors."""

    def __init__(
        self,
        embedder: Embedder,
        store: VectorStore,
        *,
        lock: Callable[[], AbstractContextManager[object]],
        on_warning: Callable[[str], None],
    ) -> None:
        self.embedder = embedder
        self._lock = lock
        self._store = store
        self._warn = on_warning

    def collection(self, library: str, docs: Sequence[ApiDoc]) -> str:
        """The name under which the vectors of these documents are kept."""
        ids = sorted(vector_id(doc) for doc in docs)
        return f"ec-{slug(library)}-{digest([self.embedder.name, *ids])}"

    def write(
        self, collection: str, docs: Sequence[ApiDoc], old: Shelf | None, progress: Progress | None
    ) -> None:
        """Fills a collection; what ``old`` has embedded already is taken from there."""
        import numpy as np

        ids = [vector_id(doc) for doc in docs]
        if self._store.is_shared and self._store.holds(collection, len(ids)):
            return
        known = self._known(old)
        vectors = np.zeros((len(docs), self.embedder.dimensions), dtype=np.float32)
        for row, each in enumerate(ids):
            if each in known:
                vectors[row] = known[each]
        missing = [row for row, each in enumerate(ids) if each not in known]
        for start in range(0, len(missing), EMBED_BATCH):
            rows = missing[start : start + EMBED_BATCH]
            vectors[rows] = self.embedder.embed([index_text(docs[row]) for row in rows])
            if progress is not None:
                progress("embed", start + len(rows), len(missing))
        try:
            self._store.write(collection, ids, vectors)
        except IndexCorrupt as error:
            self._discard(error)
            self._store.write(collection, ids, vectors)

    def search(self, shelf: Shelf, queries: Vectors, depth: int) -> list[dict[int, float]]:
        """For each query vector the rows of the nearest documents with their similarity."""
        limit = min(depth, len(shelf.docs))
        try:
            found = self._store.search(shelf.entry.collection, queries, limit)
        except (IndexCorrupt, CollectionMissing) as error:
            if isinstance(error, IndexCorrupt):
                self._discard(error)
            else:
                self._warn(f"The vectors of {shelf.entry.name} are gone; they are made again.")
            with self._lock():
                self.write(shelf.entry.collection, shelf.docs, None, None)
            found = self._store.search(shelf.entry.collection, queries, limit)
        return [
            {shelf.rows[each]: score for each, score in hits if each in shelf.rows}
            for hits in found
        ]

    def keep(self, collections: Collection[str]) -> None:
        """Removes vectors that no document needs any more, also those of an update that died."""
        try:
            self._store.keep(collections)
        except IndexCorrupt as error:
            self._discard(error)

    def reset(self) -> None:
        """Throws all vectors away."""
        self._store.reset()

    def close(self) -> None:
        self._store.close()

    def _known(self, old: Shelf | None) -> dict[str, Any]:
        if old is None or old.entry.embedder != self.embedder.name:
            return {}
        try:
            return self._store.read(old.entry.collection)
        except IndexCorrupt as error:
            self._discard(error)
            return {}

    def _discard(self, error: IndexCorrupt) -> None:
        self._warn(f"{error} They are made again from the documents.")
        self._store.reset()
