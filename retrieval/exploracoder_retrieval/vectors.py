"""Vectors in chromadb: embedded in a folder, or on a server shared by a team.

A collection is written once and then only read: its name is derived from its content. A new version
of a library is a new collection, so no reader ever sees a partial one.
"""

from __future__ import annotations

import math
import re
import shutil
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any
from urllib.parse import urlsplit

from exploracoder_retrieval.arrays import Floats, Vectors, np
from exploracoder_retrieval.errors import EmbeddingError, IndexCorrupt, IndexUnavailable

# At most this many texts are embedded between two progress reports.
_PORTION = 1_000
# Chroma saves its graph after this many portions; if there are very many, about this often in all.
_TOGETHER = 5
_SAVES = 20


@dataclass(frozen=True, slots=True)
class Schedule:
    """Writes ``count`` vectors in even portions, while chroma saves its graph ``saves`` times.

    Every process that opens a collection adds to the graph again whatever came after chroma's last
    save: up to a thousand vectors at its default setting, half a second for each process. So the
    portions are even, and the last of them makes chroma save, with nothing left over.
    """

    count: int
    saves: int
    portions: int

    @classmethod
    def of(cls, count: int) -> Schedule:
        """The schedule for a collection of ``count`` vectors."""
        min_portions = max(1, math.ceil(count / _PORTION))
        together = min(min_portions, max(_TOGETHER, min_portions // _SAVES))
        saves = math.ceil(min_portions / together)
        return cls(count, saves, saves * together)

    @property
    def sync(self) -> int:
        """The number of vectors after which chroma saves."""
        return self.count // self.saves

    def spans(self) -> Iterator[slice]:
        """The rows of each portion."""
        for number in range(self.portions):
            start, end = (each * self.count // self.portions for each in (number, number + 1))
            if end > start:
                yield slice(start, end)


# With these, recall@15 against exact search is 0.95 over a million vectors; with chroma's, 0.74.
HNSW = {"space": "ip", "ef_construction": 200, "ef_search": 400, "max_neighbors": 32}
# SQLite's busy, locked, read-only, input/output error, full, cannot open; the rest of the codes
# is detail. Source: https://sqlite.org/rescode.html
_PASSING_CODES = frozenset({5, 6, 8, 10, 13, 14})
_SQLITE_CODE = re.compile(r"\(code: (\d+)\)")
# About what chroma opens and writes at a time for a small collection.
_TRIED_FILES = 16
_TRIED_BYTES = 1 << 20
# Chroma searches this many of the newest vectors one by one; a smaller collection has no graph.
_UNSORTED = 100


class CollectionMissing(Exception):  # noqa: N818 - a condition, caught where it is raised
    """There is no such collection."""


@dataclass(frozen=True, slots=True)
class Rows:
    """Some rows of a collection: IDs, vectors, embedded texts, and metadata to filter by."""

    ids: Sequence[str]
    vectors: Vectors
    texts: Sequence[str]
    metadata: Sequence[Mapping[str, Any]]


class VectorStore:
    """Collections of vectors by name; the client is opened on first use."""

    def __init__(self, folder: Path, url: str | None) -> None:
        self._folder = folder
        self._url = url
        self._client: Any = None
        self._is_apart = False

    @property
    def is_shared(self) -> bool:
        """Whether others use the same collections, which are then never dropped."""
        return self._url is not None

    def write(self, name: str, count: int, batches: Iterable[Rows]) -> None:
        """Fill a collection; one that already holds ``count`` rows is left alone."""

        def collection(client: Any) -> Any:
            return client.get_or_create_collection(
                name, embedding_function=None, configuration={"hnsw": _hnsw(count)}
            )

        def add(rows: Rows, client: Any) -> None:
            collection(client).upsert(
                ids=list(rows.ids),
                embeddings=rows.vectors,
                documents=list(rows.texts),
                metadatas=list(rows.metadata),
            )

        is_full = self._with_client(lambda client: collection(client).count() == count)
        for rows in () if is_full else batches:
            self._with_client(partial(add, rows))

    def read(self, name: str, ids: Sequence[str]) -> dict[str, Any]:
        """A collection's vectors by ID; empty if there is no such collection."""
        try:
            rows = self._with_collection(
                name, lambda collection: collection.get(ids=list(ids), include=["embeddings"])
            )
        except CollectionMissing:
            return {}
        return dict(zip(rows["ids"], rows["embeddings"], strict=True))

    def count(self, name: str) -> int:
        """How many rows a collection has. Raises CollectionMissing."""
        return int(self._with_collection(name, lambda collection: collection.count()))

    def matching(self, name: str, where: dict[str, Any]) -> list[str]:
        """The IDs of a collection's rows that meet a chroma condition."""
        rows = self._with_collection(
            name, lambda collection: collection.get(where=where, include=[])
        )
        return list(rows["ids"])

    def search(
        self, name: str, queries: Vectors, limit: int, where: dict[str, Any] | None
    ) -> list[tuple[list[str], Floats]]:
        """For each query, the nearest IDs and their similarities, best first.

        With ``where``, a chroma condition, only among the rows that meet it.
        """
        reply = self._with_collection(
            name,
            lambda collection: collection.query(
                query_embeddings=queries, n_results=limit, where=where, include=["distances"]
            ),
        )
        return [
            (ids, 1.0 - np.asarray(distances, dtype=np.float32))
            for ids, distances in zip(reply["ids"], reply["distances"], strict=True)
        ]

    def keep(self, names: Collection[str]) -> None:
        """Remove all other collections, except on a server, where others may still read them."""

        def remove_others(client: Any) -> None:
            for collection in client.list_collections():
                if collection.name not in names:
                    client.delete_collection(collection.name)

        if not self.is_shared:
            self._with_client(remove_others)

    def reset(self) -> None:
        """Discard a damaged embedded store; one on a server is only closed."""
        self.close()
        if not self.is_shared:
            shutil.rmtree(self._folder, ignore_errors=True)

    def close(self) -> None:
        client, self._client = self._client, None
        if client is not None:
            _close_connections(client)
            client.close()

    def _open(self) -> Any:
        if self._client is None:
            import chromadb
            from chromadb.config import Settings

            settings = Settings(anonymized_telemetry=False)
            if self._url is None:
                self._folder.mkdir(parents=True, exist_ok=True)
                path = _own_path(self._folder) if self._is_apart else self._folder
                try:
                    self._client = chromadb.PersistentClient(path, settings=settings)
                except BaseException:
                    _forget_failed()
                    raise
            else:
                self._client = chromadb.HttpClient(settings=settings, **_address(self._url))
        return self._client

    def _with_collection(self, name: str, work: Callable[[Any], Any]) -> Any:
        return self._with_client(
            lambda client: work(client.get_collection(name, embedding_function=None))
        )

    def _with_client(self, work: Callable[[Any], Any]) -> Any:
        """What ``work`` returns for the client; an embedded one that fails is opened anew, once.

        Another process may have replaced the files that the client has open.
        """
        try:
            return self._translated(work)
        except (IndexCorrupt, IndexUnavailable):
            self.close()
            if self.is_shared:
                raise
            self._is_apart = True
            return self._translated(work)

    def _translated(self, work: Callable[[Any], Any]) -> Any:
        """Translate chromadb's exceptions into ours."""
        try:
            return work(self._open())
        except BaseException as error:
            if _is_ours(error):
                raise
            if type(error).__name__ == "NotFoundError":
                raise CollectionMissing(str(error)) from None
            # What was asked is at fault, such as vectors of another length; nothing is damaged.
            if type(error).__name__ == "InvalidArgumentError":
                raise EmbeddingError(
                    f"The vectors do not fit those in {self._url or self._folder}"
                    f" ({_reason(error)}). If the embedding model has changed, remove the old ones"
                    " there; they are made again."
                ) from None
            if self._url is not None:
                raise IndexUnavailable(
                    f"The chroma server {self._url} cannot be used ({type(error).__name__}). "
                    "Is the address right and the server running?"
                ) from None
            if trouble := _passing_trouble(error, self._folder):
                raise IndexUnavailable(
                    f"The vectors in {self._folder} cannot be used now ({trouble})."
                    " Nothing is lost; try again when that is fixed."
                ) from None
            raise IndexCorrupt(
                f"The vectors in {self._folder} cannot be used ({_reason(error)})."
            ) from None


def _hnsw(count: int) -> dict[str, Any]:
    """The graph's parameters, with the save interval of the schedule unless there is no graph."""
    return HNSW | ({"sync_threshold": Schedule.of(count).sync} if count >= _UNSORTED else {})


def _close_connections(client: Any) -> None:
    """Close the connections to a server, which chromadb's own close leaves open.

    There is no public API for this, so it must not fail if the private attributes are renamed.
    """
    for each in (client, getattr(client, "_admin_client", None)):
        session = getattr(getattr(each, "_server", None), "_session", None)
        if session is not None:
            session.close()


def _own_path(folder: Path) -> str:
    """A spelling of a folder's path that no open client has.

    Clients with the same spelling share their open files, whose last user closes them; so the
    others can go on with theirs. There is no public API for what is open.
    """
    from chromadb.api.shared_system_client import SharedSystemClient

    path = str(folder)
    while path in getattr(SharedSystemClient, "_identifier_to_system", {}):
        path += "/."
    return path


def _forget_failed() -> None:
    """Make chromadb forget a store that failed to start.

    It caches such a store under its folder's name and hands it, broken, to every later client.
    Clients that are open keep working.
    """
    from chromadb.api.shared_system_client import SharedSystemClient

    SharedSystemClient.clear_system_cache()


def _reason(error: BaseException) -> str:
    """What went wrong, in one line."""
    message = " ".join(str(error).split())
    return f"{type(error).__name__}: {message[:200]}" if message else type(error).__name__


def _passing_trouble(error: BaseException, folder: Path) -> str:
    """Why chroma failed although its files are sound, so far as can be told; else empty.

    What is wrong with a graph's files chroma does not say, so the system is tried instead.
    """
    code = _SQLITE_CODE.search(str(error))
    is_passing = code is not None and int(code[1]) & 0xFF in _PASSING_CODES
    if is_passing or isinstance(error, OSError):
        return _reason(error)
    try:
        with ExitStack() as files:
            for _ in range(_TRIED_FILES):
                file = files.enter_context(TemporaryFile(dir=folder))
            file.write(bytes(_TRIED_BYTES))
            file.flush()  # together with this, all of it is written, or there is an error
    except FileNotFoundError:  # another process discarded the folder
        return ""
    except OSError as trouble:
        return trouble.strerror or _reason(trouble)
    return ""


def _is_ours(error: BaseException) -> bool:
    """Whether chromadb did not cause an exception; a panic in its Rust code is no Exception."""
    if isinstance(error, MemoryError | PermissionError):
        return True
    return not isinstance(error, Exception) and type(error).__name__ != "PanicException"


def _address(url: str) -> dict[str, Any]:
    parts = urlsplit(url if "//" in url else f"http://{url}")
    secure = parts.scheme == "https"
    return {
        "host": parts.hostname or "localhost",
        "port": parts.port or (443 if secure else 8000),
        "ssl": secure,
    }
