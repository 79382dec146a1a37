"""The dense side of an index: documents embedded once, kept in chromadb, re-embedded if lost."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any

from exploracoder_retrieval.apidoc import ApiDoc
from exploracoder_retrieval.arrays import Floats, RowNumbers, Vectors, np
from exploracoder_retrieval.catalog import slug
from exploracoder_retrieval.embedded_words import index_text
from exploracoder_retrieval.embeddings import Embedder
from exploracoder_retrieval.errors import IndexCorrupt
from exploracoder_retrieval.harvest.result import LibraryInfo
from exploracoder_retrieval.progress import Progress
from exploracoder_retrieval.ranking.candidates import Near
from exploracoder_retrieval.search_filter import Filter, metadata
from exploracoder_retrieval.shelf import Shelf, digest, vector_id
from exploracoder_retrieval.vectors import CollectionMissing, Rows, Schedule, VectorStore


class EmbeddingSearch:
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
        self._whole: set[str] = set()  # the collections that were counted

    def collection(self, library: LibraryInfo, ids: Sequence[str]) -> str:
        """The name under which the vectors with these ids are kept."""
        parts = [self.embedder.name, library.version, *sorted(ids)]
        return f"ec-{slug(library.name)}-{digest(parts)}"

    def write(
        self,
        collection: str,
        library: LibraryInfo,
        docs: Sequence[ApiDoc],
        ids: Sequence[str],
        old: Shelf | None,
        progress: Progress | None,
    ) -> None:
        """Fill a collection, reusing its own vectors, if writing it was interrupted, and ``old``'s.

        This goes batch by batch, so that a million vectors are never in memory at once.
        """
        batches = self._batches(collection, library, docs, ids, old, progress)
        try:
            self._store.write(collection, len(ids), batches)
        except IndexCorrupt as error:
            self._discard(error)
            again = self._batches(collection, library, docs, ids, None, progress)
            self._store.write(collection, len(ids), again)

    def _batches(
        self,
        collection: str,
        library: LibraryInfo,
        docs: Sequence[ApiDoc],
        ids: Sequence[str],
        old: Shelf | None,
        progress: Progress | None,
    ) -> Iterator[Rows]:
        """The rows of a collection, in order, without batches that it already has."""
        new_ids = _lacking(ids, old if self._fits(old) else None)
        count = 0
        for span in Schedule.of(len(ids)).spans():
            batch, start = ids[span], span.start
            if len(self._store.read(collection, batch)) == len(batch):
                count += len(new_ids.intersection(batch))
                continue
            old_vectors = self._known(old, [each for each in batch if each not in new_ids])
            missing = [row for row, each in enumerate(batch, start) if each not in old_vectors]
            batch_docs = docs[span]
            texts = [index_text(doc) for doc in batch_docs]
            vectors = np.zeros((len(batch), self.embedder.dimensions), dtype=np.float32)
            for row, each in enumerate(batch):
                if each in old_vectors:
                    vectors[row] = old_vectors[each]
            if missing:
                new_vectors = self.embedder.embed([texts[row - start] for row in missing])
                vectors[[row - start for row in missing]] = new_vectors
                count += len(missing)
                if progress is not None:
                    progress("embed", count, max(count, len(new_ids)))
            yield Rows(batch, vectors, texts, [metadata(doc, library) for doc in batch_docs])

    def matching(self, shelf: Shelf, only: Filter) -> RowNumbers:
        """The rows of the documents that pass a filter, which must have conditions."""
        rows = shelf.tables.vectors.first(self._store.matching(shelf.entry.collection, only.where))
        return rows[rows >= 0]

    def search(
        self, shelf: Shelf, queries: Vectors, depth: int, only: Filter | None = None
    ) -> list[Near]:
        """The nearest documents for each query vector, among those that pass ``only`` if given."""
        limit, where = min(depth, len(shelf.docs)), only.where if only else None
        try:
            results = self._nearest(shelf, queries, limit, where)
        except (IndexCorrupt, CollectionMissing):
            self._whole.clear()
            with self._lock():
                # Another process may have made them again while this one waited.
                try:
                    results = self._nearest(shelf, queries, limit, where)
                except (IndexCorrupt, CollectionMissing) as error:
                    self._make_again(shelf, error)
                    results = self._nearest(shelf, queries, limit, where)
        return [_near(shelf, ids, similarity) for ids, similarity in results]

    def _nearest(
        self, shelf: Shelf, queries: Vectors, limit: int, where: dict[str, Any] | None
    ) -> list[tuple[list[str], Floats]]:
        collection = shelf.entry.collection
        # Whoever made them again may have been killed before the end.
        if collection not in self._whole:
            if self._store.count(collection) < len(shelf.docs):
                raise CollectionMissing(collection)
            self._whole.add(collection)
        return self._store.search(collection, queries, limit, where)

    def _make_again(self, shelf: Shelf, error: IndexCorrupt | CollectionMissing) -> None:
        if isinstance(error, IndexCorrupt):
            self._discard(error)
        else:
            self._warn(f"The vectors of {shelf.entry.name} are gone; they are made again.")
        ids = [vector_id(doc) for doc in shelf.docs]
        self.write(shelf.entry.collection, shelf.info, shelf.docs, ids, None, None)

    def keep(self, collections: Collection[str]) -> None:
        """Remove all other collections, including those of an update that died."""
        try:
            self._store.keep(collections)
        except IndexCorrupt as error:
            self._discard(error)

    def reset(self) -> None:
        """Discard all vectors, except on a server."""
        self._store.reset()

    def close(self) -> None:
        self._store.close()

    def _fits(self, old: Shelf | None) -> bool:
        return old is not None and old.entry.embedder == self.embedder.name

    def _known(self, old: Shelf | None, ids: Sequence[str]) -> dict[str, Any]:
        """The vectors that ``old`` has for these ids, unless their length is another one now."""
        if old is None or not ids:
            return {}
        vectors = self._store.read(old.entry.collection, ids)
        return {id_: one for id_, one in vectors.items() if len(one) == self.embedder.dimensions}

    def _discard(self, error: IndexCorrupt) -> None:
        self._warn(f"{error} They are made again from the documents.")
        self._store.reset()


def _near(shelf: Shelf, ids: Sequence[str], similarity: Floats) -> Near:
    """The found vectors as rows; those left behind by another version of the library have none."""
    rows = shelf.tables.vectors.first(ids)
    return Near(rows[rows >= 0], similarity[rows >= 0])


def _lacking(ids: Sequence[str], old: Shelf | None) -> set[str]:
    """The ids that have no vector yet."""
    if old is None:
        return set(ids)
    return {each for each in ids if not old.tables.vectors.find(each)}
