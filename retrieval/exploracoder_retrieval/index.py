"""The index: ApiDocs of libraries, found by meaning and by words."""

from __future__ import annotations

import hashlib
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel, ConfigDict

from exploracoder_retrieval.apidoc import ApiDoc, Hit
from exploracoder_retrieval.bm25 import WordIndex
from exploracoder_retrieval.catalog import Catalog, Entry, Files, slug
from exploracoder_retrieval.embeddings import Embedder
from exploracoder_retrieval.errors import IndexCorrupt, IndexUnavailable, LibraryNotFound
from exploracoder_retrieval.fingerprint import fingerprint
from exploracoder_retrieval.fusion import RRF_CONSTANT, fuse
from exploracoder_retrieval.harvest.result import Harvest, LibraryInfo
from exploracoder_retrieval.harvest.target import find_target
from exploracoder_retrieval.interpreter import Interpreter
from exploracoder_retrieval.progress import Progress
from exploracoder_retrieval.vectors import CollectionMissing, VectorStore
from exploracoder_retrieval.wording import document_words, index_text

if TYPE_CHECKING:
    from exploracoder_retrieval.embeddings import Vectors

SearchMode = Literal["hybrid", "meaning", "words"]

# How many of each ranking are joined: more than anybody asks for, so that one ranking alone can
# bring in what the other has missed.
MIN_DEPTH = 60
EMBED_BATCH = 512
LOCK_TIMEOUT_S = 600.0


class IndexReport(BaseModel):
    """What an update changed, in APIs, and how long it took."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    added: int
    unchanged: int
    removed: int
    seconds: float


@dataclass(frozen=True)
class _Shelf:
    """A library in memory."""

    entry: Entry
    info: LibraryInfo
    docs: tuple[ApiDoc, ...]
    words: WordIndex

    @cached_property
    def rows(self) -> dict[str, int]:
        return {vector_id(doc): row for row, doc in enumerate(self.docs)}

    @cached_property
    def by_path(self) -> dict[str, ApiDoc]:
        found = {
            alias: doc for doc in self.docs for alias in doc.aliases if not alias.startswith(".")
        }
        return found | {doc.path: doc for doc in self.docs}


class Index:
    """The index in a folder; several processes may use it, one at a time writes.

    ``on_warning`` is told, in sentences, what was found damaged and what is done about it. The
    index holds nothing user-made, so that damage is repaired by building again.
    """

    def __init__(
        self,
        folder: Path,
        embedder: Embedder,
        *,
        chroma_url: str | None,
        on_warning: Callable[[str], None],
    ) -> None:
        self._files = Files(folder)
        self._embedder = embedder
        self._vectors = VectorStore(self._files.chroma, chroma_url)
        self._warn = on_warning
        self._guard = threading.RLock()
        self._catalog = Catalog()
        self._stamp: tuple[int, int] | None = None
        self._shelves: dict[str, _Shelf] = {}

    @classmethod
    def open(
        cls,
        folder: Path,
        embedder: Embedder,
        chroma_url: str | None = None,
        *,
        on_warning: Callable[[str], None] = lambda _: None,
    ) -> Index:
        """Opens the index in a folder, which is made when it is missing.

        Raises:
            IndexUnavailable: the folder cannot be made.
        """
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise IndexUnavailable(
                f"The index folder {folder} cannot be made: {error.strerror}."
            ) from None
        index = cls(folder, embedder, chroma_url=chroma_url, on_warning=on_warning)
        index._refresh()
        return index

    def __enter__(self) -> Index:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        self._vectors.close()

    def libraries(self) -> tuple[LibraryInfo, ...]:
        """The indexed libraries, by name."""
        with self._guard:
            self._refresh()
            return tuple(self._shelf(name).info for name in sorted(self._catalog.libraries))

    def info(self, library: str) -> LibraryInfo:
        """What is known of an indexed library as a whole.

        Raises:
            LibraryNotFound: it is not indexed.
        """
        with self._guard:
            self._refresh()
            return self._shelf(library).info

    def docs(self, library: str) -> tuple[ApiDoc, ...]:
        """All ApiDocs of a library, given by its distribution or import name, in order of path.

        Raises:
            LibraryNotFound: it is not indexed.
        """
        with self._guard:
            self._refresh()
            return self._shelf(library).docs

    def get(self, path: str) -> ApiDoc | None:
        """The ApiDoc of an import path, its best or another public one."""
        with self._guard:
            self._refresh()
            for name in sorted(self._catalog.libraries):
                if found := self._shelf(name).by_path.get(path):
                    return found
        return None

    def search(
        self, query: str, libraries: Sequence[str] | None = None, k: int = 20
    ) -> tuple[Hit, ...]:
        """The k best APIs for a query, best first; ``libraries`` None: all that are indexed."""
        return self.search_many([query], libraries, k)[0]

    def search_many(
        self,
        queries: Sequence[str],
        libraries: Sequence[str] | None = None,
        k: int = 20,
        *,
        mode: SearchMode = "hybrid",
        rrf_constant: float = RRF_CONSTANT,
    ) -> list[tuple[Hit, ...]]:
        """As `search` for several queries, embedded together; one result for each, in order."""
        if not queries or k < 1:
            return [() for _ in queries]
        depth = max(MIN_DEPTH, 3 * k)
        with self._guard:
            self._refresh()
            names = self._catalog.libraries if libraries is None else libraries
            shelves = list({id(each): each for each in map(self._shelf, names)}.values())
            rankings: list[list[list[ApiDoc]]] = [[] for _ in queries]
            if mode != "words":
                for ranking, found in zip(rankings, self._by_meaning(queries, shelves, depth)):
                    ranking.append(found)
            if mode != "meaning":
                for ranking, query in zip(rankings, queries):
                    ranking.append(_by_words(query, shelves, depth))
        return [_join(ranking, k, rrf_constant) for ranking in rankings]

    def memo(self, library: str, key: str) -> Any:
        """A JSON value kept with a library's current content, or None."""
        with self._guard:
            self._refresh()
            return self._files.read_memo(self._entry(library)).get(key)

    def set_memo(self, library: str, key: str, value: Any) -> None:
        """Keeps a JSON value until the library's version or content changes."""
        with self._guard, self._locked():
            self._refresh()
            entry = self._entry(library)
            self._files.write_memo(entry, {**self._files.read_memo(entry), key: value})

    def is_current(self, target: str | Path, interpreter: Interpreter) -> bool:
        """Whether a target's source is as it was when it was indexed, told from file times.

        Raises:
            LibraryNotFound: nothing answers to the target.
            UnreadableSource: it holds no Python library.
        """
        found = find_target(target, interpreter)
        with self._guard:
            self._refresh()
            entry = self._catalog.libraries.get(found.name)
            if entry is None or entry.embedder != self._embedder.name:
                return False
            if entry.fingerprint != fingerprint(found, interpreter):
                return False
            with suppress(LibraryNotFound):  # its files are damaged: it was just taken out
                return bool(self._shelf(found.name).docs)
        return False

    def update(
        self, harvest: Harvest, progress: Progress | None = None, *, fingerprint: str = ""
    ) -> IndexReport:
        """Puts a library's current APIs in the place of the ones indexed before.

        Only what is new is embedded; readers see the old generation until the new one is complete.
        ``fingerprint`` lets `is_current` recognise the source.

        Raises:
            IndexUnavailable: the folder cannot be written or the server not reached.
            EmbeddingError: there are no vectors.
        """
        start = time.perf_counter()
        with self._guard, self._locked():
            self._refresh()
            try:
                old = self._shelf_or_none(harvest.library.name)
                entry = self._write(harvest, old, progress, fingerprint)
                self._switch(entry, old)
            except OSError as error:
                raise IndexUnavailable(
                    f"The index in {self._files.folder} cannot be written: {error.strerror}."
                ) from None
        before = {hash_doc(doc) for doc in old.docs} if old else set()
        after = {hash_doc(doc) for doc in harvest.docs}
        gone = {doc.path for doc in old.docs} if old else set()
        return IndexReport(
            added=len(after - before),
            unchanged=len(after & before),
            removed=len(gone - {doc.path for doc in harvest.docs}),
            seconds=time.perf_counter() - start,
        )

    def _write(
        self, harvest: Harvest, old: _Shelf | None, progress: Progress | None, mark: str
    ) -> Entry:
        info, docs = harvest.library, harvest.docs
        generation = _digest(
            [info.model_dump_json(), self._embedder.name, *(hash_doc(doc) for doc in docs)]
        )
        ids = [vector_id(doc) for doc in docs]
        collection = f"ec-{slug(info.name)}-{_digest([self._embedder.name, *sorted(ids)])}"
        known = self._known_vectors(old, collection, ids)
        self._vectors_to(collection, docs, ids, known, progress)
        words = WordIndex.build([document_words(doc) for doc in docs])
        if old is None or old.entry.generation != generation:
            self._files.write_generation(info.name, generation, info, docs, words)
        return Entry(
            name=info.name,
            import_name=info.import_name,
            generation=generation,
            collection=collection,
            embedder=self._embedder.name,
            apis=len(docs),
            fingerprint=mark,
        )

    def _known_vectors(
        self, old: _Shelf | None, collection: str, ids: Sequence[str]
    ) -> dict[str, Any]:
        if old is None or old.entry.embedder != self._embedder.name:
            return {}
        try:
            if old.entry.collection == collection:
                self._vectors.check(collection, len(ids))
            return self._vectors.read(old.entry.collection)
        except CollectionMissing:
            return {}
        except IndexCorrupt as error:
            self._discard_vectors(error)
            return {}

    def _vectors_to(
        self,
        collection: str,
        docs: Sequence[ApiDoc],
        ids: Sequence[str],
        known: dict[str, Any],
        progress: Progress | None,
    ) -> None:
        import numpy as np

        vectors = np.zeros((len(docs), self._embedder.dimensions), dtype=np.float32)
        missing = [row for row, each in enumerate(ids) if each not in known]
        for row, each in enumerate(ids):
            if each in known:
                vectors[row] = known[each]
        for start in range(0, len(missing), EMBED_BATCH):
            rows = missing[start : start + EMBED_BATCH]
            vectors[rows] = self._embedder.embed([index_text(docs[row]) for row in rows])
            if progress is not None:
                progress("embed", start + len(rows), len(missing))
        try:
            self._vectors.write(collection, ids, vectors)
        except IndexCorrupt as error:
            self._discard_vectors(error)
            self._vectors.write(collection, ids, vectors)

    def _switch(self, entry: Entry, old: _Shelf | None) -> None:
        self._files.write_catalog(self._catalog.with_entry(entry))
        self._files.drop_generations(entry.name, keep=entry.generation)
        if old is not None and old.entry.collection != entry.collection:
            self._vectors.drop(old.entry.collection)
        self._refresh()

    def _by_meaning(
        self, queries: Sequence[str], shelves: Sequence[_Shelf], depth: int
    ) -> list[list[ApiDoc]]:
        vectors = self._embedder.embed(queries)
        scored: list[list[tuple[float, ApiDoc]]] = [[] for _ in queries]
        for shelf in shelves:
            found = self._nearest(shelf, vectors, min(depth, len(shelf.docs)))
            for ranking, hits in zip(scored, found):
                for each, similarity in hits:
                    if each in shelf.rows:
                        ranking.append((similarity, shelf.docs[shelf.rows[each]]))
        return [
            [doc for _, doc in sorted(ranking, key=lambda pair: -pair[0])[:depth]]
            for ranking in scored
        ]

    def _nearest(
        self, shelf: _Shelf, vectors: Vectors, limit: int
    ) -> list[list[tuple[str, float]]]:
        name = shelf.entry.collection
        try:
            return self._vectors.search(name, vectors, limit)
        except IndexCorrupt as error:
            self._discard_vectors(error)
        except CollectionMissing:
            self._warn(f"The vectors of {shelf.entry.name} are gone; they are made again.")
        with self._locked():
            self._vectors_to(name, shelf.docs, list(shelf.rows), {}, None)
        return self._vectors.search(name, vectors, limit)

    def _discard_vectors(self, error: IndexCorrupt) -> None:
        self._warn(f"{error} They are made again from the documents.")
        self._vectors.reset()

    def _refresh(self) -> None:
        """Follows what this or another process wrote since the last look."""
        stamp = self._files.catalog_stamp()
        if stamp == self._stamp:
            return
        try:
            self._catalog = self._files.read_catalog()
        except IndexCorrupt as error:
            self._warn(f"{error} The index is built again.")
            self._vectors.reset()
            self._files.wipe()
            self._catalog = Catalog()
        self._stamp = self._files.catalog_stamp()
        self._shelves = {
            name: shelf
            for name, shelf in self._shelves.items()
            if self._catalog.libraries.get(name) == shelf.entry
        }

    def _entry(self, library: str) -> Entry:
        entry = self._catalog.find(library)
        if entry is None:
            raise LibraryNotFound(
                f"No index for {library!r}. Build it: exploracoder index {library}"
            )
        return entry

    def _shelf(self, library: str) -> _Shelf:
        entry = self._entry(library)
        if entry.name not in self._shelves:
            try:
                info, docs, words = self._files.read_generation(entry)
            except IndexCorrupt as error:
                self._forget(entry, error)
                raise LibraryNotFound(
                    f"{error} Build it again: exploracoder index {library}"
                ) from None
            shelf = _Shelf(entry, info, docs, words)
            self._shelves[entry.name] = shelf
        return self._shelves[entry.name]

    def _shelf_or_none(self, library: str) -> _Shelf | None:
        if self._catalog.find(library) is None:
            return None
        with suppress(LibraryNotFound):
            return self._shelf(library)
        return None

    def _forget(self, entry: Entry, error: IndexCorrupt) -> None:
        self._warn(f"{error} It is read again.")
        with self._locked():
            self._files.write_catalog(self._catalog.without(entry.name))
            self._refresh()

    def _locked(self) -> Any:
        from filelock import FileLock

        return FileLock(self._files.lock, timeout=LOCK_TIMEOUT_S, is_singleton=True)


def vector_id(doc: ApiDoc) -> str:
    """The same for the same embedded text: what has it need not be embedded again."""
    return _digest([doc.path, index_text(doc)])


def hash_doc(doc: ApiDoc) -> str:
    """Changes with anything an ApiDoc says."""
    return _digest([doc.model_dump_json()])


def _digest(parts: Sequence[str]) -> str:
    digest = hashlib.sha256()
    for part in parts:
        digest.update(part.encode("utf-8", "surrogatepass") + b"\0")
    return digest.hexdigest()[:20]


def _by_words(query: str, shelves: Sequence[_Shelf], depth: int) -> list[ApiDoc]:
    scored = [
        (score, shelf.docs[row])
        for shelf in shelves
        for row, score in shelf.words.search(query, depth)
    ]
    return [doc for _, doc in sorted(scored, key=lambda pair: -pair[0])[:depth]]


def _join(rankings: Sequence[Sequence[ApiDoc]], k: int, constant: float) -> tuple[Hit, ...]:
    docs = {doc.path: doc for ranking in rankings for doc in ranking}
    fused = fuse([[doc.path for doc in ranking] for ranking in rankings], constant=constant)
    return tuple(Hit(doc=docs[path], score=score) for path, score in fused[:k])
