"""The libraries of an index as they are read from its folder."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, replace

from exploracoder_retrieval.catalog import Catalog, Entry, Files
from exploracoder_retrieval.embeddings import Embedder
from exploracoder_retrieval.errors import IndexCorrupt, LibraryNotFound
from exploracoder_retrieval.examples.kept import KeptExample, KeptExamples
from exploracoder_retrieval.ranking.example_memory import Memory
from exploracoder_retrieval.shelf import Shelf


@dataclass(frozen=True, slots=True)
class _ShelfWithExamples:
    """A shelf with the kept examples that use its APIs.

    ``stamp`` is that of all examples kept at the time; those from ``left_out`` do not count.
    """

    shelf: Shelf
    examples: tuple[KeptExample, ...]
    stamp: frozenset[tuple[str, int]]
    left_out: str

    def is_current(self, shelf: Shelf, stamp: frozenset[tuple[str, int]], left_out: str) -> bool:
        state = (self.shelf.entry, self.stamp, self.left_out)
        return state == (shelf.entry, stamp, left_out)


class Shelves:
    """The catalog of an index's folder and the libraries read so far, shared by all views.

    Several processes may use the folder: `refresh` catches up with what another one has written.
    ``on_warning`` is told what was found damaged. The folder is wiped if that is the catalog, and
    ``on_wipe`` is called before.
    """

    def __init__(
        self,
        files: Files,
        examples: KeptExamples,
        *,
        on_warning: Callable[[str], None],
        on_wipe: Callable[[], None],
    ) -> None:
        self._files = files
        self._examples = examples
        self._warn = on_warning
        self._on_wipe = on_wipe
        self._refresh_lock = threading.Lock()
        self._stamp: tuple[int, int] | None = None
        self.catalog = Catalog()
        # By the entries' keys.
        self._shelves: dict[tuple[str, str, str], Shelf] = {}
        # The same shelves together with the examples kept for them.
        self._with_examples: dict[tuple[str, str, str], _ShelfWithExamples] = {}

    def close(self) -> None:
        """Release the files of the libraries, except those that a running search still uses."""
        self._shelves = {}
        self._with_examples = {}

    def refresh(self) -> None:
        """Catch up with what this or another process has written since the last call."""
        try:
            self._catch_up()
        except IndexCorrupt:
            # A writer refreshes, too: whoever awaits it must not hold the lock of refreshing.
            with self._files.locked():
                self._catch_up_or_wipe()

    def _catch_up_or_wipe(self) -> None:
        try:
            self._catch_up()  # another process may have mended it while this one waited
        except IndexCorrupt as error:
            self._warn(f"{error} The index is built again.")
            self._on_wipe()
            self._files.wipe()
            self._catch_up()

    def _catch_up(self) -> None:
        """Read the catalog if it was replaced. Raises IndexCorrupt if it is damaged."""
        with self._refresh_lock:
            # Taken before, so that one that is replaced meanwhile is read next time.
            stamp = self._files.catalog_stamp()
            if stamp == self._stamp:
                return
            self.catalog = self._files.read_catalog()
            self._stamp = stamp
            entries = {each.key: each for each in self.catalog.entries}
            shelves = dict(self._shelves)
            self._shelves = {
                key: shelf for key, shelf in shelves.items() if entries.get(key) == shelf.entry
            }

    def read(self, entry: Entry) -> Shelf | None:
        """The library of a catalog's entry; None if its files went because it was read anew.

        Raises LibraryNotFound when they are damaged; the entry is then removed.
        """
        shelf = self._shelves.get(entry.key)
        if shelf is None or shelf.entry != entry:
            try:
                info, corpus, tables = self._files.read_generation(entry)
            except IndexCorrupt as error:
                if not self._forget(entry, error):
                    return None
                raise LibraryNotFound(
                    f"{error} Build it again: exploracoder index {entry.name}"
                ) from None
            shelf = Shelf(entry, info, corpus, tables)
            self._shelves[entry.key] = shelf
        return shelf

    def with_examples(
        self, shelf: Shelf, embedder: Embedder, left_out: str
    ) -> tuple[Shelf, tuple[KeptExample, ...]]:
        """A shelf whose ranking counts the kept examples, and those that use its APIs.

        Another version, or another library of this name, may have none of an example's APIs.
        """
        name, key = shelf.entry.name, shelf.entry.key
        stamp = self._examples.stamp(name)
        record = self._with_examples.get(key)
        if record is None or not record.is_current(shelf, stamp, left_out):
            all_kept = self._examples.of(name) if stamp else ()
            others = [one for one in all_kept if one.origin != left_out or not one.origin]
            pairs = [(one, rows) for one in others if len(rows := shelf.rows_of(one.apis))]
            kept_examples = tuple(one for one, _ in pairs)
            if kept_examples:
                vectors = self._examples.vectors(kept_examples, embedder)
                memory = Memory(vectors, [rows for _, rows in pairs])
                shelf = replace(shelf, corpus=replace(shelf.corpus, memory=memory))
            record = _ShelfWithExamples(shelf, kept_examples, stamp, left_out)
            self._with_examples[key] = record
        return record.shelf, record.examples

    def _forget(self, entry: Entry, error: IndexCorrupt) -> bool:
        """Remove a damaged edition; False if its files are gone because a newer one replaced it."""
        with self._files.locked():
            self.refresh()
            if entry not in self.catalog.entries:
                return False
            self._warn(f"{error} It is read again.")
            self._files.write_catalog(self.catalog.without_edition(entry))
            self.refresh()
            return True
