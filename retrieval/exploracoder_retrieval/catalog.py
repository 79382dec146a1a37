"""The contents of an index folder: its catalog, and the files of each library's generations.

All of it is in a folder named for the form, so that versions with other forms leave it alone:

    catalog.json                       which libraries, in which editions, and the current
                                       generation of each
    libraries/NAME/GENERATION/         library.json, the docs (`docfile`), rows/ (`rows`), words/
                                       (BM25), names/, figures.npy; written once
    memo/NAME/GENERATION.json          values derived from a generation
    chroma/                            the vectors

A generation is complete before the catalog names it, and the catalog is replaced atomically.
Libraries of one name that are read from several places, such as two environments with different
versions, or embedded by several embedders, are editions: none replaces another, which somebody may
be reading.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import tempfile
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from exploracoder_retrieval.arrays import Matrix, np
from exploracoder_retrieval.docfile import DocFile, write_docs
from exploracoder_retrieval.errors import IndexCorrupt, IndexUnavailable
from exploracoder_retrieval.files import write_atomically
from exploracoder_retrieval.harvest.result import LibraryInfo
from exploracoder_retrieval.ranking.candidates import Corpus
from exploracoder_retrieval.ranking.field_index import FieldIndex
from exploracoder_retrieval.ranking.name_index import NameIndex
from exploracoder_retrieval.ranking.standing import STANDING
from exploracoder_retrieval.rows import Tables

SCHEMA = 8
# Editions of one library with the same embedder; those read longest ago are dropped.
_MOST_EDITIONS = 8
_LOCK_TIMEOUT_S = 600.0
# Increment when the same source would be read or worded differently than before.
HARVEST_VERSION = 9


class Entry(BaseModel):
    """One edition of a library; ``root`` is where it was read from, ``collection`` names its
    vectors, ``apis`` counts its documents.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    import_name: str
    generation: str
    collection: str
    embedder: str
    apis: int
    fingerprint: str
    root: str = ""

    @property
    def key(self) -> tuple[str, str, str]:
        """What tells editions apart."""
        return (self.name, self.root, self.embedder)

    @property
    def is_gone(self) -> bool:
        """Whether the place it was read from no longer exists."""
        return bool(self.root) and not Path(self.root).exists()


class Catalog(BaseModel):
    """The libraries of an index folder by name, each in its most recently read edition; ``others``
    are the other editions, most recently read first.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    libraries: dict[str, Entry] = {}
    others: tuple[Entry, ...] = ()

    @property
    def entries(self) -> tuple[Entry, ...]:
        """All editions of all libraries."""
        return (*self.libraries.values(), *self.others)

    def find(self, name: str) -> Entry | None:
        """The most recently read edition of a library, by distribution or import name."""
        if name in self.libraries:
            return self.libraries[name]
        return next((each for each in self.libraries.values() if each.import_name == name), None)

    def editions(self, name: str) -> tuple[Entry, ...]:
        """The editions of a distribution, most recently read first."""
        return tuple(each for each in self.entries if each.name == name)

    def with_entry(self, entry: Entry) -> Catalog:
        """A copy with ``entry`` replacing the same edition as it was read before."""
        beside = [
            each
            for each in self.editions(entry.name)
            if each.key != entry.key and (each.root == entry.root or not each.is_gone)
        ]
        alike = [each for each in beside if each.embedder == entry.embedder]
        surplus = alike[_MOST_EDITIONS - 1 :]
        return self._with(entry.name, (entry, *(each for each in beside if each not in surplus)))

    def without(self, name: str) -> Catalog:
        """A copy without any edition of a library."""
        return self._with(name, ())

    def without_edition(self, entry: Entry) -> Catalog:
        """A copy without this one edition."""
        return self._with(
            entry.name, tuple(each for each in self.editions(entry.name) if each != entry)
        )

    def _with(self, name: str, editions: tuple[Entry, ...]) -> Catalog:
        libraries = {key: each for key, each in self.libraries.items() if key != name}
        others = tuple(each for each in self.others if each.name != name)
        if editions:
            libraries[name] = editions[0]
        return Catalog(libraries=libraries, others=(*editions[1:], *others))


class Files:
    """Reads and writes an index folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / f"schema-{SCHEMA}"
        self.chroma = self.folder / "chroma"
        self._catalog = self.folder / "catalog.json"

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Have the right to write to the folder, which one process has at a time.

        Waits for it. Raises IndexUnavailable after ten minutes, or if the folder cannot be written.
        """
        from filelock import FileLock, Timeout

        lock = FileLock(self.folder / "lock", timeout=_LOCK_TIMEOUT_S, is_singleton=True)
        try:
            lock.acquire()
        except Timeout:
            raise IndexUnavailable(
                f"Another process has been writing to the index in {self.folder} for"
                f" {_LOCK_TIMEOUT_S / 60:.0f} minutes. Try again when it is done, or end it."
            ) from None
        except OSError as error:
            raise self.unwritable(error) from None
        try:
            yield
        finally:
            lock.release()

    def catalog_stamp(self) -> tuple[int, int]:
        """A value that changes whenever the catalog is replaced."""
        try:
            status = self._catalog.stat()
        except OSError:
            return (0, 0)
        return (status.st_mtime_ns, status.st_ino)

    def read_catalog(self) -> Catalog:
        """The catalog; an empty one if there is none.

        Raises:
            IndexCorrupt: the file is damaged.
        """
        try:
            text = self._catalog.read_text(encoding="utf-8")
        except FileNotFoundError:
            return Catalog()
        except UnicodeDecodeError:
            raise IndexCorrupt(f"{self._catalog} is damaged.") from None
        try:
            return Catalog.model_validate_json(text)
        except ValidationError:
            raise IndexCorrupt(f"{self._catalog} is damaged.") from None

    def write_catalog(self, catalog: Catalog) -> None:
        write_atomically(self._catalog, catalog.model_dump_json(indent=1))

    def write_generation(
        self, name: str, generation: str, info: LibraryInfo, corpus: Corpus, tables: Tables
    ) -> None:
        """Write a generation's files beside the others, replacing this one if it exists."""
        target = self._generation(name, generation)
        target.parent.mkdir(parents=True, exist_ok=True)
        draft = Path(tempfile.mkdtemp(prefix=".new-", dir=target.parent))
        old = draft.with_name(f"{draft.name}-old")
        try:
            write_docs(draft, corpus.docs)
            tables.save(draft / "rows")
            (draft / "library.json").write_text(info.model_dump_json(), encoding="utf-8")
            corpus.words.save(draft / "words")
            corpus.names.save(draft / "names")
            _save_figures(draft, corpus)
            if target.exists():
                target.replace(old)
            draft.replace(target)
        finally:
            for folder in (draft, old):
                shutil.rmtree(folder, ignore_errors=True)

    def read_generation(self, entry: Entry) -> tuple[LibraryInfo, Corpus, Tables]:
        """Read a generation; raises IndexCorrupt if a file is missing, damaged or truncated."""
        folder = self._generation(entry.name, entry.generation)
        try:
            info = LibraryInfo.model_validate_json((folder / "library.json").read_bytes())
        except (OSError, ValidationError) as error:
            raise IndexCorrupt(
                f"What is known of {entry.name} in {folder} is damaged ({type(error).__name__})."
            ) from None
        docs = DocFile.open(folder, entry.apis)
        words = FieldIndex.load(folder / "words", len(docs))
        names = NameIndex.load(folder / "names", len(docs))
        corpus = Corpus(docs, words, names, _load_figures(folder, len(docs)))
        return info, corpus, Tables.load(folder / "rows")

    def drop_generations(self, name: str, *, keep: Collection[str]) -> None:
        """Remove all other generations of a library, and the values derived from them."""
        for each in _entries_of(self.folder / "libraries" / slug(name)):
            if each.name not in keep:
                shutil.rmtree(each, ignore_errors=True)
        for each in _entries_of(self.folder / "memo" / slug(name)):
            if each.stem not in keep:
                each.unlink(missing_ok=True)

    def wipe(self) -> None:
        """Remove everything that the index wrote; none of it was made by hand."""
        self._catalog.unlink(missing_ok=True)
        for name in ("libraries", "memo", "chroma"):
            shutil.rmtree(self.folder / name, ignore_errors=True)

    def unwritable(self, error: OSError) -> IndexUnavailable:
        """The error to raise when the folder cannot be written."""
        reason = error.strerror or error
        return IndexUnavailable(f"The index in {self.folder} cannot be written: {reason}.")

    def read_memo(self, entry: Entry) -> dict[str, Any]:
        """The values derived from exactly this generation; empty if there are none."""
        try:
            values = json.loads(self._memo(entry).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return values if isinstance(values, dict) else {}

    def write_memo(self, entry: Entry, values: dict[str, Any]) -> None:
        self._memo(entry).parent.mkdir(parents=True, exist_ok=True)
        write_atomically(self._memo(entry), json.dumps(values, ensure_ascii=False))

    def _generation(self, name: str, generation: str) -> Path:
        return self.folder / "libraries" / slug(name) / generation

    def _memo(self, entry: Entry) -> Path:
        return self.folder / "memo" / slug(entry.name) / f"{entry.generation}.json"


def _entries_of(folder: Path) -> Iterable[Path]:
    return list(folder.iterdir()) if folder.is_dir() else ()


def _save_figures(folder: Path, corpus: Corpus) -> None:
    np.save(folder / "figures.npy", corpus.figures, allow_pickle=False)


def _load_figures(folder: Path, rows: int) -> Matrix:
    try:
        figures: Matrix = np.load(folder / "figures.npy", allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        raise IndexCorrupt(
            f"The figures in {folder} are damaged ({type(error).__name__})."
        ) from None
    if figures.shape != (rows, len(STANDING)):
        raise IndexCorrupt(f"The figures in {folder} are incomplete.")
    return figures


def slug(name: str) -> str:
    """A name usable for a folder and in a collection's name; different names stay different."""
    plain = re.sub(r"[^a-zA-Z0-9]+", "-", name).strip("-").lower()[:24] or "library"
    return plain if plain == name else f"{plain}-{hashlib.sha256(name.encode()).hexdigest()[:6]}"
