"""The index: ApiDocs of libraries, found by meaning and by words."""

from __future__ import annotations

import copy
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import TracebackType
from typing import Any

from exploracoder_retrieval.apidoc import ApiDoc, Hit
from exploracoder_retrieval.catalog import Catalog, Entry, Files
from exploracoder_retrieval.embeddings import Embedder
from exploracoder_retrieval.errors import IndexCorrupt, IndexUnavailable, LibraryNotFound
from exploracoder_retrieval.examples.kept import KeptExample, KeptExamples
from exploracoder_retrieval.examples.nearest import NearExample, nearest
from exploracoder_retrieval.fingerprint import fingerprint
from exploracoder_retrieval.given_docs import GivenDocs
from exploracoder_retrieval.harvest.result import Harvest, LibraryInfo
from exploracoder_retrieval.harvest.target import Target, find_target
from exploracoder_retrieval.library_python import Interpreter
from exploracoder_retrieval.meaning import Meaning
from exploracoder_retrieval.progress import Progress
from exploracoder_retrieval.ranking.candidates import Corpus
from exploracoder_retrieval.ranking.example_memory import Memory
from exploracoder_retrieval.rows import Tables
from exploracoder_retrieval.search import Candidates, find_candidates, search
from exploracoder_retrieval.search_filter import Filter
from exploracoder_retrieval.shelf import Shelf, content_hash, digest, vector_id
from exploracoder_retrieval.vectors import VectorStore

LOCK_TIMEOUT_S = 600.0
Kept = tuple[KeptExample, ...]


@dataclass(slots=True)
class _Opened:
    """What was read of the folder, for all views."""

    catalog: Catalog = field(default_factory=Catalog)
    stamp: tuple[int, int] | None = None
    # By name and root.
    shelves: dict[tuple[str, str], Shelf] = field(default_factory=dict)
    # The same with what is kept for them.
    remembered: dict[tuple[str, str], _Remembered] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Remembered:
    """A shelf with what is kept for it: the examples that use what is on it.

    ``stamp`` is that of all that were kept then, of which those from ``left_out`` do not count.
    """

    shelf: Shelf
    kept: Kept
    stamp: frozenset[tuple[str, int]]
    left_out: str

    def is_current(self, shelf: Shelf, stamp: frozenset[tuple[str, int]], left_out: str) -> bool:
        state = (self.shelf.entry, self.stamp, self.left_out)
        return state == (shelf.entry, stamp, left_out)


class Index:
    """The index in a folder; several processes may use it, one at a time writes.

    A library of one name may be read from several places. Whoever brought one up to date here, or
    saw that it is current, goes on with that one, whatever others read; see `view`.

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
        self.given = GivenDocs(folder)
        self.examples = KeptExamples(folder)
        self._uses_examples = True
        self._left_out = ""
        store = VectorStore(self._files.chroma, chroma_url)
        self._meaning = Meaning(embedder, store, lock=self._locked, on_warning=on_warning)
        self._warn = on_warning
        # One at a time searches or writes; looking something up waits for neither.
        self._working = threading.RLock()
        self._following = threading.Lock()
        self._opened = _Opened()
        # Where the libraries that are worked with here were read from, by name.
        self._roots: dict[str, str] = {}

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
                f"The index folder {folder} cannot be made: {error.strerror or error}."
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

    def view(self, *, uses_examples: bool = True, left_out: str = "") -> Index:
        """The same index for somebody else, who may have libraries of the same names elsewhere.

        Where it ``uses_examples``, those that are kept count in the ranking and are found, but for
        those whose origin is ``left_out``: somebody's own. What is open is shared: closing one
        closes both.
        """
        index = copy.copy(self)
        index._roots = dict(self._roots)
        index._uses_examples = uses_examples
        index._left_out = left_out
        return index

    def close(self) -> None:
        """Let go of what is open: some thirty files that are mapped into memory for each library.

        They do not wait for the collector; those that a search is using right now do.
        """
        self._meaning.close()
        self._opened.shelves = {}
        self._opened.remembered = {}

    def libraries(self) -> tuple[LibraryInfo, ...]:
        """The indexed libraries, by name; not those whose files turn out to be damaged."""
        return tuple(shelf.info for shelf in self._shelves())

    def names(self) -> frozenset[str]:
        """The names of the indexed libraries; their docs are not read for this."""
        self._refresh()
        return frozenset(self._opened.catalog.libraries)

    def info(self, library: str) -> LibraryInfo:
        """What is known of an indexed library as a whole.

        Raises:
            LibraryNotFound: it is not indexed.
        """
        self._refresh()
        return self._shelf(library).info

    def docs(self, library: str) -> Sequence[ApiDoc]:
        """All ApiDocs of a library, given by its distribution or import name, in order of path.

        Each is read from disk when it is asked for; counting them reads none.

        Raises:
            LibraryNotFound: it is not indexed.
        """
        self._refresh()
        return self._shelf(library).docs

    def get(self, path: str) -> ApiDoc | None:
        """The ApiDoc of an import path, its best or another public one."""
        docs = (shelf.at(path) for shelf in self._shelves())
        return next((doc for doc in docs if doc is not None), None)

    def search(
        self,
        query: str,
        libraries: Sequence[str] | None = None,
        k: int = 20,
        *,
        only: Filter | None = None,
    ) -> tuple[Hit, ...]:
        """The k best APIs for a query, best first; ``libraries`` None: all that are indexed.

        With ``only`` they are the best of those that it lets pass.
        """
        return self.search_many([query], libraries, k, only=only)[0]

    def search_many(
        self,
        queries: Sequence[str],
        libraries: Sequence[str] | None = None,
        k: int = 20,
        *,
        only: Filter | None = None,
    ) -> list[tuple[Hit, ...]]:
        """As `search` for several queries, embedded together; one result for each, in order."""
        if not queries or k < 1:
            return [() for _ in queries]
        with self._working:
            return search(queries, self._chosen(libraries), self._meaning, k, only)

    def candidates(
        self, queries: Sequence[str], libraries: Sequence[str] | None = None
    ) -> list[Candidates]:
        """What is looked at closely for each query, with the features that it is ranked by."""
        with self._working:
            return find_candidates(queries, self._chosen(libraries), self._meaning)

    def near_examples(
        self, library: str, task: str, hits: Sequence[Hit]
    ) -> tuple[NearExample, ...]:
        """Examples of a library, nearest to a task first, ``hits`` being the APIs found for it.

        They are those of its documentation, and those that are kept for it which use an API that
        it still has.

        Raises:
            LibraryNotFound: it is not indexed.
        """
        self._refresh()
        shelf = self._shelf(library)
        kept_examples = self._with_memory(shelf)[1]
        info = shelf.info
        return tuple(nearest(task, hits, info.examples, kept_examples, info.version))

    def memo(self, library: str, key: str) -> Any:
        """A JSON value kept with a library's current content, or None."""
        self._refresh()
        return self._files.read_memo(self._entry(library)).get(key)

    def set_memo(self, library: str, key: str, value: Any) -> None:
        """Keeps a JSON value until the library's version or content changes."""
        with self._locked():
            self._refresh()
            entry = self._entry(library)
            self._files.write_memo(entry, {**self._files.read_memo(entry), key: value})

    def find_target(self, target: str | Path, interpreter: Interpreter) -> Target:
        """What a name or path means, with the documentation that was given for it.

        Raises:
            LibraryNotFound: nothing answers to the target.
            UnreadableSource: it holds no Python library.
            DocsUnavailable: what was given for it cannot be read.
        """
        return find_target(target, interpreter, self.given)

    def is_current(self, target: str | Path, interpreter: Interpreter) -> bool:
        """Whether a target's source is as it was when it was indexed, told from file times.

        Raises:
            LibraryNotFound: nothing answers to the target.
            UnreadableSource: it holds no Python library.
        """
        library = self.find_target(target, interpreter)
        self._refresh()
        editions = self._opened.catalog.editions(library.name)
        mark = fingerprint(library, interpreter) if editions else ""
        embedder = self._meaning.embedder.name
        same = (e for e in editions if e.embedder == embedder and e.fingerprint.startswith(mark))
        entry = next(same, None)
        if entry is None:
            return False
        self._roots[entry.name] = entry.root
        with suppress(LibraryNotFound):  # its files are damaged: it was just taken out
            return bool(self._shelf(library.name).docs)
        return False

    def update(
        self, harvest: Harvest, progress: Progress | None = None, *, fingerprint: str = ""
    ) -> None:
        """Puts a library's current APIs in the place of the ones read from there before.

        Only what is new is embedded; readers see the old generation until the new one is complete.
        ``fingerprint`` lets `is_current` recognise the source.

        Raises:
            IndexUnavailable: the folder cannot be written or the server not reached.
            EmbeddingError: there are no vectors.
        """
        with self._working, self._locked():
            self._refresh()
            try:
                old = self._old(harvest.library)
                entry = self._write(harvest, old, progress, fingerprint)
                self._switch(entry)
                self._roots[entry.name] = entry.root
            except OSError as error:
                raise self._unwritable(error) from None

    def remove(self, library: str) -> None:
        """Takes a library out, wherever it was read from; nothing happens when it is not there.

        Raises:
            IndexUnavailable: the folder cannot be written.
        """
        with self._working, self._locked():
            self._refresh()
            try:
                self._files.write_catalog(self._opened.catalog.without(library))
                self._files.drop_generations(library, keep=())
            except OSError as error:
                raise self._unwritable(error) from None
            self._refresh()

    def _unwritable(self, error: OSError) -> IndexUnavailable:
        reason = error.strerror or error
        return IndexUnavailable(f"The index in {self._files.folder} cannot be written: {reason}.")

    def _write(
        self, harvest: Harvest, old: Shelf | None, progress: Progress | None, mark: str
    ) -> Entry:
        info, docs = harvest.library, harvest.docs
        embedder = self._meaning.embedder.name
        ids = [vector_id(doc) for doc in docs]
        generation = digest([info.model_dump_json(), embedder, *map(content_hash, docs)])
        collection = self._meaning.collection(info, ids)
        if old is None or old.entry.collection != collection:
            self._meaning.write(collection, info, docs, ids, old, progress)
        if old is None or old.entry.generation != generation:
            corpus = Corpus.build(docs, _free_examples(harvest))
            self._files.write_generation(
                info.name, generation, info, corpus, Tables.build(docs, ids)
            )
        return Entry(
            name=info.name,
            import_name=info.import_name,
            generation=generation,
            collection=collection,
            embedder=embedder,
            apis=len(docs),
            fingerprint=mark,
            root=info.root,
        )

    def _switch(self, entry: Entry) -> None:
        catalog = self._opened.catalog.with_entry(entry)
        self._files.write_catalog(catalog)
        generations = {each.generation for each in catalog.editions(entry.name)}
        self._files.drop_generations(entry.name, keep=generations)
        self._meaning.keep({each.collection for each in catalog.entries})
        self._refresh()

    def _chosen(self, libraries: Sequence[str] | None) -> list[Shelf]:
        """The shelves of some libraries, or of all, each once."""
        self._refresh()
        names = self._opened.catalog.libraries if libraries is None else libraries
        shelves = {id(each): each for each in map(self._shelf, names)}
        return [self._with_memory(each)[0] for each in shelves.values()]

    def _with_memory(self, shelf: Shelf) -> tuple[Shelf, Kept]:
        """A shelf on which what is kept counts, and what of it uses what is there.

        Another version, or another library of this name, may have none of an example's APIs.
        """
        if not self._uses_examples:
            return shelf, ()
        name, key = shelf.entry.name, (shelf.entry.name, shelf.entry.root)
        stamp = self.examples.stamp(name)
        record = self._opened.remembered.get(key)
        if record is None or not record.is_current(shelf, stamp, self._left_out):
            all_kept = self.examples.of(name) if stamp else ()
            others = [one for one in all_kept if one.origin != self._left_out or not one.origin]
            pairs = [(one, rows) for one in others if len(rows := shelf.rows_of(one.apis))]
            kept_examples = tuple(one for one, _ in pairs)
            if kept_examples:
                vectors = self.examples.vectors(kept_examples, self._meaning.embedder)
                memory = Memory(vectors, [rows for _, rows in pairs])
                shelf = replace(shelf, corpus=replace(shelf.corpus, memory=memory))
            record = _Remembered(shelf, kept_examples, stamp, self._left_out)
            self._opened.remembered[key] = record
        return record.shelf, record.kept

    def _refresh(self) -> None:
        """Follows what this or another process wrote since the last look."""
        with self._following:
            state, stamp = self._opened, self._files.catalog_stamp()
            if stamp == state.stamp:
                return
            try:
                state.catalog = self._files.read_catalog()
            except IndexCorrupt as error:
                self._warn(f"{error} The index is built again.")
                self._meaning.reset()
                self._files.wipe()
                state.catalog = Catalog()
            state.stamp = self._files.catalog_stamp()
            entries = {(each.name, each.root): each for each in state.catalog.entries}
            shelves = dict(state.shelves)
            state.shelves = {
                key: shelf for key, shelf in shelves.items() if entries.get(key) == shelf.entry
            }

    def _entry(self, library: str) -> Entry:
        """The edition that is worked with here, or was read last. Raises LibraryNotFound."""
        catalog = self._opened.catalog
        entry = catalog.find(library)
        if entry is not None and self._roots.get(entry.name, entry.root) != entry.root:
            root = self._roots[entry.name]
            entry = next((each for each in catalog.editions(entry.name) if each.root == root), None)
        if entry is None:
            raise LibraryNotFound(
                f"No index for {library!r}. Build it: exploracoder index {library}"
            )
        return entry

    def _shelf(self, library: str) -> Shelf:
        return self._of(self._entry(library))

    def _shelves(self) -> Iterator[Shelf]:
        """All libraries, by name, but for those that are damaged or were just taken out."""
        self._refresh()
        for name in sorted(self._opened.catalog.libraries):
            with suppress(LibraryNotFound):
                yield self._shelf(name)

    def _of(self, entry: Entry) -> Shelf:
        key = (entry.name, entry.root)
        shelf = self._opened.shelves.get(key)
        if shelf is None or shelf.entry != entry:
            try:
                info, corpus, tables = self._files.read_generation(entry)
            except IndexCorrupt as error:
                if not self._forget(entry, error):
                    return self._shelf(entry.name)
                raise LibraryNotFound(
                    f"{error} Build it again: exploracoder index {entry.name}"
                ) from None
            shelf = Shelf(entry, info, corpus, tables)
            self._opened.shelves[key] = shelf
        return shelf

    def _old(self, library: LibraryInfo) -> Shelf | None:
        """What was read before: from there, or else what another edition can share with it."""
        editions = self._opened.catalog.editions(library.name)
        for entry in sorted(editions, key=lambda each: each.root != library.root)[:1]:
            with suppress(LibraryNotFound):
                return self._of(entry)
        return None

    def _forget(self, entry: Entry, error: IndexCorrupt) -> bool:
        """Takes a damaged edition out; no, if its files went because another one came."""
        with self._locked():
            self._refresh()
            if entry not in self._opened.catalog.entries:
                return False
            self._warn(f"{error} It is read again.")
            self._files.write_catalog(self._opened.catalog.without_edition(entry))
            self._refresh()
            return True

    def _locked(self) -> AbstractContextManager[object]:
        from filelock import FileLock

        return FileLock(self._files.lock, timeout=LOCK_TIMEOUT_S, is_singleton=True)


def _free_examples(harvest: Harvest) -> list[str]:
    """The code of examples that stand in no doc: those of the README and of example files."""
    paths = {doc.path for doc in harvest.docs}
    return [each.code for each in harvest.library.examples if each.origin not in paths]
