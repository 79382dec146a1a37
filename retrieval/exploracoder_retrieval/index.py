"""The index: libraries' ApiDocs, found by meaning and by words."""

from __future__ import annotations

import copy
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any

from exploracoder_retrieval.apidoc import ApiDoc, Hit
from exploracoder_retrieval.catalog import Entry, Files
from exploracoder_retrieval.embeddings import Embedder
from exploracoder_retrieval.errors import IndexUnavailable, LibraryNotFound
from exploracoder_retrieval.examples.kept import KeptExample, KeptExamples
from exploracoder_retrieval.examples.nearest import NearExample, nearest
from exploracoder_retrieval.fingerprint import fingerprint
from exploracoder_retrieval.given_docs import GivenDocs
from exploracoder_retrieval.harvest.result import Harvest, LibraryInfo
from exploracoder_retrieval.harvest.target import Target, find_target
from exploracoder_retrieval.library_python import Interpreter
from exploracoder_retrieval.meaning import EmbeddingSearch
from exploracoder_retrieval.progress import Progress
from exploracoder_retrieval.ranking.candidates import Corpus
from exploracoder_retrieval.rows import Tables
from exploracoder_retrieval.search import Candidates, find_candidates, search
from exploracoder_retrieval.search_filter import Filter
from exploracoder_retrieval.shelf import Shelf, content_hash, digest, vector_id
from exploracoder_retrieval.shelves import Shelves
from exploracoder_retrieval.vectors import VectorStore


class Index:
    """The index in a folder; several processes may use it, but only one writes at a time.

    A library of one name may be read from several places. Once this object has updated one edition
    or found it current, it keeps using that edition, whatever others read; see `view`.

    ``on_warning`` is called with a sentence on what was found damaged and what is done about it.
    What the index itself holds is not user-made, so damage is repaired by rebuilding.
    """

    def __init__(
        self,
        folder: Path,
        embedder: Embedder,
        *,
        chroma_url: str | None,
        user_folder: Path,
        on_warning: Callable[[str], None],
    ) -> None:
        self._files = Files(folder)
        self.given_docs = GivenDocs(user_folder)
        self.examples = KeptExamples(user_folder)
        self._uses_examples = True
        self._left_out = ""
        store = VectorStore(self._files.chroma, chroma_url)
        self._meaning = EmbeddingSearch(
            embedder, store, lock=self._files.locked, on_warning=on_warning
        )
        self._shelves = Shelves(
            self._files, self.examples, on_warning=on_warning, on_wipe=self._meaning.reset
        )
        # One thread at a time searches or writes; look-ups wait for neither.
        self._work_lock = threading.RLock()
        # The roots of the editions in use here, by library name.
        self._roots: dict[str, str] = {}

    @classmethod
    def open(
        cls,
        folder: Path,
        embedder: Embedder,
        chroma_url: str | None = None,
        *,
        user_folder: Path | None = None,
        on_warning: Callable[[str], None] = lambda _: None,
    ) -> Index:
        """Open the index in a folder, creating the folder if it is missing.

        Kept examples and given docs are in ``user_folder``, by default in the index's folder.

        Raises:
            IndexUnavailable: the folder cannot be created.
        """
        index = cls(
            folder,
            embedder,
            chroma_url=chroma_url,
            user_folder=user_folder or folder,
            on_warning=on_warning,
        )
        try:
            index._files.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise IndexUnavailable(
                f"The index folder {folder} cannot be made: {error.strerror or error}."
            ) from None
        index._shelves.refresh()
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
        """The same index for another user, who may have libraries of the same names elsewhere.

        If it ``uses_examples``, kept examples count in the ranking and can be found, except those
        whose origin is ``left_out``, such as the user's own. Open files are shared: closing one
        view closes both.
        """
        index = copy.copy(self)
        index._roots = dict(self._roots)
        index._uses_examples = uses_examples
        index._left_out = left_out
        return index

    def prefer(self, folder: Path) -> None:
        """Use the editions that were read from below ``folder``, of libraries that have one."""
        for entry in self._shelves.catalog.entries:
            if entry.root and Path(entry.root).resolve().is_relative_to(folder.resolve()):
                self._roots[entry.name] = entry.root

    def close(self) -> None:
        """Release what is open: some thirty memory-mapped files for each library.

        They are released at once, except those that a running search is still using.
        """
        self._meaning.close()
        self._shelves.close()

    def libraries(self) -> tuple[LibraryInfo, ...]:
        """The indexed libraries, by name, without those whose files turn out to be damaged."""
        return tuple(shelf.info for shelf in self._all_shelves())

    def names(self) -> frozenset[str]:
        """The names of the indexed libraries, without reading their docs."""
        self._shelves.refresh()
        return frozenset(self._shelves.catalog.libraries)

    def is_searchable(self, library: str) -> bool:
        """Whether an indexed library has vectors of the embedder in use.

        Raises:
            LibraryNotFound: it is not indexed.
        """
        self._shelves.refresh()
        return self._is_embedded(self._entry(library))

    def info(self, library: str) -> LibraryInfo:
        """What is known about an indexed library as a whole.

        Raises:
            LibraryNotFound: it is not indexed.
        """
        self._shelves.refresh()
        return self._shelf(library).info

    def docs(self, library: str) -> Sequence[ApiDoc]:
        """All ApiDocs of a library, by its distribution or import name, ordered by path.

        Each is read from disk on access; counting them reads none.

        Raises:
            LibraryNotFound: it is not indexed.
        """
        self._shelves.refresh()
        return self._shelf(library).docs

    def get(self, path: str) -> ApiDoc | None:
        """The ApiDoc with this import path, whether its best or another public one."""
        docs = (shelf.at(path) for shelf in self._all_shelves())
        return next((doc for doc in docs if doc is not None), None)

    def search(
        self,
        query: str,
        libraries: Sequence[str] | None = None,
        k: int = 20,
        *,
        only: Filter | None = None,
    ) -> tuple[Hit, ...]:
        """The k best APIs for a query, best first, in all indexed libraries if None are given.

        With ``only``, they are the best of those that pass the filter.
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
        """Like `search`, for several queries, embedded together; one result for each, in order."""
        if not queries or k < 1:
            return [() for _ in queries]
        with self._work_lock:
            return search(queries, self._chosen(libraries), self._meaning, k, only)

    def candidates(
        self, queries: Sequence[str], libraries: Sequence[str] | None = None
    ) -> list[Candidates]:
        """The candidates considered for each query, with the features they are ranked by."""
        with self._work_lock:
            return find_candidates(queries, self._chosen(libraries), self._meaning)

    def near_examples(
        self, library: str, task: str, hits: Sequence[Hit]
    ) -> tuple[NearExample, ...]:
        """Examples of a library, nearest to a task first, ``hits`` being the APIs found for it.

        They are those of its documentation, and the kept ones that use an API that the library
        still has.

        Raises:
            LibraryNotFound: it is not indexed.
        """
        self._shelves.refresh()
        shelf = self._shelf(library)
        kept_examples = self._with_examples(shelf)[1]
        info = shelf.info
        return tuple(nearest(task, hits, info.examples, kept_examples, info.version))

    def memo(self, library: str, key: str) -> Any:
        """A JSON value kept with a library's current content, or None."""
        self._shelves.refresh()
        return self._files.read_memo(self._entry(library)).get(key)

    def set_memo(self, library: str, key: str, value: Any) -> None:
        """Keep a JSON value until the library's version or content changes.

        Raises:
            LibraryNotFound: it is not indexed.
            IndexUnavailable: the folder cannot be written.
        """
        with self._files.locked():
            self._shelves.refresh()
            entry = self._entry(library)
            try:
                self._files.write_memo(entry, {**self._files.read_memo(entry), key: value})
            except OSError as error:
                raise self._files.unwritable(error) from None

    def find_target(self, target: str | Path, interpreter: Interpreter) -> Target:
        """Resolve a name or path, with the documentation that was given for it.

        Raises:
            LibraryNotFound: nothing matches the target.
            UnreadableSource: it contains no Python library.
            DocsUnavailable: the documentation given for it cannot be read.
        """
        return find_target(target, interpreter, self.given_docs)

    def is_current(self, target: str | Path, interpreter: Interpreter) -> bool:
        """Whether a target's source is unchanged since it was indexed, judging by file times.

        Raises:
            LibraryNotFound: nothing matches the target.
            UnreadableSource: it contains no Python library.
        """
        library = self.find_target(target, interpreter)
        self._shelves.refresh()
        editions = self._shelves.catalog.editions(library.name)
        mark = fingerprint(library, interpreter) if editions else ""
        same = (e for e in editions if self._is_embedded(e) and e.fingerprint.startswith(mark))
        entry = next(same, None)
        if entry is None:
            return False
        self._roots[entry.name] = entry.root
        with suppress(LibraryNotFound):  # its files are damaged, so it was just removed
            return bool(self._shelf(library.name).docs)
        return False

    def update(
        self, harvest: Harvest, progress: Progress | None = None, *, fingerprint: str = ""
    ) -> None:
        """Replace a library's APIs, as read from the same place before, with its current ones.

        Only new texts are embedded; readers see the old generation until the new one is complete.
        ``fingerprint`` lets `is_current` recognise the source.

        Raises:
            IndexUnavailable: the folder cannot be written or the server cannot be reached.
            EmbeddingError: the embedder gave no vectors.
        """
        with self._work_lock, self._files.locked():
            self._shelves.refresh()
            try:
                old = self._old(harvest.library)
                entry = self._write(harvest, old, progress, fingerprint)
                self._switch(entry)
                self._roots[entry.name] = entry.root
            except OSError as error:
                raise self._files.unwritable(error) from None

    def remove(self, library: str) -> None:
        """Remove a library, wherever it was read from; does nothing if it is not indexed.

        Raises:
            IndexUnavailable: the folder cannot be written.
        """
        with self._work_lock, self._files.locked():
            self._shelves.refresh()
            try:
                self._files.write_catalog(self._shelves.catalog.without(library))
                self._files.drop_generations(library, keep=())
            except OSError as error:
                raise self._files.unwritable(error) from None
            self._shelves.refresh()

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
        catalog = self._shelves.catalog.with_entry(entry)
        self._files.write_catalog(catalog)
        generations = {each.generation for each in catalog.editions(entry.name)}
        self._files.drop_generations(entry.name, keep=generations)
        self._meaning.keep({each.collection for each in catalog.entries})
        self._shelves.refresh()

    def _chosen(self, libraries: Sequence[str] | None) -> list[Shelf]:
        """The shelves of the given libraries, or of all, each once."""
        self._shelves.refresh()
        if libraries is None:
            entries = self._shelves.catalog.entries
            libraries = [each.name for each in entries if self._is_embedded(each)]
        shelves = {id(each): each for each in map(self._embedded_shelf, libraries)}
        return [self._with_examples(each)[0] for each in shelves.values()]

    def _with_examples(self, shelf: Shelf) -> tuple[Shelf, tuple[KeptExample, ...]]:
        """A shelf and the kept examples that use its APIs, which its ranking then counts."""
        if not self._uses_examples:
            return shelf, ()
        return self._shelves.with_examples(shelf, self._meaning.embedder, self._left_out)

    def _entry(self, library: str) -> Entry:
        """The edition in use here, or else the last one read, rather one that can be searched.

        Raises LibraryNotFound.
        """
        catalog = self._shelves.catalog
        last = catalog.find(library)
        editions = catalog.editions(last.name) if last is not None else ()
        if last is not None and last.name in self._roots:
            editions = tuple(one for one in editions if one.root == self._roots[last.name])
        if not editions:
            raise LibraryNotFound(
                f"No index for {library!r}. Build it: exploracoder index {library}"
            )
        return next(filter(self._is_embedded, editions), editions[0])

    def _is_embedded(self, entry: Entry) -> bool:
        """Whether an edition's vectors are of the embedder in use."""
        return entry.embedder == self._meaning.embedder.name

    def _shelf(self, library: str) -> Shelf:
        # Another process may replace the edition while this one reads it.
        return self._shelves.read(self._entry(library)) or self._shelf(library)

    def _embedded_shelf(self, library: str) -> Shelf:
        shelf = self._shelf(library)
        if not self._is_embedded(shelf.entry):
            raise LibraryNotFound(
                f"The index has {library!r} with other embeddings only."
                " Index it with the embeddings that you search with."
            )
        return shelf

    def _all_shelves(self) -> Iterator[Shelf]:
        """All libraries, by name, except those that are damaged or were just removed."""
        self._shelves.refresh()
        for name in sorted(self._shelves.catalog.libraries):
            with suppress(LibraryNotFound):
                yield self._shelf(name)

    def _old(self, library: LibraryInfo) -> Shelf | None:
        """The shelf read from the same place before, or another edition's to share vectors with."""
        editions = self._shelves.catalog.editions(library.name)
        for entry in sorted(
            editions, key=lambda each: (not self._is_embedded(each), each.root != library.root)
        )[:1]:
            with suppress(LibraryNotFound):
                return self._shelves.read(entry)
        return None


def _free_examples(harvest: Harvest) -> list[str]:
    """The code of examples outside the docs: those of the README and of example files."""
    paths = {doc.path for doc in harvest.docs}
    return [each.code for each in harvest.library.examples if each.origin not in paths]
